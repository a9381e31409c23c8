/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What threads waited for, as text: their time in parts, and the calls that they waited in, in
 * sentences; of all threads of a name, and of each process.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/show/cpu_text.h"
#include "stats/top.h"

#define ROWS_MAX 20
#define LEAST 200 /* a line is for one of this part of all time at least */
#define LINES_MAX 8 /* of one */

#define PART_LINE "%8s %8s %10s %8s %8s %8s %8s %8s %8s  "

/* Of tasks or of roles: a call of one of them, and a folder of such a call. */
struct waits {
	bool by_task;
	struct table calls;   /* struct cpu_call, by (who, call) */
	struct table folders; /* struct part, by (number of the call, folder) */
};

struct part {
	uint64_t disk_ns, blocked_ns;
};

/* A line in the making. */
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

static uint32_t who_waits(const struct report_cpu *r, bool by_task, uint32_t role)
{
	return by_task ? ((const struct cpu_role *)table_at(&r->roles, role))->task : role;
}

static void sum_up(struct waits *w, const struct report_cpu *r, bool by_task)
{
	w->by_task = by_task;
	table_init(&w->calls, sizeof(struct cpu_call), CPU_CELLS_MAX);
	table_init(&w->folders, sizeof(struct part), CPU_CELLS_MAX);
	for (uint32_t i = 1; i < r->calls.n; i++) {
		const struct cpu_call *c = table_at(&r->calls, i);
		uint64_t key = r->calls.keys[i];
		struct cpu_call *sum = table_get(
			&w->calls, report_cpu_pair(who_waits(r, by_task, (uint32_t)(key >> 32)), (uint32_t)key));

		if (!sum)
			continue;
		sum->disk_ns += c->disk_ns;
		sum->blocked_ns += c->blocked_ns;
		sum->sleep_ns += c->sleep_ns;
		sum->waits += c->waits;
	}
	for (uint32_t i = 0; i < r->folders.n; i++) {
		const struct cpu_folder *f = table_at(&r->folders, i);
		uint64_t key = r->calls.keys[f->call];
		struct cpu_call *c = table_find(&w->calls, report_cpu_pair(who_waits(r, by_task, (uint32_t)(key >> 32)),
									   (uint32_t)key));
		struct part *p = c ? table_get(&w->folders,
					       report_cpu_pair(report_cpu_number(&w->calls, c), f->folder))
				   : NULL;
		const struct cpu_call *whole = table_at(&r->calls, f->call);

		if (!p)
			continue;
		p->disk_ns += report_cpu_folder_ns(r, f, whole->disk_ns);
		p->blocked_ns += report_cpu_folder_ns(r, f, whole->blocked_ns);
	}
}

/* --- lines --------------------------------------------------------------------------------------------- */

static void line_add(struct lines *l, uint64_t ns, const char *how, uint32_t call, const char *folder)
{
	struct line *at = TOP_PLACE(l->v, l->n, LINES_MAX, e, e->ns, ns);

	if (at)
		*at = (struct line){ ns, how, folder, call };
}

/* Of a wait in call I: folders that have at least LEAST of it, and what is left without one. */
static void folder_lines(const struct report_cpu *r, const struct waits *w, uint32_t i, bool disk,
			 uint64_t least, struct lines *l)
{
	const struct cpu_call *c = table_at(&w->calls, i);
	uint64_t rest = disk ? c->disk_ns : c->blocked_ns;
	const char *how = disk ? "in disk wait" : "blocked";

	for (uint32_t f = 0; f < w->folders.n && rest >= least; f++) {
		const struct part *p = table_at(&w->folders, f);
		uint64_t ns = disk ? p->disk_ns : p->blocked_ns;

		if (w->folders.keys[f] >> 32 != i || ns < least || !r->folder_names[(uint32_t)w->folders.keys[f]])
			continue;
		line_add(l, ns, how, (uint32_t)w->calls.keys[i], r->folder_names[(uint32_t)w->folders.keys[f]]);
		rest -= MIN(ns, rest);
	}
	if (rest >= least)
		line_add(l, rest, how, (uint32_t)w->calls.keys[i], NULL);
}

static void collect(const struct report_cpu *r, const struct waits *w, uint32_t one, uint64_t least, struct lines *l)
{
	for (uint32_t i = 0; i < w->calls.n; i++) {
		const struct cpu_call *c = table_at(&w->calls, i);
		uint32_t call = (uint32_t)w->calls.keys[i];

		if (w->calls.keys[i] >> 32 != one)
			continue;
		folder_lines(r, w, i, true, least, l);
		folder_lines(r, w, i, false, least, l);
		if (c->sleep_ns >= least)
			line_add(l, c->sleep_ns, "asleep", call, NULL);
	}
}

static const char *rough_percent(char buf[16], uint64_t part, uint64_t whole)
{
	double v = whole ? 100.0 * (double)part / (double)whole : 0;

	snprintf(buf, 16, v < 9.95 ? "%.1f %%" : "%.0f %%", v);
	return buf;
}

#define ROUGH(part, whole) rough_percent((char[16]){ 0 }, part, whole)

static void put_call(const struct report_cpu *r, const struct line *l, FILE *out)
{
	static const struct { const char *call, *text;
	} others[] = {
		{ "fault", "inside page faults" },
		{ "stopped", "stopped by a signal or a debugger" },
		{ "worker", "as a worker of the kernel" },
		{ "compat", "inside a 32-bit call" },
	};
	const char *name = r->call_names[l->call];

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (strcmp(name, others[i].call) == 0) {
			fputs(others[i].text, out);
			if (l->folder)
				fputs(i ? " of " : " of files mapped from ", out);
			return;
		}
	fputs("inside ", out);
	fmt_text(out, name, 0);
	fputs(l->folder ? "() of " : "()", out);
}

