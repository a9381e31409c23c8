/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of CPU time, of a struct report_cpu. Of tasks, processes and threads, of which there may be very many, the
 * first ones have rows and the others a sum, so that sums stay whole.
 */
#include "report/show/cpu/tables.h"

#include <string.h>

#include "base/json.h"
#include "base/util.h"

#define GET(name, type, row) VIEW_GET(name, struct report_cpu, r, type, row)
#define ROWS(name, type, parent) VIEW_ROWS_OF(name, struct report_cpu, r, type, parent)

#define TASKS_SHOWN 40 /* includes all with 3 % or more, which have a line in the text */
#define PROCESSES_SHOWN 40
#define THREADS_SHOWN 40
#define GAPS_SHOWN 100
#define CPUS_SHOWN 64 /* lines of text */
#define GAP_LINES 10

/* --- shares and sums --------------------------------------------------------------------------------------- */

#define SHARE(head, type, whole)                                                                                      \
	{                                                                                                             \
		NULL, head, VIEW_SHARE, 8, VIEW_SUM, VIEW_AT(type, sums.run_ns), VIEW_WHOLE(struct report_cpu, whole) \
	}
#define MOST_CPU(type, table) VIEW_TABLE(struct report_cpu, table), VIEW_MOST(type, sums.run_ns)

/* ROW is a group, role or thread: each begins with its sums. */
static bool has_share(const void *of, const void *row)
{
	uint64_t run_ns = ((const struct cpu_sums *)row)->run_ns;

	return run_ns && report_cpu_is_shown(of, run_ns, ((const struct report_cpu *)of)->busy_ns);
}

static void rest_name(const void *of, uint64_t n, char *buf, size_t size)
{
	snprintf(buf, size, "other: %llu below %g %% of the busy time", (unsigned long long)n,
		 ((const struct report_cpu *)of)->options.threshold_permille / 10.0);
}

/* --- CPUs ------------------------------------------------------------------------------------------------- */

static bool is_seen(const void *of, const void *row)
{
	const struct cpu_cpu *c = row;

	return c->busy_ns + c->idle_ns + c->switches != 0;
}

GET(cpu_number, void, row)
{
	cell->n = (uint64_t)((const struct cpu_cpu *)row - r->cpus);
}

GET(cpu_busy, struct cpu_cpu, cpu)
{
	view_share(cell, cpu->busy_ns, cpu->busy_ns + cpu->idle_ns);
}

GET(cpu_mean, struct cpu_cpu, cpu)
{
	cell->known = cpu->switches;
	cell->n = cpu->switches ? (cpu->busy_ns + cpu->idle_ns) / cpu->switches : 0;
}

static const struct view_column cpu_columns[] = {
	{ "cpu", "CPU", VIEW_ID, 6, .get = cpu_number },
	{ "busy_ns", "BUSY", VIEW_NS, 10, 0, VIEW_AT(struct cpu_cpu, busy_ns) },
	{ "idle_ns", "IDLE", VIEW_NS, 10, 0, VIEW_AT(struct cpu_cpu, idle_ns) },
	{ NULL, "BUSY", VIEW_SHARE, 8, .get = cpu_busy },
	{ "switches", "SWITCHES", VIEW_COUNT, 10, 0, VIEW_AT(struct cpu_cpu, switches) },
	{ NULL, "MEAN", VIEW_NS, 10, .get = cpu_mean },
	{ 0 },
};

const struct view view_cpus = {
	.key = "cpus",
	.title = "CPUs",
	.note = "MEAN: between two switches",
	.columns = cpu_columns,
	VIEW_POINTED(struct report_cpu, cpus, n_cpus),
	.has = is_seen,
	.bare = true,
	.shown = CPUS_SHOWN,
};

/* --- tasks, grouped by rules -------------------------------------------------------------------------------- */

/* ROW begins with its group. */
static bool group_is_kept(const void *of, const void *row)
{
	const struct cpu_group *g = row;

	return g->kind == CPU_IDLE || g->kind == CPU_SELF;
}

