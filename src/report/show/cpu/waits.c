/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The waits of threads: their time in parts, and the calls that they waited in; of all threads of a name, and, in text,
 * of each process. Text has the calls in sentences, with the folders of their files.
 */
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/show/cpu/tables.h"
#include "stats/top.h"

#define ROWS_MAX 20
#define LEAST 200 /* a name has a line from this part of all time on: a 200th */
#define LINES_MAX 8 /* lines of one name */
#define CALLS_SHOWN 8

#define GET(name, type, row) VIEW_GET(name, struct report_cpu, r, type, row)
#define ROWS(name, type, parent) VIEW_ROWS_OF(name, struct report_cpu, r, type, parent)

/* All threads of a name, or a process under one of its names. */
struct one {
	struct cpu_sums sums;
	uint64_t wall_ns, unknown_ns; /* wall_ns: lives of its threads, which rounding in the rows may exceed */
	uint32_t number, threads, pid;
	bool is_role; /* NUMBER is that of a role, else of a task */
	const char *comm;
};

/* The waits of its calls in one folder. */
struct part {
	uint64_t disk_ns, blocked_ns;
};

/* A line before it is printed. */
struct line {
	uint64_t ns;
	const char *how; /* "in disk wait" */
	const char *folder;
	uint32_t call;
};

struct lines {
	struct line v[LINES_MAX];
	unsigned int n;
};

/* --- summing up --------------------------------------------------------------------------------------- */

static uint64_t wait_ns(const struct cpu_call *c)
{
	return c->disk_ns + c->blocked_ns + c->sleep_ns;
}

/* Whether the entry I of the table of calls is of V. */
static bool is_of(const struct report_cpu *r, const struct one *v, uint32_t i)
{
	uint32_t role = (uint32_t)(r->calls.keys[i] >> 32);

	return v->number == (v->is_role ? role : ((const struct cpu_role *)table_at(&r->roles, role))->task);
}

static void sum_calls(const struct report_cpu *cpu, const struct one *one, struct table *calls)
{
	table_init(calls, sizeof(struct cpu_call), CPU_CALLS_MAX);
	for (uint32_t i = 1; i < cpu->calls.n; i++) {
		const struct cpu_call *c = table_at(&cpu->calls, i);
		struct cpu_call *sum =
			is_of(cpu, one, i) && wait_ns(c) ? table_get(calls, (uint32_t)cpu->calls.keys[i]) : NULL;

		if (!sum)
			continue;
		sum->disk_ns += c->disk_ns;
		sum->blocked_ns += c->blocked_ns;
		sum->sleep_ns += c->sleep_ns;
		sum->waits += c->waits;
		sum->max_ns = MAX(sum->max_ns, c->max_ns);
	}
}

static void sum_folders(const struct report_cpu *cpu, const struct one *one, struct table *folders)
{
	table_init(folders, sizeof(struct part), CPU_CELLS_MAX);
	for (uint32_t i = 0; i < cpu->folders.n; i++) {
		const struct cpu_folder *f = table_at(&cpu->folders, i);
		const struct cpu_call *whole = table_at(&cpu->calls, f->call);
		struct part *p =
			is_of(cpu, one, f->call) ?
				table_get(folders, report_cpu_pair((uint32_t)cpu->calls.keys[f->call], f->folder)) :
				NULL;

		if (!p)
			continue;
		p->disk_ns += report_cpu_folder_ns(cpu, f, whole->disk_ns);
		p->blocked_ns += report_cpu_folder_ns(cpu, f, whole->blocked_ns);
	}
}

/* --- sentences ------------------------------------------------------------------------------------------ */

static void line_add(struct lines *l, uint64_t ns, const char *how, uint32_t call, const char *folder)
{
	struct line *at = TOP_PLACE(l->v, l->n, LINES_MAX, e, e->ns, ns);

	if (at)
		*at = (struct line){ ns, how, folder, call };
}

/* Adds lines for a wait in CALL: folders with at least LEAST of it, and the rest without a folder. */
static void folder_lines(const struct report_cpu *cpu, const struct table *folders, uint32_t call,
			 const struct cpu_call *cpu_call, bool disk, uint64_t least, struct lines *lines)
{
	uint64_t rest = disk ? cpu_call->disk_ns : cpu_call->blocked_ns;
	const char *how = disk ? "in disk wait" : "blocked";

	for (uint32_t f = 0; f < folders->n && rest >= least; f++) {
		const struct part *p = table_at(folders, f);
		const char *name = folders_path(&cpu->tree, (uint32_t)folders->keys[f]);
		uint64_t ns = disk ? p->disk_ns : p->blocked_ns;

		if (folders->keys[f] >> 32 != call || ns < least || !name)
			continue;
		line_add(lines, ns, how, call, name);
		rest -= MIN(ns, rest);
	}
	if (rest >= least)
		line_add(lines, rest, how, call, NULL);
}

