/* SPDX-License-Identifier: BSD-2-Clause */
/* The job's cgroups over the trace, by the samples of cgroup.out: what they used, and which limits were reached. */
#ifndef REPORT_LIMITS_CGROUPS_H
#define REPORT_LIMITS_CGROUPS_H

#include "report/scan/scan.h"

struct report_part;

#define CGROUPS_MAX 128U
#define CGROUPS_REACHED 0.95 /* of a limit of memory: the kernel frees pages in batches, below the limit */
#define CGROUPS_PRESSED 0.1 /* of the time */

/* Numbers that grow: the sums of what rows have. */
enum report_cgroup_sum {
	CGROUP_SUM_CPU_NS,
	CGROUP_SUM_PERIODS,
	CGROUP_SUM_THROTTLED,
	CGROUP_SUM_THROTTLED_NS,
	CGROUP_SUM_REFAULT_FILE,
	CGROUP_SUM_REFAULT_ANON,
	CGROUP_SUM_MAJFAULT,
	CGROUP_SUM_MAX_EVENTS,
	CGROUP_SUM_OOM,
	CGROUP_SUM_OOM_KILL,
	CGROUP_SUM_R_BYTES,
	CGROUP_SUM_W_BYTES,
	CGROUP_SUM_R_IOS,
	CGROUP_SUM_W_IOS,
	CGROUP_SUM_CPU_SOME_NS,
	CGROUP_SUM_MEM_SOME_NS,
	CGROUP_SUM_MEM_FULL_NS,
	CGROUP_SUM_IO_SOME_NS,
	CGROUP_SUM_IO_FULL_NS,
	CGROUP_SUMS
};

struct report_cgroup {
	char *path; /* escaped as in the file; NULL: of cgroups without a place */
	uint64_t level; /* 0: the root */
	uint64_t span_ns; /* of all rows that have sums */
	uint64_t sum[CGROUP_SUMS];
	bool has[CGROUP_SUMS];
	double cpus; /* the smallest quota of a row; 0: none */
	uint64_t mem_max; /* the smallest limit; 0: none */
	uint64_t mem_bytes; /* the largest; 0: not known */
	double mem_share; /* the largest, of the limit at that time; 0: there was none */
	char *text; /* the limits that were reached, and pressure: sentences with "; " between; NULL: none */
};

struct report_cgroups {
	struct report_cgroup v[CGROUPS_MAX]; /* the root first */
	uint32_t n;
	uint64_t left_out; /* rows */
};

extern const struct report_part report_cgroups_part;

/* Whether the quota of CGROUP was used up, and for how much of the time of all its threads; its limit of memory. */
bool report_cgroup_throttled(const struct report_cgroup *cgroup);
bool report_cgroup_full(const struct report_cgroup *cgroup);
/* Returns the part of the time in which all that could run of CGROUP waited, by SUM; 0: not known. */
double report_cgroup_pressure(const struct report_cgroup *cgroup, enum report_cgroup_sum sum);
/* The job's own cgroup, of those that have SUM: the deepest one, if that is not the root. NULL: there is none. */
const struct report_cgroup *report_cgroups_own(const struct report_cgroups *cgroups, enum report_cgroup_sum sum);

/* Print what was reached, in BUF: "96 % of memory.max (32.0 MiB), 812 refaults/s". */
const char *report_cgroup_cpu_text(const struct report_cgroup *cgroup, char *buf, size_t size);
const char *report_cgroup_memory_text(const struct report_cgroup *cgroup, char *buf, size_t size);

#endif
