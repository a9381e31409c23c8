/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Facts about this machine for the manifest, read from /proc, /sys and a few files of /etc and /run. Reads
 * only, needs no root, and every fact is optional: missing ones are left out.
 *
 * ROOT is put before every path: "" in production, a folder of recorded files in tests.
 */
#ifndef HOST_MACHINE_MACHINE_H
#define HOST_MACHINE_MACHINE_H

#include <stdint.h>

struct json;

/* Boot id, CPUs, memory, disks, mounts, vm.dirty_*, GPUs, container: members of the open object. */
void machine_put(struct json *json, const char *root);

/* The state of the clock and the time zone, now: members of the open object. */
void machine_put_clock(struct json *json, const char *root);

/* Returns the bytes in the page cache that are dirty or under write-back; 0 or -errno. */
int machine_dirty_bytes(const char *root, uint64_t *ret);

#endif