/* Adds up the run time of each group on each CPU; ARRAYS is indexed by the group's number. */
static void fill_by_cpu(const struct report_cpu *r, uint64_t *const *arrays)
{
	for (uint32_t i = 1; i < r->task_cpus.n; i++) {
		uint64_t key = r->task_cpus.keys[i];
		const struct cpu_task *t = table_at(&r->tasks, (uint32_t)(key >> 32));

		if ((uint32_t)key < r->n_cpus)
			arrays[t->group][(uint32_t)key] +=
				((const struct cpu_cell *)table_at(&r->task_cpus, i))->run_ns;
	}
}

static const struct view by_run = { VIEW_TABLE(struct report_cpu, groups), VIEW_MOST(struct cpu_group, sums.run_ns) };

ROWS(groups, void, parent)
{
	uint64_t **arrays = view_alloc(rows, (r->groups.n + 1) * sizeof(*arrays)),
		 *rest = view_alloc(rows, (r->n_cpus + 1) * sizeof(*rest));
	struct view_rows all = { 0 };

	view_rows_fill(&all, &by_run, r, NULL);
	for (size_t i = 0; arrays && rest && i < all.n; i++) {
		const struct cpu_group *g = all.v[i].row;
		struct group_row *row = g->tasks ? view_make(rows, sizeof(*row)) : NULL;
		uint64_t **array = &arrays[report_cpu_number(&r->groups, g)];

		*array = rest;
		if (!row)
			continue;
		*row = (struct group_row){ .group = *g, .rest = rest, .n_cpus = r->n_cpus };
		if (rows->n <= TASKS_SHOWN || group_is_kept(r, g) || (r->n_cpus <= MATRIX_CPUS_MAX && has_share(r, g)))
			row->by_cpu = view_alloc(rows, (r->n_cpus + 1) * sizeof(*row->by_cpu));
		if (row->by_cpu)
			*array = row->by_cpu;
	}
	rows->failed |= all.failed;
	if (!rows->failed)
		fill_by_cpu(r, arrays);
	view_rows_free(&all);
}

static uint64_t group_add(void *sum, const void *row)
{
	const struct group_row *g = row;
	struct group_row *to = sum;

	cpu_sums_add(&to->group.sums, &g->group.sums);
	to->group.pids += g->group.pids;
	to->group.threads += g->group.threads;
	to->by_cpu = g->rest;
	for (uint32_t i = 0; g->by_cpu && i < g->n_cpus; i++)
		g->rest[i] += g->by_cpu[i];
	return g->group.tasks;
}

/* Idle time and dltraced's own always have a line. */
static bool group_is_shown(const void *of, const void *row)
{
	return group_is_kept(of, row) || has_share(of, row);
}

/* Puts a value for each of `cpus'. */
static void by_cpu(const void *of, const void *row, struct json *j)
{
	const struct report_cpu *r = of;
	const uint64_t *v = ((const struct group_row *)row)->by_cpu;

	json_row(j, "by_cpu");
	for (uint32_t cpu = 0; cpu < r->n_cpus; cpu++)
		if (is_seen(r, &r->cpus[cpu]))
			json_u64(j, NULL, v ? v[cpu] : 0);
	json_end(j);
}

/* Idle threads and others have no count: each CPU has an idle thread, and not all of the others are known. */
GET(group_count, struct cpu_group, g)
{
	cell->n = view_number(c, g);
	if (g->kind == CPU_IDLE || g->kind == CPU_OTHER)
		strcpy(cell->shown, "-");
}

/* A share of the time without idle time and, for OWN_NS, without the kernel's workers; these have no such share. */
GET(group_busy, struct cpu_group, g)
{
	cell->n = view_number(c, g);
	if (g->kind == CPU_IDLE || (c->whole == 1 + offsetof(struct report_cpu, own_ns) && g->workers))
		strcpy(cell->shown, "-");
}

#define GROUP_SHARE(head, whole)                                                             \
	{                                                                                    \
		NULL, head, VIEW_SHARE, 8, VIEW_SUM, VIEW_AT(struct cpu_group, sums.run_ns), \
			.get = group_busy, VIEW_WHOLE(struct report_cpu, whole)              \
	}

