/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A frame: a line of JSON that a running trace sends to `dltraced status --watch' (session/live.c), read and written
 * again. What it says of a process is another user's words.
 */
#ifndef CMD_STATUS_FRAME_H
#define CMD_STATUS_FRAME_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "dltraced.h"
#include "drain/rows/live.h"

#define FRAME_SUMS_MAX 1000 /* processes: a terminal has fewer rows */
#define FRAME_FAILED_MAX 256
#define FRAME_COMM_MAX TEXT_ESCAPED_MAX(64)

/* What one process did, or all. */
struct frame_sum {
	uint64_t pid, calls, read_bytes, written_bytes, fetched_bytes, reads, disk_reads, p99_ns;
	char comm[FRAME_COMM_MAX];
};

/* A call or request in flight. */
struct frame_call {
	uint64_t pid, tid, running_ms, addr;
	char fd[TEXT_U64_MAX + 1], comm[FRAME_COMM_MAX], probe[16], name[64]; /* "": none */
	char file[TEXT_ESCAPED_MAX(PATH_MAX)];
};

/* A region that the job has begun and not ended. */
struct frame_region {
	uint64_t pid, tid, running_ms;
	char comm[FRAME_COMM_MAX], name[TEXT_ESCAPED_MAX(DLTRACED_NAME_MAX)], epoch[TEXT_U64_MAX + 1],
		step[TEXT_U64_MAX + 1]; /* "": none */
};

struct frame {
	char phase[16];
	uint64_t elapsed_ms, rows, lost, interval_ms, alive, with_calls;
	struct frame_sum all, sums[FRAME_SUMS_MAX];
	struct frame_call calls[LIVE_CALLS_MAX];
	struct frame_region regions[LIVE_REGIONS_MAX];
	unsigned int n_sums, n_calls, n_regions;
	char failed[FRAME_FAILED_MAX]; /* "ENOSPC 5, EMFILE 64": calls since the trace began; "": none */
	struct frame_sum *sum; /* that is being read; NULL: no room for it */
	struct frame_call *call; /* likewise */
	struct frame_region *region;
	const char *running; /* in the line, after the bracket that opens the calls; NULL: not received yet */
};

/* Reads LINE of LEN bytes into *FRAME, which points into it. Returns 0; -EBADMSG when it is no frame. */
int frame_read(struct frame *frame, const char *line, size_t len);

/*
 * Prints LINE, from which FRAME was read, but the calls, its last member, as FRAME has them now; and RECENT behind it,
 * which is JSON, too, or NULL.
 */
void frame_print_json(const struct frame *frame, const char *line, const char *recent);

#endif
