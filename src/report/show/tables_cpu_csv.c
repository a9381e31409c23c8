/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CSV files of `report --cpu', of a struct report_cpu: all that there is, under names of their own. Seconds have
 * nine decimals, so that sums of them are as whole as those of the trace; instants are CLOCK_MONOTONIC, as TIMESTAMP is;
 * shares are fractions. Columns are only ever added behind the others.
 */
#include <string.h>

#include "base/util.h"
#include "report/show/tables_cpu.h"

#define GET(name, type, row) VIEW_GET(name, struct report_cpu, r, type, row)
#define ROWS(name, type, parent) VIEW_ROWS_OF(name, struct report_cpu, r, type, parent)

#define OTHERS "(others)"

static uint64_t number_at(const struct view_column *c, const void *row)
{
	return *(const uint64_t *)((const char *)row + c->at);
}

static void set_share(struct view_cell *cell, uint64_t part, uint64_t whole)
{
	cell->f = whole ? (double)part / (double)whole : 0;
}

static const char *comm_of(const struct cpu_task *t)
{
	return t->kind == CPU_OTHER && strcmp(t->comm, "-") == 0 ? OTHERS : t->comm;
}

static const struct cpu_task *task_at(const void *of, uint32_t i)
{
	return table_at(&((const struct report_cpu *)of)->tasks, i);
}

/* Of the CPU time at C's place. */
GET(share_of_all, void, row)
{
	set_share(cell, number_at(c, row), r->by_cpu_ns);
}

/* Of the number of a task at C's place. */
GET(comm_at, void, row)
{
	cell->text = comm_of(task_at(r, *(const uint32_t *)((const char *)row + c->at)));
}

GET(kind_at, void, row)
{
	cell->text = report_cpu_kind_names[task_at(r, *(const uint32_t *)((const char *)row + c->at))->kind];
}

#define SECONDS(key, type, member) { key, NULL, VIEW_NS, 0, 0, VIEW_AT(type, member) }
#define NUMBER(key, type, member) { key, NULL, VIEW_COUNT, 0, 0, VIEW_AT(type, member) }
#define TEXT(key, find) { key, NULL, VIEW_TEXT, 0, VIEW_EMPTY, .get = find }
#define TEXT_AT(key, type, member, find) { key, NULL, VIEW_TEXT, 0, VIEW_EMPTY, VIEW_AT(type, member), .get = find }

/* --- tasks ------------------------------------------------------------------------------------------------- */

static uint64_t task_key(const void *v)
{
	return ((const struct cpu_task *)v)->sums.run_ns;
}

ROWS(tasks, void, parent)
{
	autofree uint32_t *order = report_cpu_order(&r->tasks, task_key);

	for (uint32_t i = 0; order && i < r->tasks.n; i++) {
		const struct cpu_task *t = task_at(r, order[i]);

		if (t->threads || t->sums.run_ns)
			view_add(rows, t);
	}
}

static const struct cpu_group *group_of(const void *of, const void *task)
{
	return table_at(&((const struct report_cpu *)of)->groups, ((const struct cpu_task *)task)->group);
}

GET(task_comm, void, row)
{
	cell->text = comm_of(row);
}

GET(task_kind, struct cpu_task, t)
{
	cell->text = report_cpu_kind_names[t->kind];
}

GET(task_group, void, row)
{
	cell->text = group_of(r, row)->name;
}

GET(task_is_worker, void, row)
{
	cell->n = group_of(r, row)->workers;
}

GET(task_busy, struct cpu_task, t)
{
	set_share(cell, t->kind == CPU_IDLE ? 0 : t->sums.run_ns, r->busy_ns);
}

static const struct view_column task_columns[] = {
	TEXT("comm", task_comm),
	NUMBER("pids", struct cpu_task, pids),
	NUMBER("threads", struct cpu_task, threads),
	SECONDS("cpu_ns", struct cpu_task, sums.run_ns),
	{ "share", NULL, VIEW_SHARE, 0, 0, VIEW_AT(struct cpu_task, sums.run_ns), .get = share_of_all },
	TEXT("kind", task_kind),
	TEXT("merged", task_group),
	{ "worker", NULL, VIEW_FLAG, .get = task_is_worker },
	{ "share_busy", NULL, VIEW_SHARE, .get = task_busy },
	SECONDS("runq_ns", struct cpu_task, sums.runq_ns),
	SECONDS("disk_wait_ns", struct cpu_task, sums.disk_ns),
	SECONDS("blocked_ns", struct cpu_task, sums.blocked_ns),
	SECONDS("sleep_ns", struct cpu_task, sums.sleep_ns),
	NUMBER("switches", struct cpu_task, sums.switches),
	NUMBER("preempted", struct cpu_task, sums.preempted),
	{ 0 },
};

static const struct view tasks_csv = {
	.csv = "tasks", .what = "all threads of a name and kind", .columns = task_columns, .rows = tasks
};

/* --- processes and threads ----------------------------------------------------------------------------------- */

ROWS(processes, void, parent)
{
	autofree uint32_t *order = report_cpu_order(&r->roles, view_role_key);

	for (uint32_t i = 0; order && i < r->roles.n; i++) {
		const struct cpu_role *role = table_at(&r->roles, order[i]);

		if (role->threads || role->sums.run_ns)
			view_add(rows, role);
	}
}

GET(role_pid, void, row)
{
	cell->n = view_role_pid(r, row);
}

static const struct view_column process_columns[] = {
	{ "pid", NULL, VIEW_ID, .get = role_pid },
	TEXT_AT("comm", struct cpu_role, task, comm_at),
	SECONDS("cpu_ns", struct cpu_role, sums.run_ns),
	SECONDS("runq_ns", struct cpu_role, sums.runq_ns),
	SECONDS("disk_wait_ns", struct cpu_role, sums.disk_ns),
	SECONDS("sleep_ns", struct cpu_role, sums.sleep_ns),
	NUMBER("switches", struct cpu_role, sums.switches),
	{ "share", NULL, VIEW_SHARE, 0, 0, VIEW_AT(struct cpu_role, sums.run_ns), .get = share_of_all },
	TEXT_AT("kind", struct cpu_role, task, kind_at),
	NUMBER("threads", struct cpu_role, threads),
	SECONDS("blocked_ns", struct cpu_role, sums.blocked_ns),
	SECONDS("life_ns", struct cpu_role, life_ns),
	NUMBER("preempted", struct cpu_role, sums.preempted),
	{ 0 },
};

static const struct view processes_csv = {
	.csv = "processes", .what = "a process under one of its names", .columns = process_columns, .rows = processes
};

ROWS(threads, void, parent)
{
	for (uint32_t i = 0; i < r->threads.n; i++) {
		const struct cpu_thread *t = table_at(&r->threads, i);

		if (i || t->sums.run_ns)
			view_add(rows, t);
	}
}

static const struct cpu_proc *proc_of(const void *of, const void *thread)
{
	return table_at(&((const struct report_cpu *)of)->procs, ((const struct cpu_thread *)thread)->proc);
}

GET(thread_pid, void, row)
{
	cell->n = proc_of(r, row)->pid;
}

GET(thread_kind, void, row)
{
	cell->text = report_cpu_kind_names[proc_of(r, row)->kind];
}

/* The instant at C's place, of a life that is known. */
GET(thread_when, struct cpu_thread, t)
{
	cell->known = t->has_life;
	cell->n = number_at(c, t);
}

GET(thread_life, struct cpu_thread, t)
{
	cell->known = t->has_life;
	cell->n = t->has_life ? report_cpu_life_ns(t) : 0;
}

GET(thread_idle, struct cpu_thread, t)
{
	thread_life(c, r, t, cell);
	cell->n -= MIN(cell->n, t->sums.run_ns);
}

GET(thread_born, struct cpu_thread, t)
{
	cell->n = t->has_life && t->born;
}

GET(thread_ended, struct cpu_thread, t)
{
	cell->n = t->has_life && t->ended;
}

static const struct view_column thread_columns[] = {
	{ "tid", NULL, VIEW_ID, 0, 0, VIEW_AT(struct cpu_thread, tid) },
	{ "pid", NULL, VIEW_ID, .get = thread_pid },
	TEXT_AT("comm", struct cpu_thread, task, comm_at),
	{ "start_ns", NULL, VIEW_NS, 0, 0, VIEW_AT(struct cpu_thread, start_ns), .get = thread_when },
	{ "end_ns", NULL, VIEW_NS, 0, 0, VIEW_AT(struct cpu_thread, end_ns), .get = thread_when },
	SECONDS("cpu_ns", struct cpu_thread, sums.run_ns),
	SECONDS("runq_ns", struct cpu_thread, sums.runq_ns),
	SECONDS("disk_wait_ns", struct cpu_thread, sums.disk_ns),
	SECONDS("sleep_ns", struct cpu_thread, sums.sleep_ns),
	TEXT("kind", thread_kind),
	SECONDS("blocked_ns", struct cpu_thread, sums.blocked_ns),
	{ "life_ns", NULL, VIEW_NS, .get = thread_life },
	{ "idle_ns", NULL, VIEW_NS, .get = thread_idle },
	{ "born", NULL, VIEW_FLAG, .get = thread_born },
	{ "ended", NULL, VIEW_FLAG, .get = thread_ended },
	TEXT_AT("first_comm", struct cpu_thread, first_task, comm_at),
	NUMBER("switches", struct cpu_thread, sums.switches),
	NUMBER("preempted", struct cpu_thread, sums.preempted),
	{ "share", NULL, VIEW_SHARE, 0, 0, VIEW_AT(struct cpu_thread, sums.run_ns), .get = share_of_all },
	{ 0 },
};

static const struct view threads_csv = {
	.csv = "threads", .what = "the life of a thread, under its last name", .columns = thread_columns, .rows = threads
};

/* --- tables with two keys: the value, and the numbers that its key is made of ------------------------------------ */

struct pair_row {
	const void *value;
	uint64_t ns, whole_ns, switches;
	uint32_t first, second, task; /* task: of FIRST, or SECOND */
	uint64_t pid;
	const char *name;
};

static int by_pair(const void *a, const void *b, void *keys)
{
	uint64_t x = ((const uint64_t *)keys)[*(const uint32_t *)a], y = ((const uint64_t *)keys)[*(const uint32_t *)b];

	return (x > y) - (x < y);
}

/* A row for each of the entries of T, but the first SKIP, by the first key and then by the second; FILL does the rest of it. */
static void pairs(const struct report_cpu *r, const struct table *t, uint32_t skip,
		  void (*fill)(const struct report_cpu *r, struct pair_row *p), struct view_rows *rows)
{
	autofree uint32_t *order = calloc(t->n + 1, sizeof(*order));

	for (uint32_t i = 0; order && i < t->n; i++)
		order[i] = i;
	if (order && t->n)
		qsort_r(order, t->n, sizeof(*order), by_pair, t->keys);
	for (uint32_t i = 0; order && i < t->n; i++) {
		/* the first is that of all beyond the table's end */
		struct pair_row *p = order[i] >= skip ? view_make(rows, sizeof(*p)) : NULL;

		if (!p)
			continue;
		p->value = table_at(t, order[i]);
		p->first = (uint32_t)(t->keys[order[i]] >> 32);
		p->second = (uint32_t)t->keys[order[i]];
		fill(r, p);
	}
}

static void of_role(const struct report_cpu *r, struct pair_row *p)
{
	const struct cpu_role *role = table_at(&r->roles, p->first);

	p->pid = view_role_pid(r, role);
	p->task = role->task;
}

static void on_cpu(const struct report_cpu *r, struct pair_row *p)
{
	const struct cpu_cell *cell = p->value;

	p->ns = cell->run_ns;
	p->whole_ns = r->cpus[p->second].busy_ns + r->cpus[p->second].idle_ns;
	p->switches = cell->switches;
}

GET(pair_share, struct pair_row, p)
{
	set_share(cell, p->ns, p->whole_ns);
}

#define PID_COLUMN { "pid", NULL, VIEW_ID, 0, 0, VIEW_AT(struct pair_row, pid) }
#define COMM_COLUMN TEXT_AT("comm", struct pair_row, task, comm_at)
#define KIND_COLUMN TEXT_AT("kind", struct pair_row, task, kind_at)
#define SHARE_COLUMN { "share", NULL, VIEW_SHARE, .get = pair_share }
#define CPU_COLUMNS                                                                                                         \
	{ "cpu", NULL, VIEW_ID, 0, 0, VIEW_AT(struct pair_row, second) }, SECONDS("cpu_ns", struct pair_row, ns),           \
		SHARE_COLUMN, NUMBER("switches", struct pair_row, switches)

static void task_cpu(const struct report_cpu *r, struct pair_row *p)
{
	p->task = p->first;
	on_cpu(r, p);
}

ROWS(task_by_cpu, void, parent)
{
	pairs(r, &r->task_cpus, 1, task_cpu, rows);
}

static const struct view_column task_by_cpu_columns[] = { COMM_COLUMN, CPU_COLUMNS, KIND_COLUMN, { 0 } };
static const struct view task_by_cpu_csv = { .csv = "task_by_cpu",
					     .what = "a task on a CPU; share is of the CPU's time",
					     .columns = task_by_cpu_columns,
					     .rows = task_by_cpu };

static void role_cpu(const struct report_cpu *r, struct pair_row *p)
{
	of_role(r, p);
	on_cpu(r, p);
}

ROWS(process_by_cpu, void, parent)
{
	pairs(r, &r->role_cpus, 1, role_cpu, rows);
}

static const struct view_column process_by_cpu_columns[] = { PID_COLUMN, COMM_COLUMN, CPU_COLUMNS, KIND_COLUMN, { 0 } };
static const struct view process_by_cpu_csv = {
	.csv = "process_by_cpu",
	.what = "a process on a CPU; share is of the CPU's time",
	.columns = process_by_cpu_columns,
	.rows = process_by_cpu,
};

/* --- phases ------------------------------------------------------------------------------------------------------ */

static void phase_task(const struct report_cpu *r, struct pair_row *p)
{
	p->task = p->second;
	p->ns = *(const uint64_t *)p->value;
	p->whole_ns = r->phases[p->first].run_ns;
}

ROWS(phases, void, parent)
{
	pairs(r, &r->phase_tasks, 0, phase_task, rows);
}

static const struct cpu_phase *phase_of(const void *of, const void *row)
{
	return &((const struct report_cpu *)of)->phases[((const struct pair_row *)row)->first];
}

GET(phase_name, void, row)
{
	cell->text = phase_of(r, row)->name;
}

GET(phase_source, void, row)
{
	cell->text = phase_of(r, row)->source;
}

GET(phase_times, void, row)
{
	cell->n = phase_of(r, row)->times;
}

GET(phase_wall, void, row)
{
	cell->n = phase_of(r, row)->wall_ns;
}

static const struct view_column phase_columns[] = {
	TEXT("phase", phase_name), COMM_COLUMN, SECONDS("cpu_ns", struct pair_row, ns), SHARE_COLUMN,
	{ "times", NULL, VIEW_COUNT, .get = phase_times }, { "wall_ns", NULL, VIEW_NS, .get = phase_wall },
	TEXT("source", phase_source), KIND_COLUMN, { 0 },
};
static const struct view phases_csv = { .csv = "phases",
					.what = "a task in a phase; share is of the phase's CPU time",
					.columns = phase_columns,
					.rows = phases };

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
				*row = (struct time_row){ r->phases[i].name, r->phases[i].source, v->start_ns, v->end_ns,
							  v->end_ns - v->start_ns };
		}
}

static const struct view_column time_columns[] = {
	{ "phase", NULL, VIEW_TEXT, 0, VIEW_EMPTY, VIEW_AT(struct time_row, phase) },
	SECONDS("start_ns", struct time_row, start_ns),
	SECONDS("end_ns", struct time_row, end_ns),
	SECONDS("wall_ns", struct time_row, wall_ns),
	{ "source", NULL, VIEW_TEXT, 0, VIEW_EMPTY, VIEW_AT(struct time_row, source) },
	{ 0 },
};
static const struct view phase_times_csv = {
	.csv = "phase_times", .what = "when a phase was", .columns = time_columns, .rows = times
};

/* --- gaps ---------------------------------------------------------------------------------------------------------- */

ROWS(gaps, void, parent)
{
	for (uint32_t i = 0; i < r->gaps.n; i++)
		view_add(rows, &r->gaps.v[i]);
}

GET(gap_kind, struct gap, g)
{
	cell->text = gap_kind_names[g->kind];
}

/* The instant at C's place. */
GET(gap_when, struct gap, g)
{
	cell->known = g->begin_ns;
	cell->n = number_at(c, g);
}

GET(gap_length, struct gap, g)
{
	gap_when(c, r, g, cell);
	cell->s = g->ns;
}

GET(gap_cpu, struct gap, g)
{
	cell->known = g->cpu != GAP_ALL_CPUS;
	cell->n = g->cpu;
}

GET(gap_records, void, row)
{
	cell->n = number_at(c, row);
	cell->known = cell->n;
}

static const struct view_column gap_columns[] = {
	TEXT("kind", gap_kind),
	{ "start_ns", NULL, VIEW_NS, 0, 0, VIEW_AT(struct gap, begin_ns), .get = gap_when },
	{ "end_ns", NULL, VIEW_NS, 0, 0, VIEW_AT(struct gap, end_ns), .get = gap_when },
	{ "length_ns", NULL, VIEW_SIGNED_NS, 0, 0, VIEW_AT(struct gap, ns), .get = gap_length },
	{ "cpu", NULL, VIEW_ID, .get = gap_cpu },
	{ "records", NULL, VIEW_COUNT, 0, 0, VIEW_AT(struct gap, count), .get = gap_records },
	{ 0 },
};
static const struct view gaps_csv = { .csv = "gaps", .what = "a gap", .columns = gap_columns, .rows = gaps };

/* --- waits, and the folders of calls --------------------------------------------------------------------------------- */

/* What a call waited in a folder. */
struct folder_row {
	struct pair_row p; /* first: so that columns of pairs fit */
	uint64_t disk_ns, blocked_ns;
	const char *folder_name;
};

static void wait_call(const struct report_cpu *r, struct pair_row *p)
{
	of_role(r, p);
	p->name = r->call_names[p->second];
}

ROWS(waits, void, parent)
{
	pairs(r, &r->calls, 1, wait_call, rows);
}

/* The number at C's place in the struct cpu_call. */
GET(wait_number, struct pair_row, p)
{
	cell->n = number_at(c, p->value);
}

#define CALL_COLUMN { "call", NULL, VIEW_TEXT, 0, VIEW_EMPTY, VIEW_AT(struct pair_row, name) }
#define WAIT(key, kind, member) { key, NULL, kind, 0, 0, VIEW_AT(struct cpu_call, member), .get = wait_number }

static const struct view_column wait_columns[] = {
	PID_COLUMN, COMM_COLUMN, CALL_COLUMN, WAIT("waits", VIEW_COUNT, waits), WAIT("disk_wait_ns", VIEW_NS, disk_ns),
	WAIT("blocked_ns", VIEW_NS, blocked_ns), WAIT("sleep_ns", VIEW_NS, sleep_ns), WAIT("max_ns", VIEW_NS, max_ns), { 0 },
};
static const struct view waits_csv = {
	.csv = "waits", .what = "what a process waited for in a call", .columns = wait_columns, .rows = waits
};

ROWS(folders, void, parent)
{
	for (uint32_t i = 0; i < r->folders.n; i++) {
		const struct cpu_folder *f = table_at(&r->folders, i);
		const struct cpu_call *call = table_at(&r->calls, f->call);
		struct folder_row *row = r->folder_names[f->folder] ? view_make(rows, sizeof(*row)) : NULL;

		if (!row)
			continue;
		row->p.value = f;
		row->p.first = (uint32_t)(r->calls.keys[f->call] >> 32);
		row->p.second = (uint32_t)r->calls.keys[f->call];
		wait_call(r, &row->p);
		row->disk_ns = report_cpu_folder_ns(r, f, call->disk_ns);
		row->blocked_ns = report_cpu_folder_ns(r, f, call->blocked_ns);
		row->folder_name = r->folder_names[f->folder];
	}
}

#define FOLDER(key, kind, member) { key, NULL, kind, 0, 0, VIEW_AT(struct cpu_folder, member), .get = wait_number }

static const struct view_column folder_columns[] = {
	PID_COLUMN,
	COMM_COLUMN,
	CALL_COLUMN,
	{ "folder", NULL, VIEW_TEXT, 0, VIEW_EMPTY, VIEW_AT(struct folder_row, folder_name) },
	SECONDS("disk_wait_ns", struct folder_row, disk_ns),
	SECONDS("blocked_ns", struct folder_row, blocked_ns),
	FOLDER("calls", VIEW_COUNT, calls),
	FOLDER("disk_calls", VIEW_COUNT, disk_calls),
	FOLDER("disk_bytes", VIEW_BYTES, disk_bytes),
	{ 0 },
};
static const struct view folders_csv = {
	.csv = "folders", .what = "the part of such waits that a folder has", .columns = folder_columns, .rows = folders
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
