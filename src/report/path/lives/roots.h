/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The threads whose time is explained, and when it begins and ends: the first process of the workload from its first
 * program on, as what is before is dltraced's own. Of a trace without a workload, or where that one ended early or only
 * runs the job's container, each process whose parent is no part of the job, or ended early, the longest first.
 */
#ifndef REPORT_PATH_LIVES_ROOTS_H
#define REPORT_PATH_LIVES_ROOTS_H

#include "report/path/lives/lives.h"

#define PATH_ROOTS_MAX 8

struct path_root {
	uint32_t life;
	uint64_t begin_ns, end_ns;
};

/* The trace, CLOCK_MONOTONIC. */
struct path_times {
	uint64_t begin_ns, end_ns;
};

/* Puts the roots into RET, PATH_ROOTS_MAX at most, and returns how many. WORKLOAD_PID: 0: not known. */
unsigned int path_roots(const struct path_lives *lives, uint64_t workload_pid, struct path_times trace,
			struct path_root *ret);

#endif
