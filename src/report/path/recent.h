/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the last seconds of a running job went: the path as its first process saw it, from the ends of waits.out and
 * sched.out, and, as a wait has no row until it ends, from the waits that are open at a moment. The seconds end when
 * the last sums of CPU time were taken, so that each moment of them is known. Bounded in bytes that are read, and so in
 * time; calls do not cut the time on a CPU.
 */
#ifndef REPORT_PATH_RECENT_H
#define REPORT_PATH_RECENT_H

#include <stddef.h>

#include "base/util.h"
#include "report/path/lives/roots.h"
#include "report/path/sums/sums.h"
#include "report/path/waits/shorts.h"
#include "report/scan/follow.h"

#define PATH_RECENT_NS (10 * NSEC_PER_SEC)
#define PATH_RECENT_OPEN_MAX 4U /* moments that are kept */
#define PATH_RECENT_ENDS_MAX 64U /* ends of intervals of sched.out, likewise */

/* The waits that were open at a moment. */
struct path_open {
	uint64_t at_ns;
	char *rows; /* of waits.out, with both header lines: owned */
	size_t len;
};

struct path_recent {
	int dirfd; /* the caller's */
	uint64_t workload_pid; /* 0: none */
	struct path_names names;
	struct path_lives lives;
	struct path_waits waits;
	struct path_shorts shorts;
	struct scan_follow pids, files, waits_out, sched_out;
	struct path_open open[PATH_RECENT_OPEN_MAX]; /* the newest first */
	uint64_t ends[PATH_RECENT_ENDS_MAX]; /* the last ones */
	unsigned int n_ends;
	uint64_t flushed_ns; /* the files have all rows until then */
	uint64_t lost, lost_ns; /* rows that they lack, and when these became more */
	struct table last; /* uint64_t by TID: the end of its last row */
	uint64_t first_sum_ns, sums_from_ns; /* the first sums that were read, and the begin of their interval */

	/* the answer */
	uint32_t pid, name; /* of the first process */
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	struct path_sums sums;
};

/* Opens the trace in DIRFD. Returns 0; -ENOENT: it has no waits.out or sched.out; -errno. */
int path_recent_open(struct path_recent **ret, int dirfd, uint64_t workload_pid);
void path_recent_free(struct path_recent *recent);

/* What the running trace has answered to "waiting": see session/waiting.c. Returns 0, -EBADMSG or -ENOMEM. */
int path_recent_waiting(struct path_recent *recent, const char *answer);
/*
 * Finds the path until the last moment that is known, after an answer. Returns 0; -EAGAIN: not known yet; -ENODATA: the
 * first process has ended, or rows were lost; -ESTALE: open the trace again; -errno.
 */
int path_recent_look(struct path_recent *recent);

#endif
