/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the job's time went, by cause: waits.out, pids.out and sched.out, cut by the rows of calls and the job's
 * epochs, to the parts of a path, which add up to the time of the job's first process.
 */
#ifndef REPORT_PATH_PATH_H
#define REPORT_PATH_PATH_H

#include "report/path/lives/roots.h"
#include "report/path/ranks.h"
#include "report/path/spins.h"
#include "report/path/sums/graph.h"
#include "report/path/sums/idle.h"
#include "report/path/sums/names.h"
#include "report/path/sums/sums.h"
#include "stats/table.h"

struct path_limits;
struct path_source;
struct report_call_facts;
struct report_part;
struct scan;

/* Who had the machine's CPUs, by sched.out, ns. The rest of ALL was the kernel's and dltraced's, or nobody's. */
struct path_cpu_use {
	uint64_t job_ns, others_ns, all_ns;
};

struct report_path {
	struct path_cpu_use cpu_use;
	struct path_names names;
	struct path_source *source; /* while it is loaded */
	const struct path_limits *limits;
	uint32_t epochs; /* how many are known */
	struct path_slow_rank slow_rank; /* of the first root */
	struct path_spin spin; /* likewise */
	struct path_idle idle; /* likewise */
	struct table workers; /* likewise: ns on the path, a uint64_t, of each process that serves others, by PID */
	struct path_graph graph; /* of the path of the first root, and of all threads in its time */
	unsigned int n; /* 0: not known, or neither waits.out nor sched.out */
	struct report_path_root {
		uint32_t pid, name;
		uint64_t begin_ns, end_ns;
		struct path_sums sums;
	} root[PATH_ROOTS_MAX]; /* the one with the most time first */
};

extern const struct report_part report_path_part;

/* Takes a call, of all files and processes. */
void report_path_call(struct report_path *path, const struct scan *s, const struct report_call_facts *c);

#endif