static const struct view_column task_columns[] = {
	{ "pids", "PIDS", VIEW_COUNT, 8, VIEW_FOOT, VIEW_AT(struct cpu_group, pids), .get = group_count },
	{ "threads", "THREADS", VIEW_COUNT, 8, VIEW_FOOT, VIEW_AT(struct cpu_group, threads), .get = group_count },
	CPU_SUM(struct cpu_group, "run_ns", "CPU", VIEW_NS, 10, run_ns),
	SHARE("SHARE", struct cpu_group, by_cpu_ns),
	GROUP_SHARE("BUSY", busy_ns),
	GROUP_SHARE("OWN", own_ns),
	CPU_SUM(struct cpu_group, "runq_ns", "RUNNABLE", VIEW_NS, 10, runq_ns),
	CPU_SUM(struct cpu_group, "switches", "SWITCHES", VIEW_COUNT, 10, switches),
	CPU_SUM(struct cpu_group, "preempted", NULL, VIEW_COUNT, 0, preempted),
	CPU_SUMS_REST(struct cpu_group),
	{ "name", "COMM", VIEW_TEXT, 0, VIEW_EMPTY, VIEW_AT(struct cpu_group, name) },
	{ "kind", NULL, VIEW_TEXT, 0, 0, CPU_KIND(struct cpu_group),
	  .what = "target, kernel, self (dltraced), other, idle" },
	{ "workers", NULL, VIEW_FLAG, 0, 0, VIEW_AT(struct cpu_group, workers), .what = "many kernel threads as one" },
	{ "by_cpu", NULL, VIEW_JSON, 0, VIEW_SUM, .json = by_cpu,
	  .what = "`run_ns` on each of `cpus`, in their order" },
	{ 0 },
};

static const struct view_rest other_tasks = {
	.key = "other_tasks",
	.size = sizeof(struct group_row),
	.add = group_add,
	.is_shown = group_is_shown,
	.is_kept = group_is_kept,
	.name = rest_name,
};

const struct view view_tasks = {
	.key = "tasks",
	.csv = "",
	.title = "CPU time by task",
	.note = "SHARE: of all; BUSY: without idle; OWN: without the kernel's workers as well",
	.what = "threads with one name: the first 40, idle and dltraced",
	.columns = task_columns,
	.rows = groups,
	.bare = true,
	.rest = &other_tasks,
	.most = TASKS_SHOWN,
	.least = 2,
};

/* --- processes -------------------------------------------------------------------------------------------- */

static bool is_process(const void *of, const void *row)
{
	const struct cpu_role *role = row;

	return role->threads && report_cpu_task_at(of, role->task)->kind != CPU_IDLE;
}

GET(role_comm, struct cpu_role, role)
{
	const struct cpu_task *t = report_cpu_task_at(r, role->task);

	cell->text = t->comm;
	if (t->kind == CPU_OTHER && !((const struct cpu_proc *)table_at(&r->procs, role->proc))->pid)
		strcpy(cell->shown, "(others)");
}

static uint64_t role_add(void *sum, const void *row)
{
	struct cpu_role *to = sum;

	cpu_sums_add(&to->sums, &((const struct cpu_role *)row)->sums);
	to->threads += ((const struct cpu_role *)row)->threads;
	return 1;
}

static const struct view_column role_columns[] = {
	{ "pid", "PID", VIEW_ID, 8, VIEW_DASH, VIEW_AT(struct cpu_proc, pid), CPU_PROC_OF(struct cpu_role) },
	{ "threads", "THREADS", VIEW_COUNT, 8, VIEW_FOOT, VIEW_AT(struct cpu_role, threads) },
	CPU_SUM(struct cpu_role, "run_ns", "CPU", VIEW_NS, 10, run_ns),
	SHARE("BUSY", struct cpu_role, busy_ns),
	CPU_SUM(struct cpu_role, "runq_ns", "RUNNABLE", VIEW_NS, 10, runq_ns),
	CPU_SUM(struct cpu_role, "switches", "SWITCHES", VIEW_COUNT, 10, switches),
	CPU_SUM(struct cpu_role, "preempted", "PREEMPTED", VIEW_COUNT, 10, preempted),
	CPU_SUMS_REST(struct cpu_role),
	{ "comm", "COMM", VIEW_TEXT, 0, VIEW_EMPTY, .get = role_comm },
	{ "kind", NULL, VIEW_TEXT, 0, 0, CPU_KIND(struct cpu_task), CPU_TASK_OF(struct cpu_role, task) },
	{ "life_ns", NULL, VIEW_NS, 0, 0, VIEW_AT(struct cpu_role, life_ns), .what = "of its threads, added up" },
	{ 0 },
};

