/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of the job's cgroups, of a struct report. */
#include <stdio.h>

#include "report/limits/cgroups.h"
#include "report/show/tables/tables.h"

#define GET(name) VIEW_GET(name, struct report, r, struct report_cgroup, cgroup)
#define OF(member) VIEW_AT(struct report_cgroup, member)
#define SUM(nr) .get = sum, .arg = CGROUP_SUM_##nr

static void sum(const struct view_column *column, const void *of, const void *row, struct view_cell *cell)
{
	const struct report_cgroup *cgroup = row;

	cell->n = cgroup->sum[column->arg];
	cell->known = cgroup->has[column->arg];
}

GET(quota)
{
	cell->f = cgroup->cpus;
	cell->known = cgroup->cpus > 0;
	if (cell->known)
		snprintf(cell->shown, sizeof(cell->shown), "%.3g", cgroup->cpus);
}

GET(refaults)
{
	cell->n = cgroup->sum[CGROUP_SUM_REFAULT_FILE] + cgroup->sum[CGROUP_SUM_REFAULT_ANON];
	cell->known = cgroup->has[CGROUP_SUM_REFAULT_FILE];
}

static void below(const void *of, const void *row, FILE *out)
{
	const struct report_cgroup *cgroup = row;

	(void)of;
	if (cgroup->text)
		fprintf(out, "  %s\n", cgroup->text);
}

static const struct view_column columns[] = {
	{ "level", NULL, VIEW_ID, .flags = 0, OF(level), .what = "0: the root: the machine, or what a container sees" },
	{ "span_ns", NULL, VIEW_NS, 0, 0, OF(span_ns), .what = "of all samples that have sums" },
	{ "cpu_ns", "CPU TIME", VIEW_NS, 9, SUM(CPU_NS) },
	{ "quota", "QUOTA", VIEW_NUMBER, 6, .get = quota, .what = "CPUs, the smallest of the trace" },
	{ "periods", NULL, VIEW_COUNT, 0, SUM(PERIODS) },
	{ "throttled", NULL, VIEW_COUNT, 0, SUM(THROTTLED), .what = "periods in which the quota was used up" },
	{ "throttled_ns", "THROTTLED", VIEW_NS, 9, SUM(THROTTLED_NS), .what = "over all CPUs" },
	{ "memory_bytes", "MEMORY", VIEW_BYTES, 10, 0, OF(mem_bytes), VIEW_KNOWN(struct report_cgroup, mem_bytes),
	  .what = "the most of the trace, page cache included" },
	{ "memory_limit_bytes", "LIMIT", VIEW_BYTES, 10, 0, OF(mem_max), VIEW_KNOWN(struct report_cgroup, mem_max),
	  .what = "the smallest of the trace" },
	{ "at_limit", NULL, VIEW_COUNT, 0, SUM(MAX_EVENTS), .what = "times that memory was at its limit" },
	{ "refaults", "REFAULTS", VIEW_COUNT, 9, .get = refaults,
	  .what = "pages that were dropped not long before they were needed again" },
	{ "major_faults", NULL, VIEW_COUNT, 0, SUM(MAJFAULT) },
	{ "oom", NULL, VIEW_COUNT, 0, SUM(OOM) },
	{ "oom_kill", NULL, VIEW_COUNT, 0, SUM(OOM_KILL), .what = "processes killed" },
	{ "read_bytes", "READ", VIEW_BYTES, 10, SUM(R_BYTES), .what = "from all disks" },
	{ "written_bytes", "WRITTEN", VIEW_BYTES, 10, SUM(W_BYTES) },
	{ "reads", NULL, VIEW_COUNT, 0, SUM(R_IOS) },
	{ "writes", NULL, VIEW_COUNT, 0, SUM(W_IOS) },
	{ "cpu_some_ns", NULL, VIEW_NS, 0, SUM(CPU_SOME_NS), .what = "pressure: a thread waited for a CPU" },
	{ "memory_some_ns", NULL, VIEW_NS, 0, SUM(MEM_SOME_NS), .what = "a thread waited for memory" },
	{ "memory_full_ns", NULL, VIEW_NS, 0, SUM(MEM_FULL_NS), .what = "all that could run did" },
	{ "io_some_ns", NULL, VIEW_NS, 0, SUM(IO_SOME_NS), .what = "a thread waited for I/O" },
	{ "io_full_ns", NULL, VIEW_NS, 0, SUM(IO_FULL_NS), .what = "all that could run did" },
	{ "text", NULL, VIEW_TEXT, 0, 0, OF(text), .what = "the limits that were reached, and pressure" },
	{ "cgroup", "CGROUP", VIEW_TEXT, 0, 0, OF(path) },
	{ 0 },
};

const struct view view_cgroups = {
	.key = "cgroups",
	.title = "Cgroups of the job",
	.note = "the root first; below a line, the limits that were reached",
	.what = "the job's cgroup and those above it, by the samples of cgroup.out",
	.columns = columns,
	VIEW_BEHIND(struct report, cgroups),
	VIEW_ARRAY(struct report_cgroups, v, n),
	.below = below,
};