static void collect(const struct report_cpu *cpu, const struct one *one, struct lines *lines)
{
	const uint64_t least = MAX(one->wall_ns / 1000 * cpu->options.threshold_permille, 1);
	struct table calls, folders;

	sum_calls(cpu, one, &calls);
	sum_folders(cpu, one, &folders);
	for (uint32_t i = 0; i < calls.n; i++) {
		const struct cpu_call *c = table_at(&calls, i);
		uint32_t call = (uint32_t)calls.keys[i];

		folder_lines(cpu, &folders, call, c, true, least, lines);
		folder_lines(cpu, &folders, call, c, false, least, lines);
		if (c->sleep_ns >= least)
			line_add(lines, c->sleep_ns, "asleep", call, NULL);
	}
	table_free(&calls);
	table_free(&folders);
}

static const char *rough_percent(char buf[16], uint64_t part, uint64_t whole)
{
	double v = whole ? 100.0 * (double)part / (double)whole : 0;

	snprintf(buf, 16, v < 9.95 ? "%.1f %%" : "%.0f %%", v);
	return buf;
}

static void put_call(const struct report_cpu *cpu, const struct line *line, FILE *out)
{
	static const struct {
		const char *call, *text;
	} others[] = {
		{ "fault", "inside page faults" },
		{ "stopped", "stopped by a signal or a debugger" },
		{ "worker", "as a worker of the kernel" },
		{ "compat", "inside a 32-bit call" },
	};
	const char *name = cpu->call_names[line->call];

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (strcmp(name, others[i].call) == 0) {
			fputs(others[i].text, out);
			if (line->folder)
				fputs(i ? " of " : " of files mapped from ", out);
			return;
		}
	fputs("inside ", out);
	fmt_text(out, name, 0);
	fputs(line->folder ? "() of " : "()", out);
}

static void sentences(const void *of, const void *row, FILE *out)
{
	const struct one *one = row;
	struct lines l = { .n = 0 };

	collect(of, one, &l);
	for (unsigned int i = 0; i < l.n; i++) {
		fputs("  ", out);
		fmt_text(out, one->comm, 0);
		if (one->pid)
			fprintf(out, " %s", FMT_COUNT(one->pid));
		fprintf(out, ": %s of its time %s ", rough_percent((char[16]){ 0 }, l.v[i].ns, one->wall_ns),
			l.v[i].how);
		put_call(of, &l.v[i], out);
		if (l.v[i].folder)
			fmt_text(out, l.v[i].folder, 0);
		fputc('\n', out);
	}
}

/* --- tables -------------------------------------------------------------------------------------------- */

static void add(struct view_rows *rows, const struct one *v, uint64_t life_ns)
{
	uint64_t known_ns = report_cpu_known_ns(&v->sums);
	struct one *row = known_ns || life_ns ? view_make(rows, sizeof(*row)) : NULL;

	if (!row)
		return;
	*row = *v;
	row->wall_ns = MAX(life_ns, known_ns);
	row->unknown_ns = row->wall_ns - known_ns;
}

ROWS(tasks, void, parent)
{
	for (uint32_t i = 0; i < r->tasks.n; i++) {
		const struct cpu_task *t = report_cpu_task_at(r, i);

		if (t->kind == CPU_TARGET)
			add(rows, &(struct one){ .sums = t->sums, .number = i, .threads = t->threads, .comm = t->comm },
			    t->life_ns);
	}
	VIEW_SORT(rows, 0, struct one, wall_ns);
}

ROWS(roles, void, parent)
{
	for (uint32_t i = 0; i < r->roles.n; i++) {
		const struct cpu_role *role = table_at(&r->roles, i);
		const struct cpu_task *t = report_cpu_task_at(r, role->task);

		if (t->kind == CPU_TARGET)
			add(rows,
			    &(struct one){ .sums = role->sums,
					   .number = i,
					   .threads = role->threads,
					   .comm = t->comm,
					   .is_role = true,
					   .pid = ((const struct cpu_proc *)table_at(&r->procs, role->proc))->pid },
			    role->life_ns);
	}
	VIEW_SORT(rows, 0, struct one, wall_ns);
}

/* Keeps the rows that have a line; the total is how many there were. */
static void keep_longest(struct view_rows *rows)
{
	uint64_t total_ns = 0;
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++)
		total_ns += ((const struct one *)rows->v[i].row)->wall_ns;
	while (n < MIN(rows->n, ROWS_MAX) && ((const struct one *)rows->v[n].row)->wall_ns >= total_ns / LEAST)
		n++;
	rows->total = rows->n;
	rows->n = n;
}

ROWS(long_tasks, void, parent)
{
	tasks(r, parent, rows);
	keep_longest(rows);
}

ROWS(long_roles, void, parent)
{
	roles(r, parent, rows);
	keep_longest(rows);
}

GET(pid, struct one, v)
{
	cell->n = v->pid;
	if (!v->pid)
		strcpy(cell->shown, " ");
}

/* A sum at C's place, as a part of its time. */
GET(part, struct one, v)
{
	rough_percent(cell->shown, view_number(c, v), v->wall_ns);
}

/* --- calls, in JSON -------------------------------------------------------------------------------------- */