static const struct view_rest other_processes = {
	.key = "other_processes",
	.size = sizeof(struct cpu_role),
	.add = role_add,
	.is_shown = has_share,
	.name = rest_name,
};

const struct view view_cpu_processes = {
	.key = "processes",
	.csv = "",
	.title = "Processes, by CPU time; a process that was renamed or executed another program has a line for each "
		 "name",
	.what = "the first 40, without idle; a process has an entry for each of its names",
	.columns = role_columns,
	MOST_CPU(struct cpu_role, roles),
	.has = is_process,
	.bare = true,
	.rest = &other_processes,
	.most = PROCESSES_SHOWN,
	.least = 2,
};

/* --- threads ---------------------------------------------------------------------------------------------- */

static bool is_thread(const void *of, const void *row)
{
	const struct cpu_thread *t = row;

	return t->tid && report_cpu_task_at(of, t->task)->kind != CPU_IDLE;
}

void view_thread_life(const struct view_column *c, const void *of, const void *row, struct view_cell *cell)
{
	(void)c, (void)of;
	cell->n = report_cpu_life_ns(row);
}

static uint64_t thread_add(void *sum, const void *row)
{
	cpu_sums_add(&((struct cpu_thread *)sum)->sums, &((const struct cpu_thread *)row)->sums);
	return 1;
}

static const struct view_column thread_columns[] = {
	{ "tid", "TID", VIEW_ID, 8, 0, VIEW_AT(struct cpu_thread, tid) },
	{ "pid", "PID", VIEW_ID, 8, 0, VIEW_AT(struct cpu_proc, pid), CPU_PROC_OF(struct cpu_thread) },
	CPU_SUM(struct cpu_thread, "run_ns", "CPU", VIEW_NS, 10, run_ns),
	SHARE("BUSY", struct cpu_thread, busy_ns),
	{ "life_ns", "LIFESPAN", VIEW_NS, 10, VIEW_FOOT, .get = view_thread_life,
	  VIEW_KNOWN(struct cpu_thread, has_life) },
	CPU_SUM(struct cpu_thread, "runq_ns", "RUNNABLE", VIEW_NS, 10, runq_ns),
	CPU_SUM(struct cpu_thread, "switches", "SWITCHES", VIEW_COUNT, 10, switches),
	CPU_SUM(struct cpu_thread, "preempted", "PREEMPTED", VIEW_COUNT, 10, preempted),
	CPU_SUMS_REST(struct cpu_thread),
	{ "comm", "COMM", VIEW_TEXT, 0, VIEW_EMPTY, VIEW_AT(struct cpu_task, comm),
	  CPU_TASK_OF(struct cpu_thread, task) },
	{ "kind", NULL, VIEW_TEXT, 0, 0, CPU_KIND(struct cpu_task), CPU_TASK_OF(struct cpu_thread, task) },
	{ 0 },
};

static const struct view_rest other_threads = {
	.key = "other_threads",
	.size = sizeof(struct cpu_thread),
	.add = thread_add,
	.is_shown = has_share,
	.name = rest_name,
};

const struct view view_threads = {
	.key = "threads",
	.csv = "",
	.title = "Threads, by CPU time, under their last names",
	.what = "the first 40, under their last names",
	.columns = thread_columns,
	MOST_CPU(struct cpu_thread, threads),
	.has = is_thread,
	.bare = true,
	.rest = &other_threads,
	.most = THREADS_SHOWN,
	.least = 2,
};

/* The mean over threads of the sum at C's place. */
GET(pattern_mean, struct cpu_pattern, p)
{
	uint64_t n = p->threads;

	cell->known = n;
	cell->n = n ? view_number(c, p) / n : 0;
}

#define PATTERN(member) VIEW_AT(struct cpu_pattern, member)

