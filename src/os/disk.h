/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a disk answers after a file was written: the system accepts the data and passes it to the disk
 * later, which may refuse it then (thin storage that is full, a failing disk, a server that is gone). Any
 * thread; keeps no state.
 */
#ifndef OS_DISK_H
#define OS_DISK_H

#include <stdbool.h>
#include <stdint.h>

/* At the end of a trace the disk has this long to take the rest. */
#define DISK_END_NS (5 * NSEC_PER_SEC)

/* Is ERR (an errno) an answer of the disk? ESPIPE and the like are not. */
bool disk_is_refusal(int err);

/*
 * Returns 0, or -errno when the disk has refused data written to FD's file since FD was opened or this was
 * last called. Waits for nothing.
 */
int disk_refused(int fd);

/*
 * Writes the first BYTES of FD's file to the disk, as far as that is possible until UNTIL_NS
 * (CLOCK_MONOTONIC), and where it has them all, makes them durable (fdatasync(2)). Returns the number of
 * bytes left to the system to write; REFUSED_RET is as above.
 */
uint64_t disk_write_out(int fd, uint64_t bytes, uint64_t until_ns, int *refused_ret);

#endif