struct call_row {
	struct cpu_call call;
	const char *name;
	uint64_t ns;
};

ROWS(calls, struct one, v)
{
	size_t first = rows->n;
	struct table sums;

	sum_calls(r, v, &sums);
	for (uint32_t i = 0; i < sums.n; i++) {
		const struct cpu_call *c = table_at(&sums, i);
		struct call_row *row = view_make(rows, sizeof(*row));

		if (row)
			*row = (struct call_row){ *c, r->call_names[sums.keys[i]], wait_ns(c) };
	}
	table_free(&sums);
	VIEW_SORT(rows, first, struct call_row, ns);
	rows->n = MIN(rows->n, first + CALLS_SHOWN);
}

static const struct view_column call_columns[] = {
	{ "call", NULL, VIEW_TEXT, 0, 0, VIEW_AT(struct call_row, name) },
	{ "waits", NULL, VIEW_COUNT, 0, 0, VIEW_AT(struct call_row, call.waits) },
	{ "disk_ns", NULL, VIEW_NS, 0, 0, VIEW_AT(struct call_row, call.disk_ns) },
	{ "blocked_ns", NULL, VIEW_NS, 0, 0, VIEW_AT(struct call_row, call.blocked_ns) },
	{ "sleep_ns", NULL, VIEW_NS, 0, 0, VIEW_AT(struct call_row, call.sleep_ns) },
	{ "max_ns", NULL, VIEW_NS, 0, 0, VIEW_AT(struct call_row, call.max_ns) },
	{ 0 },
};

static const struct view wait_calls = {
	.key = "calls",
	.what = "the 8 calls that each waited longest in",
	.columns = call_columns,
	.rows = calls,
	.parent = &view_cpu_waits,
};

/* --- in order -------------------------------------------------------------------------------------------- */

#define PART(head, member)                                                             \
	{                                                                              \
		NULL, head, VIEW_SHARE, 8, 0, VIEW_AT(struct one, member), .get = part \
	}

static const struct view_column columns[] = {
	{ "comm", "COMM", VIEW_TEXT, 0, VIEW_EMPTY, VIEW_AT(struct one, comm) },
	{ NULL, "PID", VIEW_ID, 8, .get = pid },
	{ "threads", "THREADS", VIEW_COUNT, 8, 0, VIEW_AT(struct one, threads) },
	{ "wall_ns", "WALL", VIEW_NS, 10, 0, VIEW_AT(struct one, wall_ns),
	  .what = "the sum of its threads' lifetimes" },
	PART("RUNNING", sums.run_ns),
	PART("RUNNABLE", sums.runq_ns),
	PART("DISK", sums.disk_ns),
	PART("BLOCKED", sums.blocked_ns),
	PART("SLEEPING", sums.sleep_ns),
	PART("?", unknown_ns),
	{ "unknown_ns", NULL, VIEW_NS, 0, 0, VIEW_AT(struct one, unknown_ns) },
	CPU_SUM(struct one, "run_ns", NULL, VIEW_NS, 0, run_ns),
	CPU_SUM(struct one, "runq_ns", NULL, VIEW_NS, 0, runq_ns),
	CPU_SUMS_REST(struct one),
	CPU_SUM(struct one, "switches", NULL, VIEW_COUNT, 0, switches),
	CPU_SUM(struct one, "preempted", NULL, VIEW_COUNT, 0, preempted),
	{ "calls", NULL, VIEW_ROWS, .list = &wait_calls,
	  .what = "of `call`, `waits`, `disk_ns`, `blocked_ns`, `sleep_ns`, `max_ns`: the 8 that waited longest" },
	{ 0 },
};

const struct view view_cpu_waits = {
	.key = "waits",
	.csv = "",
	.what = "the job's threads by name, the 20 that lived longest together",
	.columns = columns,
	.rows = tasks,
	.most = ROWS_MAX,
	.least = 2,
};

static const struct view by_task = {
	.title = "Why was it waiting: by thread name",
	.note = "WALL: the sum of its threads' lifetimes; ?: not known",
	.columns = columns,
	.rows = long_tasks,
	.bare = true,
	.below = sentences,
};
static const struct view by_role = {
	.title = "Why was it waiting: by process",
	.columns = columns,
	.rows = long_roles,
	.bare = true,
	.below = sentences,
};

void report_cpu_text_waits(const void *of, FILE *out)
{
	const struct report_cpu *cpu = of;

	view_text(&by_task, cpu, out);
	view_text(&by_role, cpu, out);
	if (cpu->folders.n)
		fputs("DISK: uninterruptible, for I/O; BLOCKED: other uninterruptible waits (a file system's journal, "
		      "locks). The folders'\n"
		      "parts follow the latencies of the calls that went there (if any calls fetched from disk, of "
		      "those\n"
		      "only), and those of page faults the sizes of the mapped files.\n",
		      out);
	if (!cpu->has_sums)
		fputs("The timeline alone has no calls, and does not show whether a thread waited for a disk: BLOCKED "
		      "has both.\n",
		      out);
}
