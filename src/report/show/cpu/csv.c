/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CSV files of `report --cpu', of a struct report_cpu: all rows, under names of their own. Seconds have nine
 * decimals, so that their sums equal the trace's; instants are CLOCK_MONOTONIC, as TIMESTAMP is; shares are fractions.
 * A new column goes after the others, as programs may find columns by their position.
 */
#include <string.h>

#include "base/util.h"
#include "report/show/cpu/tables.h"

#define GET(name, type, row) VIEW_GET(name, struct report_cpu, r, type, row)
#define ROWS(name, type, parent) VIEW_ROWS_OF(name, struct report_cpu, r, type, parent)

#define TEXT(key, ...)                                           \
	{                                                        \
		key, NULL, VIEW_TEXT, 0, VIEW_EMPTY, __VA_ARGS__ \
	}
#define SECONDS(key, ...)                             \
	{                                             \
		key, NULL, VIEW_NS, 0, 0, __VA_ARGS__ \
	}
#define NUMBER(key, ...)                                 \
	{                                                \
		key, NULL, VIEW_COUNT, 0, 0, __VA_ARGS__ \
	}
#define FLAG(key, ...)                                  \
	{                                               \
		key, NULL, VIEW_FLAG, 0, 0, __VA_ARGS__ \
	}
#define SHARE_OF_ALL(type)                                                                                            \
	{                                                                                                             \
		"share", NULL, VIEW_SHARE, 0, 0, VIEW_AT(type, sums.run_ns), VIEW_WHOLE(struct report_cpu, by_cpu_ns) \
	}

/* The name of a task; "(others)" for time that the trace has without a name. */
GET(comm, struct cpu_task, t)
{
	cell->text = t->kind == CPU_OTHER && strcmp(t->comm, "-") == 0 ? "(others)" : t->comm;
}

/* --- tasks, processes and threads ---------------------------------------------------------------------------- */

static bool task_has_run(const void *of, const void *row)
{
	return ((const struct cpu_task *)row)->threads || ((const struct cpu_task *)row)->sums.run_ns;
}

GET(task_busy, struct cpu_task, t)
{
	view_share(cell, t->kind == CPU_IDLE ? 0 : t->sums.run_ns, r->busy_ns);
}

#define GROUP_OF_TASK VIEW_VIA(struct cpu_task, group, struct report_cpu, groups)

static const struct view_column task_columns[] = {
	TEXT("comm", .get = comm),
	NUMBER("pids", VIEW_AT(struct cpu_task, pids)),
	NUMBER("threads", VIEW_AT(struct cpu_task, threads)),
	SECONDS("cpu_ns", VIEW_AT(struct cpu_task, sums.run_ns)),
	SHARE_OF_ALL(struct cpu_task),
	TEXT("kind", CPU_KIND(struct cpu_task)),
	TEXT("merged", VIEW_AT(struct cpu_group, name), GROUP_OF_TASK),
	FLAG("worker", VIEW_AT(struct cpu_group, workers), GROUP_OF_TASK),
	{ "share_busy", NULL, VIEW_SHARE, .get = task_busy },
	SECONDS("runq_ns", VIEW_AT(struct cpu_task, sums.runq_ns)),
	SECONDS("disk_wait_ns", VIEW_AT(struct cpu_task, sums.disk_ns)),
	SECONDS("blocked_ns", VIEW_AT(struct cpu_task, sums.blocked_ns)),
	SECONDS("sleep_ns", VIEW_AT(struct cpu_task, sums.sleep_ns)),
	NUMBER("switches", VIEW_AT(struct cpu_task, sums.switches)),
	NUMBER("preempted", VIEW_AT(struct cpu_task, sums.preempted)),
	{ 0 },
};

static const struct view tasks_csv = {
	.csv = "tasks",
	.what = "all threads of a name and kind",
	.columns = task_columns,
	VIEW_TABLE(struct report_cpu, tasks),
	VIEW_MOST(struct cpu_task, sums.run_ns),
	.has = task_has_run,
};

static bool role_has_run(const void *of, const void *row)
{
	return ((const struct cpu_role *)row)->threads || ((const struct cpu_role *)row)->sums.run_ns;
}

static const struct view_column process_columns[] = {
	{ "pid", NULL, VIEW_ID, 0, 0, VIEW_AT(struct cpu_proc, pid), CPU_PROC_OF(struct cpu_role) },
	TEXT("comm", .get = comm, CPU_TASK_OF(struct cpu_role, task)),
	SECONDS("cpu_ns", VIEW_AT(struct cpu_role, sums.run_ns)),
	SECONDS("runq_ns", VIEW_AT(struct cpu_role, sums.runq_ns)),
	SECONDS("disk_wait_ns", VIEW_AT(struct cpu_role, sums.disk_ns)),
	SECONDS("sleep_ns", VIEW_AT(struct cpu_role, sums.sleep_ns)),
	NUMBER("switches", VIEW_AT(struct cpu_role, sums.switches)),
	SHARE_OF_ALL(struct cpu_role),
	TEXT("kind", CPU_KIND(struct cpu_task), CPU_TASK_OF(struct cpu_role, task)),
	NUMBER("threads", VIEW_AT(struct cpu_role, threads)),
	SECONDS("blocked_ns", VIEW_AT(struct cpu_role, sums.blocked_ns)),
	SECONDS("life_ns", VIEW_AT(struct cpu_role, life_ns)),
	NUMBER("preempted", VIEW_AT(struct cpu_role, sums.preempted)),
	{ 0 },
};

static const struct view processes_csv = {
	.csv = "processes",
	.what = "a process under one of its names",
	.columns = process_columns,
	VIEW_TABLE(struct report_cpu, roles),
	VIEW_MOST(struct cpu_role, sums.run_ns),
	.has = role_has_run,
};

/* The first entry is the sum of threads beyond the table's limit. */
static bool thread_has_run(const void *of, const void *row)
{
	return row != table_at(&((const struct report_cpu *)of)->threads, 0) ||
	       ((const struct cpu_thread *)row)->sums.run_ns;
}

GET(thread_idle, struct cpu_thread, t)
{
	cell->n = t->has_life ? report_cpu_life_ns(t) : 0;
	cell->n -= MIN(cell->n, t->sums.run_ns);
}

/* Whether the begin or end was seen; false unless the life is known. */
GET(thread_edge, struct cpu_thread, t)
{
	cell->n = t->has_life && view_number(c, t);
}

#define HAS_LIFE VIEW_KNOWN(struct cpu_thread, has_life)

static const struct view_column thread_columns[] = {
	{ "tid", NULL, VIEW_ID, 0, 0, VIEW_AT(struct cpu_thread, tid) },
	{ "pid", NULL, VIEW_ID, 0, 0, VIEW_AT(struct cpu_proc, pid), CPU_PROC_OF(struct cpu_thread) },
	TEXT("comm", .get = comm, CPU_TASK_OF(struct cpu_thread, task)),
	SECONDS("start_ns", VIEW_AT(struct cpu_thread, start_ns), HAS_LIFE),
	SECONDS("end_ns", VIEW_AT(struct cpu_thread, end_ns), HAS_LIFE),
	SECONDS("cpu_ns", VIEW_AT(struct cpu_thread, sums.run_ns)),
	SECONDS("runq_ns", VIEW_AT(struct cpu_thread, sums.runq_ns)),
	SECONDS("disk_wait_ns", VIEW_AT(struct cpu_thread, sums.disk_ns)),
	SECONDS("sleep_ns", VIEW_AT(struct cpu_thread, sums.sleep_ns)),
	TEXT("kind", CPU_KIND(struct cpu_proc), CPU_PROC_OF(struct cpu_thread)),
	SECONDS("blocked_ns", VIEW_AT(struct cpu_thread, sums.blocked_ns)),
	SECONDS("life_ns", .get = view_thread_life, HAS_LIFE),
	SECONDS("idle_ns", .get = thread_idle, HAS_LIFE),
	FLAG("born", VIEW_AT(struct cpu_thread, born), .get = thread_edge),
	FLAG("ended", VIEW_AT(struct cpu_thread, ended), .get = thread_edge),
	TEXT("first_comm", .get = comm, CPU_TASK_OF(struct cpu_thread, first_task)),
	NUMBER("switches", VIEW_AT(struct cpu_thread, sums.switches)),
	NUMBER("preempted", VIEW_AT(struct cpu_thread, sums.preempted)),
	SHARE_OF_ALL(struct cpu_thread),
	{ 0 },
};

static const struct view threads_csv = {
	.csv = "threads",
	.what = "the life of a thread, under its last name",
	.columns = thread_columns,
	VIEW_TABLE(struct report_cpu, threads),
	.has = thread_has_run,
};

/* --- tables with two keys: the numbers that their key is made of, and the value ---------------------------------- */

/* The number at C's place in the pair's value. */
GET(of_value, struct view_pair, p)
{
	cell->n = view_number(c, p->value);
}

GET(share_of_cpu, struct view_pair, p)
{
	const struct cpu_cpu *cpu = &r->cpus[p->second];

	view_share(cell, ((const struct cpu_cell *)p->value)->run_ns, cpu->busy_ns + cpu->idle_ns);
}

#define VALUE(type, member) VIEW_AT(type, member), .get = of_value
#define OF_ROLE(member, table)                                                                               \
	.via = &(const struct view_via)                                                                      \
	{                                                                                                    \
		offsetof(struct view_pair, first), offsetof(struct report_cpu, roles), 0,                    \
			&(const struct view_via)VIEW_STEP(struct cpu_role, member, struct report_cpu, table) \
	}
#define ROLE_COLUMNS                                                                         \
	{ "pid", NULL, VIEW_ID, 0, 0, VIEW_AT(struct cpu_proc, pid), OF_ROLE(proc, procs) }, \
		TEXT("comm", .get = comm, OF_ROLE(task, tasks))
#define CPU_COLUMNS                                                                                                    \
	{ "cpu", NULL, VIEW_ID, 0, 0, VIEW_AT(struct view_pair, second) },                                             \
		SECONDS("cpu_ns", VALUE(struct cpu_cell, run_ns)), { "share", NULL, VIEW_SHARE, .get = share_of_cpu }, \
		NUMBER("switches", VALUE(struct cpu_cell, switches))

static const struct view_column task_by_cpu_columns[] = {
	TEXT("comm", .get = comm, CPU_TASK_OF(struct view_pair, first)),
	CPU_COLUMNS,
	TEXT("kind", CPU_KIND(struct cpu_task), CPU_TASK_OF(struct view_pair, first)),
	{ 0 },
};

static const struct view task_by_cpu_csv = {
	.csv = "task_by_cpu",
	.what = "a task on a CPU; share is of the CPU's time",
	.columns = task_by_cpu_columns,
	VIEW_PAIRS(struct report_cpu, task_cpus, 1),
};

static const struct view_column process_by_cpu_columns[] = {
	ROLE_COLUMNS,
	CPU_COLUMNS,
	TEXT("kind", CPU_KIND(struct cpu_task), OF_ROLE(task, tasks)),
	{ 0 },
};

static const struct view process_by_cpu_csv = {
	.csv = "process_by_cpu",
	.what = "a process on a CPU; share is of the CPU's time",
	.columns = process_by_cpu_columns,
	VIEW_PAIRS(struct report_cpu, role_cpus, 1),
};

/* --- phases ------------------------------------------------------------------------------------------------------ */

GET(share_of_phase, struct view_pair, p)
{
	view_share(cell, *(const uint64_t *)p->value, r->phases[p->first].run_ns);
}

#define OF_PHASE(member)                                                                                               \
	VIEW_AT(struct cpu_phase, member), .via = &(const struct view_via)                                             \
	{                                                                                                              \
		offsetof(struct view_pair, first), offsetof(struct report_cpu, phases), sizeof(struct cpu_phase), NULL \
	}

static const struct view_column phase_columns[] = {
	TEXT("phase", OF_PHASE(name)),
	TEXT("comm", .get = comm, CPU_TASK_OF(struct view_pair, second)),
	SECONDS("cpu_ns", .get = of_value),
	{ "share", NULL, VIEW_SHARE, .get = share_of_phase },
	NUMBER("times", OF_PHASE(times)),
	SECONDS("wall_ns", OF_PHASE(wall_ns)),
	TEXT("source", OF_PHASE(source)),
	TEXT("kind", CPU_KIND(struct cpu_task), CPU_TASK_OF(struct view_pair, second)),
	{ 0 },
};

static const struct view phases_csv = {
	.csv = "phases",
	.what = "a task in a phase; share is of the phase's CPU time",
	.columns = phase_columns,
	VIEW_PAIRS(struct report_cpu, phase_tasks, 0),
};

struct time_row {
	const char *phase, *source;
	uint64_t start_ns, end_ns, wall_ns;
};

ROWS(times, void, parent)
{
	for (uint32_t i = 0; i < r->n_phases; i++)
		for (uint32_t k = 0; k < r->phases[i].n; k++) {
			const struct cpu_interval *v = &r->phases[i].v[k];
			struct time_row *row = view_make(rows, sizeof(*row));

			if (row)
				*row = (struct time_row){ r->phases[i].name, r->phases[i].source, v->start_ns,
							  v->end_ns, v->end_ns - v->start_ns };
		}
}

static const struct view_column time_columns[] = {
	TEXT("phase", VIEW_AT(struct time_row, phase)),      SECONDS("start_ns", VIEW_AT(struct time_row, start_ns)),
	SECONDS("end_ns", VIEW_AT(struct time_row, end_ns)), SECONDS("wall_ns", VIEW_AT(struct time_row, wall_ns)),
	TEXT("source", VIEW_AT(struct time_row, source)),    { 0 },
};
static const struct view phase_times_csv = {
	.csv = "phase_times", .what = "when a phase was", .columns = time_columns, .rows = times
};

/* --- gaps ----------------------------------------------------------------------------------------------------------
 */

#define HAS_TIME VIEW_KNOWN(struct gap, begin_ns)

static const struct view_column gap_columns[] = {
	TEXT("kind", VIEW_AT(struct gap, kind), .names = gap_kind_names),
	SECONDS("start_ns", VIEW_AT(struct gap, begin_ns), HAS_TIME),
	SECONDS("end_ns", VIEW_AT(struct gap, end_ns), HAS_TIME),
	{ "length_ns", NULL, VIEW_SIGNED_NS, 0, 0, VIEW_AT(struct gap, ns), HAS_TIME },
	{ "cpu", NULL, VIEW_ID, .get = view_gap_cpu },
	NUMBER("records", VIEW_AT(struct gap, count), VIEW_KNOWN(struct gap, count)),
	{ 0 },
};

static const struct view gaps_csv = {
	.csv = "gaps",
	.what = "a gap",
	.columns = gap_columns,
	VIEW_POINTED(struct report_cpu, gaps.v, gaps.n),
};

/* --- waits, and the folders of calls ---------------------------------------------------------------------------------
 */

GET(call, struct view_pair, p)
{
	cell->text = r->call_names[p->second];
}

static const struct view_column wait_columns[] = {
	ROLE_COLUMNS,
	TEXT("call", .get = call),
	NUMBER("waits", VALUE(struct cpu_call, waits)),
	SECONDS("disk_wait_ns", VALUE(struct cpu_call, disk_ns)),
	SECONDS("blocked_ns", VALUE(struct cpu_call, blocked_ns)),
	SECONDS("sleep_ns", VALUE(struct cpu_call, sleep_ns)),
	SECONDS("max_ns", VALUE(struct cpu_call, max_ns)),
	{ 0 },
};

static const struct view waits_csv = {
	.csv = "waits",
	.what = "the waits of a process in a call",
	.columns = wait_columns,
	VIEW_PAIRS(struct report_cpu, calls, 1),
};

/* The folders, with the keys of their calls. */
ROWS(folders, void, parent)
{
	for (uint32_t i = 0; i < r->folders.n; i++) {
		const struct cpu_folder *f = table_at(&r->folders, i);

		if (folders_path(&r->tree, f->folder))
			view_pair(rows, r->calls.keys[f->call], f);
	}
}

GET(folder, struct view_pair, p)
{
	cell->text = folders_path(&r->tree, ((const struct cpu_folder *)p->value)->folder);
}

/* The folder's part of the call's wait at C's place. */
GET(folder_wait, struct view_pair, p)
{
	const struct cpu_folder *f = p->value;

	cell->n = report_cpu_folder_ns(r, f, view_number(c, table_at(&r->calls, f->call)));
}

static const struct view_column folder_columns[] = {
	ROLE_COLUMNS,
	TEXT("call", .get = call),
	TEXT("folder", .get = folder),
	SECONDS("disk_wait_ns", VIEW_AT(struct cpu_call, disk_ns), .get = folder_wait),
	SECONDS("blocked_ns", VIEW_AT(struct cpu_call, blocked_ns), .get = folder_wait),
	NUMBER("calls", VALUE(struct cpu_folder, calls)),
	NUMBER("disk_calls", VALUE(struct cpu_folder, disk_calls)),
	{ "disk_bytes", NULL, VIEW_BYTES, 0, 0, VALUE(struct cpu_folder, disk_bytes) },
	{ 0 },
};

static const struct view folders_csv = {
	.csv = "folders",
	.what = "the part of such waits that a folder has",
	.columns = folder_columns,
	.rows = folders,
};

const struct view_section report_cpu_files[] = {
	{ &view_cpus },
	{ &folders_csv },
	{ &gaps_csv },
	{ &view_lifespans },
	{ &phase_times_csv },
	{ &phases_csv },
	{ &process_by_cpu_csv },
	{ &processes_csv },
	{ &task_by_cpu_csv },
	{ &tasks_csv },
	{ &threads_csv },
	{ &waits_csv },
	{ 0 },
};