static void put_lines(const struct report_cpu *r, const struct lines *l, const char *comm, uint32_t pid,
		      uint64_t life_ns, FILE *out)
{
	for (unsigned int i = 0; i < l->n; i++) {
		fputs("  ", out);
		fmt_text(out, comm, 0);
		if (pid)
			fprintf(out, " %" PRIu32, pid);
		fprintf(out, ": %s of its time %s ", ROUGH(l->v[i].ns, life_ns), l->v[i].how);
		put_call(r, &l->v[i], out);
		if (l->v[i].folder)
			fmt_text(out, l->v[i].folder, 0);
		fputc('\n', out);
	}
}

/* --- tables -------------------------------------------------------------------------------------------- */

static void header(FILE *out, const char *last)
{
	fprintf(out, PART_LINE "%s\n", "PID", "THREADS", "WALL", "RUNNING", "RUNNABLE", "DISK", "BLOCKED",
		"SLEEPING", "?", last);
}

static uint64_t whole_ns(const struct cpu_sums *s, uint64_t life_ns)
{
	return MAX(life_ns, report_cpu_known_ns(s));
}

static void row(const struct report_cpu *r, const struct waits *w, uint32_t one, const struct cpu_sums *s,
		uint64_t life_ns, uint32_t threads, uint32_t pid, const char *comm, FILE *out)
{
	uint64_t whole = whole_ns(s, life_ns);
	struct lines l = { .n = 0 };

	fprintf(out, PART_LINE, pid ? FMT_COUNT(pid) : "", FMT_COUNT(threads), FMT_NS(whole),
		ROUGH(s->run_ns, whole), ROUGH(s->runq_ns, whole), ROUGH(s->disk_ns, whole),
		ROUGH(s->blocked_ns, whole), ROUGH(s->sleep_ns, whole),
		ROUGH(whole - report_cpu_known_ns(s), whole));
	fmt_text(out, comm, 0);
	fputc('\n', out);
	collect(r, w, one, MAX(whole / 1000 * r->options.threshold_permille, 1), &l);
	put_lines(r, &l, comm, pid, whole, out);
}

static uint64_t task_key(const void *v)
{
	const struct cpu_task *t = v;

	return t->kind == CPU_TARGET ? whole_ns(&t->sums, t->life_ns) : 0;
}

static uint64_t role_key(const void *v)
{
	const struct cpu_role *role = v;

	return whole_ns(&role->sums, role->life_ns);
}

static bool is_target(const struct report_cpu *r, const struct cpu_role *role)
{
	return ((const struct cpu_task *)table_at(&r->tasks, role->task))->kind == CPU_TARGET;
}

static void tasks(const struct report_cpu *r, const struct waits *w, FILE *out)
{
	autofree uint32_t *order = report_cpu_order(&r->tasks, task_key);
	uint64_t total_ns = 0;
	uint32_t shown = 0, all = 0;

	for (uint32_t i = 0; i < r->tasks.n; i++)
		total_ns += task_key(table_at(&r->tasks, i));
	fputs("\nWhy was it waiting: by thread name (WALL: the lives of its threads, added up; ?: not known)\n", out);
	header(out, "COMM");
	for (uint32_t i = 0; order && i < r->tasks.n; i++) {
		const struct cpu_task *t = table_at(&r->tasks, order[i]);

		if (!task_key(t))
			break;
		if (all++ < ROWS_MAX && task_key(t) >= total_ns / LEAST) {
			row(r, w, order[i], &t->sums, t->life_ns, t->threads, 0, t->comm, out);
			shown++;
		}
	}
	if (all > shown)
		fprintf(out, "and %u more\n", all - shown);
}

static void roles(const struct report_cpu *r, const struct waits *w, FILE *out)
{
	autofree uint32_t *order = report_cpu_order(&r->roles, role_key);
	uint64_t total_ns = 0;
	uint32_t shown = 0, all = 0;

	for (uint32_t i = 0; i < r->roles.n; i++)
		total_ns += is_target(r, table_at(&r->roles, i)) ? role_key(table_at(&r->roles, i)) : 0;
	fputs("\nWhy was it waiting: by process\n", out);
	header(out, "COMM");
	for (uint32_t i = 0; order && i < r->roles.n; i++) {
		const struct cpu_role *role = table_at(&r->roles, order[i]);
		const struct cpu_task *t = table_at(&r->tasks, role->task);
		const struct cpu_proc *p = table_at(&r->procs, role->proc);

		if (!is_target(r, role) || !role_key(role))
			continue;
		if (all++ < ROWS_MAX && role_key(role) >= total_ns / LEAST) {
			row(r, w, order[i], &role->sums, role->life_ns, role->threads, p->pid, t->comm, out);
			shown++;
		}
	}
	if (all > shown)
		fprintf(out, "and %u more\n", all - shown);
}

void report_cpu_text_waits(const void *of, FILE *out)
{
	const struct report_cpu *r = of;
	struct waits w = { 0 };

	sum_up(&w, r, true);
	tasks(r, &w, out);
	table_free(&w.calls);
	table_free(&w.folders);
	sum_up(&w, r, false);
	roles(r, &w, out);
	table_free(&w.calls);
	table_free(&w.folders);
	if (r->folders.n)
		fputs("DISK: uninterruptible, for I/O; BLOCKED: uninterruptible else (a file system's journal, locks). The folders'\n"
		      "parts are by the latencies of the calls that went there (of those that made the kernel fetch, where there\n"
		      "are any), of page faults by the sizes of what is mapped.\n",
		      out);
	if (!r->has_sums)
		fputs("The timeline alone tells no calls, and not whether a disk was waited for: BLOCKED has both.\n",
		      out);
}
