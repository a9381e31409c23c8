/* SPDX-License-Identifier: BSD-2-Clause */
/* When threads ended, from pids.out, for rows of intervals that go on behind it. */
#ifndef REPORT_ENDS_H
#define REPORT_ENDS_H

#include <stdint.h>

#include "stats/table.h"

#define REPORT_ENDS_MAX (1U << 20)

struct scan_folder;

struct report_ends {
	/* uint64_t: CLOCK_MONOTONIC in ns, of the last thread or process with that number; 0: none has ended */
	struct table by_tid, by_pid;
};

/* Reads FOLDER's pids.out. Without one, or without room, threads have no end. */
void report_ends_read(struct report_ends *ends, struct scan_folder *folder);
void report_ends_free(struct report_ends *ends);
/*
 * Returns how many ns of the SPAN_NS before AT_NS lie behind the end of thread TID of process PID, that of the process
 * where pids.out has none of the thread. 0: it ended before or after that time, as another thread may have had the
 * number then, or its end is not known.
 */
uint64_t report_ends_behind_ns(const struct report_ends *ends, uint64_t pid, uint64_t tid, uint64_t at_ns,
			       uint64_t span_ns);

#endif
