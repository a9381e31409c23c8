/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a disk says of a file after it was written: the system takes what is written and gives it to the
 * disk later, which may refuse it then (thin storage that is full, a failing disk, a server that is gone).
 * Any thread; keeps nothing.
 */
#ifndef BASE_DISK_H
#define BASE_DISK_H

#include <stdbool.h>
#include <stdint.h>

/* At the end of a trace the disk gets so long to take what is left. */
#define DISK_END_NS (5 * NSEC_PER_SEC)

/* Is ERR (an errno) a disk's answer? ESPIPE and the like are none. */
bool disk_is_refusal(int err);

/*
 * Has the disk refused some of what was written to FD's file, since FD was opened or was asked last? 0, or
 * why: -errno. Waits for nothing.
 */
int disk_refused(int fd);

/*
 * Have the disk take the first BYTES of FD's file, as far as that can be done until UNTIL_NS (CLOCK_MONOTONIC),
 * and where it has them all, for good (fdatasync(2)).
 * Bytes that are left to the system to write; REFUSED_RET is as above.
 */
uint64_t disk_write_out(int fd, uint64_t bytes, uint64_t until_ns, int *refused_ret);

#endif