static const struct view_column pattern_columns[] = {
	{ "pattern", "PATTERN", VIEW_TEXT, 23, VIEW_EMPTY, PATTERN(glob) },
	{ "threads", "THREADS", VIEW_COUNT, 8, 0, PATTERN(threads) },
	{ "cut", "CUT", VIEW_COUNT, 8, 0, PATTERN(cut), .what = "how many did not begin or end within the trace" },
	{ NULL, "LIFESPAN", VIEW_NS, 12, 0, PATTERN(life_ns), .get = pattern_mean },
	{ NULL, "CPU", VIEW_NS, 12, 0, PATTERN(run_ns), .get = pattern_mean },
	{ NULL, "IDLE", VIEW_NS, 12, 0, PATTERN(idle_ns), .get = pattern_mean },
	{ "life_ns", NULL, VIEW_NS, 0, 0, PATTERN(life_ns) },
	{ "run_ns", NULL, VIEW_NS, 0, 0, PATTERN(run_ns) },
	{ "idle_ns", NULL, VIEW_NS, 0, 0, PATTERN(idle_ns) },
	{ 0 },
};

const struct view view_lifespans = {
	.key = "lifespans",
	.title = "Lifespans of threads",
	.note = "averages; IDLE: LIFESPAN - CPU; CUT: how many did not begin or end within the trace",
	.what = "sums over the threads whose name matches",
	.columns = pattern_columns,
	VIEW_ARRAY(struct report_cpu, patterns, n_patterns),
	.bare = true,
};

/* --- gaps --------------------------------------------------------------------------------------------------- */

ROWS(gaps, void, parent)
{
	for (uint32_t i = 0; i < r->gaps.n; i++)
		view_add(rows, &r->gaps.v[i]);
	rows->total = r->gaps.n + r->gaps.more;
}

uint64_t view_gap_length(const struct gap *g)
{
	return g->ns < 0 ? 0 - (uint64_t)g->ns : (uint64_t)g->ns;
}

/* In text: since the trace's begin. */
GET(gap_begin, struct gap, g)
{
	uint64_t begin_ns = r->manifest.start_ns ? r->manifest.start_ns : r->begin_ns;

	cell->known = g->begin_ns;
	cell->n = g->begin_ns;
	if (g->begin_ns)
		snprintf(cell->shown, sizeof(cell->shown), "%s%.6f s", g->begin_ns < begin_ns ? "-" : "",
			 (double)(g->begin_ns < begin_ns ? begin_ns - g->begin_ns : g->begin_ns - begin_ns) / 1e9);
}

GET(gap_length, struct gap, g)
{
	cell->s = g->ns;
	snprintf(cell->shown, sizeof(cell->shown), "%s%s", g->ns < 0 ? "-" : "",
		 g->begin_ns ? FMT_NS(view_gap_length(g)) : "-");
}

void view_gap_cpu(const struct view_column *c, const void *of, const void *row, struct view_cell *cell)
{
	(void)c, (void)of;
	cell->n = ((const struct gap *)row)->cpu;
	cell->known = cell->n != GAP_ALL_CPUS;
	if (!cell->known)
		strcpy(cell->shown, "all");
}

static const struct view_column gap_columns[] = {
	{ "kind", "KIND", VIEW_TEXT, 8, 0, VIEW_AT(struct gap, kind), .names = gap_kind_names,
	  .what = "as in gaps.csv" },
	{ "begin_ns", "AT", VIEW_NS, 14, .get = gap_begin },
	{ "length_ns", "LENGTH", VIEW_SIGNED_NS, 12, .get = gap_length, .what = "size of the step" },
	{ "cpu", "CPU", VIEW_ID, 5, .get = view_gap_cpu },
	{ "records", "RECORDS", VIEW_COUNT, 10, VIEW_DASH, VIEW_AT(struct gap, count) },
	{ 0 },
};

/* time.c prints their explanation before them. */
const struct view view_cpu_gaps = {
	.key = "gaps",
	.csv = "",
	.what = "the first 100",
	.columns = gap_columns,
	.rows = gaps,
	.shown = GAP_LINES,
	.most = GAPS_SHOWN,
	.least = GAPS_SHOWN,
};

void view_more_gaps(const void *of, struct json *j)
{
	const struct report_cpu *r = of;

	json_u64(j, "more_gaps", r->gaps.n - MIN(r->gaps.n, GAPS_SHOWN) + r->gaps.more);
}
