/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of what processes had when they joined the target: threads (pids.out), open files (open.out) and
 * mappings (mmap.out), with snapshot as EVENT or FUNC. Owns the BPF object of the iterators for as long as
 * there are newcomers. Control plane, one at a time. Rows go through the ordinary rings.
 */
#ifndef KERNEL_SNAPSHOT_H
#define KERNEL_SNAPSHOT_H

#include <sys/types.h>

struct snapshot;
struct tracer;

/* Load the iterators for the probes of TRACER. 0 or -errno. */
int snapshot_open(struct snapshot **ret, struct tracer *tracer);

/*
 * PID has just joined the target: it will have rows. 0: every process, with --all. May write the rows of
 * earlier ones first. 0 or -errno.
 */
int snapshot_want(struct snapshot *s, pid_t pid);

/*
 * Write the rows of all newcomers since the last time. A process that turns out to have passed its exit
 * when it joined leaves the target again: nothing else would remove it. 0 or -errno.
 */
int snapshot_take(struct snapshot *snapshot);

void snapshot_close(struct snapshot *s);

#endif
