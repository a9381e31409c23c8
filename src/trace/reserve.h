/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Space that a trace keeps for its end on file systems where allocated space does not promise that a write
 * succeeds: a file without a name in the trace folder, given back when the last rows and the manifest must
 * still be written though the disk or a quota is full. On the others the files that need it have space of
 * their own (sink_keep_ahead()). Owned by one thread at a time; knows no file of the trace.
 */
#ifndef TRACE_RESERVE_H
#define TRACE_RESERVE_H

#include <stdint.h>

/* What is given back suffices for this much to write: rest of it is for the file system's own blocks. */
#define RESERVE_USE_BYTES (1U << 20)
/* Suffices to cut files and to write a manifest: the least that btrfs takes for a change of its trees, and the rest. */
#define RESERVE_LAST_BYTES (512U << 10)

struct reserve {
	int fd; /* -1: none */
};

/*
 * Keep space in the folder DIRFD, where that is of use: twice RESERVE_USE_BYTES, but at most MOST_BYTES, and less
 * where a quota is smaller. Where none can be had there is none, which is no failure.
 */
void reserve_take(struct reserve *reserve, int dirfd, uint64_t most_bytes);
/* Give it back. Fine with none. */
void reserve_give_back(struct reserve *r);

#endif
