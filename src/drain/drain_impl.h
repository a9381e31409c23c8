/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drain_sinks.c, for drain.c alone: the files of a trace, with those of its collectors, opened and ended together, and
 * what becomes of them when the disk is full. To be called by the drain's thread, if nothing else is said.
 */
#ifndef DRAIN_DRAIN_IMPL_H
#define DRAIN_DRAIN_IMPL_H

#include <stdint.h>

#include "drain/drain.h"

/*
 * Control plane: opens the files of PROBES in DIRFD, each with its header, and keeps space for the last rows: where
 * little is free, little. Returns 0 or -errno.
 */
int drain_sinks_open(struct drain *drain, probe_mask probes, int dirfd);
/* Writes out all rows, names first. */
void drain_sinks_flush(struct drain *drain);
/* Looks whether a disk that refused rows takes them again. */
void drain_sinks_check_disk(struct drain *drain);
/* --rotate by time, all files at once; and when --keep cannot be met otherwise. */
void drain_sinks_split_by_time(struct drain *drain);
/* Writes out the last rows; on a full disk those for which the reserve suffices, others are counted as lost. */
void drain_sinks_flush_last(struct drain *drain);
/*
 * Gives up the rows for which there is no space, and makes the room in which files are cut back to whole rows, as a
 * file system that copies on write takes new blocks for that, and the manifest is written.
 */
void drain_sinks_give_up(struct drain *drain);
/* Waits until all is on its disk, to UNTIL_NS (CLOCK_MONOTONIC) at most. Returns how many bytes are not. */
uint64_t drain_sinks_to_disk(struct drain *drain, uint64_t until_ns);
void drain_sinks_end(struct drain *drain);

#endif
