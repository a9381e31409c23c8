/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A struct report_cpu as JSON. Of what there may be very many of, tasks, processes, threads, calls and gaps,
 * the first are told, and the others in a sum: so sums are whole here too.
 */
#include "report/show/cpu_json.h"

#include <errno.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/util.h"
#include "report/cpu/cpu.h"

#define TASKS_SHOWN 40 /* all that have 3 %, which the text tells, are among these */
#define PROCESSES_SHOWN 40
#define THREADS_SHOWN 40
#define WAITS_SHOWN 20
#define CALLS_SHOWN 8 /* of one of them */
#define GAPS_SHOWN 100

/* Of MOST, where a page would be too large: half of them, and so on. */
static uint32_t shown_of(const struct report_cpu *r, uint32_t most)
{
	return MAX(most >> r->thin, 2U);
}

static void sums(struct json *j, const struct cpu_sums *s)
{
	json_u64(j, "run_ns", s->run_ns);
	json_u64(j, "runq_ns", s->runq_ns);
	json_u64(j, "disk_ns", s->disk_ns);
	json_u64(j, "blocked_ns", s->blocked_ns);
	json_u64(j, "sleep_ns", s->sleep_ns);
	json_u64(j, "switches", s->switches);
	json_u64(j, "preempted", s->preempted);
}

/* What is not told one by one: N of them. */
static void others(struct json *j, const char *key, uint64_t n, const struct cpu_sums *s)
{
	json_object(j, key);
	json_u64(j, "n", n);
	sums(j, s);
	json_end(j);
}

/* --- CPUs ----------------------------------------------------------------------------------------------- */

static bool is_seen(const struct cpu_cpu *c)
{
	return c->busy_ns + c->idle_ns + c->switches != 0;
}

static void cpus(const struct report_cpu *r, struct json *j)
{
	json_array(j, "cpus");
	for (uint32_t i = 0; i < r->n_cpus; i++) {
		const struct cpu_cpu *c = &r->cpus[i];

		if (!is_seen(c))
			continue;
		json_object(j, NULL);
		json_u64(j, "cpu", i);
		json_u64(j, "busy_ns", c->busy_ns);
		json_u64(j, "idle_ns", c->idle_ns);
		json_u64(j, "switches", c->switches);
		json_end(j);
	}
	json_end(j);
}

/* --- tasks ---------------------------------------------------------------------------------------------- */

/* Which groups have a row, and what each ran on each CPU; the last row is that of all others. */
struct matrix {
	uint32_t *order, *row_of;
	uint64_t *run_ns; /* [row][cpu] */
	uint32_t rows;
};

static uint64_t group_key(const void *v)
{
	return ((const struct cpu_group *)v)->sums.run_ns;
}

static bool is_shown(const struct cpu_group *g, uint32_t shown, uint32_t most)
{
	return g->tasks && (g->kind == CPU_IDLE || g->kind == CPU_SELF || shown < most);
}

static void matrix_free(struct matrix *m)
{
	free(m->order);
	free(m->row_of);
	free(m->run_ns);
}

static bool matrix_make(struct matrix *m, const struct report_cpu *r)
{
	m->order = report_cpu_order(&r->groups, group_key);
	m->row_of = calloc(r->groups.n + 1, sizeof(*m->row_of));
	for (uint32_t i = 0; m->order && m->row_of && i < r->groups.n; i++) {
		bool shown = is_shown(table_at(&r->groups, m->order[i]), m->rows, shown_of(r, TASKS_SHOWN));

		m->row_of[m->order[i]] = shown ? m->rows : UINT32_MAX;
		m->rows += shown;
	}
	m->run_ns = calloc((size_t)(m->rows + 1) * MAX(r->n_cpus, 1), sizeof(*m->run_ns));
	if (!m->order || !m->row_of || !m->run_ns)
		return false;
	for (uint32_t i = 1; i < r->task_cpus.n; i++) {
		uint64_t key = r->task_cpus.keys[i];
		const struct cpu_task *t = table_at(&r->tasks, (uint32_t)(key >> 32));

		if ((uint32_t)key < r->n_cpus)
			m->run_ns[(size_t)MIN(m->row_of[t->group], m->rows) * r->n_cpus + (uint32_t)key] +=
				((const struct cpu_cell *)table_at(&r->task_cpus, i))->run_ns;
	}
	return true;
}

/* A value for each of `cpus'. */
static void by_cpu(const struct report_cpu *r, struct json *j, const struct matrix *m, uint32_t row)
{
	json_row(j, "by_cpu");
	for (uint32_t cpu = 0; cpu < r->n_cpus; cpu++)
		if (is_seen(&r->cpus[cpu]))
			json_u64(j, NULL, m->run_ns[(size_t)row * r->n_cpus + cpu]);
	json_end(j);
}

static void task(const struct report_cpu *r, struct json *j, const struct matrix *m, const struct cpu_group *g,
		 uint32_t row)
{
	json_object(j, NULL);
	json_str(j, "name", g->name);
	json_str(j, "kind", report_cpu_kind_names[g->kind]);
	json_bool(j, "workers", g->workers);
	json_u64(j, "pids", g->pids);
	json_u64(j, "threads", g->threads);
	sums(j, &g->sums);
	by_cpu(r, j, m, row);
	json_end(j);
}

static void tasks(const struct report_cpu *r, struct json *j)
{
	struct matrix m = { 0 };
	struct cpu_sums other = { 0 };
	uint64_t n = 0;

	json_array(j, "tasks");
	if (!matrix_make(&m, r))
		j->error = -ENOMEM;
	for (uint32_t i = 0; !j->error && i < r->groups.n; i++) {
		const struct cpu_group *g = table_at(&r->groups, m.order[i]);

		if (m.row_of[m.order[i]] != UINT32_MAX) {
			task(r, j, &m, g, m.row_of[m.order[i]]);
		} else if (g->tasks) {
			cpu_sums_add(&other, &g->sums);
			n += g->tasks;
		}
	}
	json_end(j);
	json_object(j, "other_tasks");
	json_u64(j, "n", n);
	sums(j, &other);
	if (!j->error)
		by_cpu(r, j, &m, m.rows);
	json_end(j);
	matrix_free(&m);
}

/* --- processes and threads ------------------------------------------------------------------------------ */

static uint64_t role_key(const void *v)
{
	return ((const struct cpu_role *)v)->sums.run_ns;
}

static void processes(const struct report_cpu *r, struct json *j)
{
	autofree uint32_t *order = report_cpu_order(&r->roles, role_key);
	struct cpu_sums other = { 0 };
	uint64_t shown = 0, n = 0;

	json_array(j, "processes");
	for (uint32_t i = 0; order && i < r->roles.n; i++) {
		const struct cpu_role *role = table_at(&r->roles, order[i]);
		const struct cpu_task *t = table_at(&r->tasks, role->task);
		const struct cpu_proc *p = table_at(&r->procs, role->proc);

		if (t->kind == CPU_IDLE || !role->threads)
			continue;
		if (shown == shown_of(r, PROCESSES_SHOWN)) {
			cpu_sums_add(&other, &role->sums);
			n++;
			continue;
		}
		shown++;
		json_object(j, NULL);
		json_u64(j, "pid", p->pid);
		json_str(j, "comm", t->comm);
		json_str(j, "kind", report_cpu_kind_names[t->kind]);
		json_u64(j, "threads", role->threads);
		json_u64(j, "life_ns", role->life_ns);
		sums(j, &role->sums);
		json_end(j);
	}
	json_end(j);
	others(j, "other_processes", n, &other);
}

static uint64_t thread_key(const void *v)
{
	return ((const struct cpu_thread *)v)->sums.run_ns;
}

static void threads(const struct report_cpu *r, struct json *j)
{
	autofree uint32_t *order = report_cpu_order(&r->threads, thread_key);
	struct cpu_sums other = { 0 };
	uint64_t shown = 0, n = 0;

	json_array(j, "threads");
	for (uint32_t i = 0; order && i < r->threads.n; i++) {
		const struct cpu_thread *t = table_at(&r->threads, order[i]);
		const struct cpu_task *task = table_at(&r->tasks, t->task);

		if (task->kind == CPU_IDLE || !t->tid)
			continue;
		if (shown == shown_of(r, THREADS_SHOWN)) {
			cpu_sums_add(&other, &t->sums);
			n++;
			continue;
		}
		shown++;
		json_object(j, NULL);
		json_u64(j, "tid", t->tid);
		json_u64(j, "pid", ((const struct cpu_proc *)table_at(&r->procs, t->proc))->pid);
		json_str(j, "comm", task->comm);
		json_str(j, "kind", report_cpu_kind_names[task->kind]);
		if (t->has_life)
			json_u64(j, "life_ns", report_cpu_life_ns(t));
		else
			json_null(j, "life_ns");
		sums(j, &t->sums);
		json_end(j);
	}
	json_end(j);
	others(j, "other_threads", n, &other);
}

static void lifespans(const struct report_cpu *r, struct json *j)
{
	json_array(j, "lifespans");
	for (uint32_t i = 0; i < r->n_patterns; i++) {
		const struct cpu_pattern *p = &r->patterns[i];

		json_object(j, NULL);
		json_str(j, "pattern", p->glob);
		json_u64(j, "threads", p->threads);
		json_u64(j, "cut", p->cut);
		json_u64(j, "life_ns", p->life_ns);
		json_u64(j, "run_ns", p->run_ns);
		json_u64(j, "idle_ns", p->idle_ns);
		json_end(j);
	}
	json_end(j);
}

/* --- waits ---------------------------------------------------------------------------------------------- */

static uint64_t wait_ns(const struct cpu_call *c)
{
	return c->disk_ns + c->blocked_ns + c->sleep_ns;
}

/* The calls of all processes under one name: CALLS is keyed by (task, call). */
static void sum_calls(const struct report_cpu *r, struct table *calls)
{
	table_init(calls, sizeof(struct cpu_call), CPU_CELLS_MAX);
	for (uint32_t i = 1; i < r->calls.n; i++) {
		const struct cpu_call *c = table_at(&r->calls, i);
		uint64_t key = r->calls.keys[i];
		const struct cpu_role *role = table_at(&r->roles, (uint32_t)(key >> 32));
		struct cpu_call *sum = table_get(calls, report_cpu_pair(role->task, (uint32_t)key));

		if (!sum)
			continue;
		sum->disk_ns += c->disk_ns;
		sum->blocked_ns += c->blocked_ns;
		sum->sleep_ns += c->sleep_ns;
		sum->waits += c->waits;
		sum->max_ns = MAX(sum->max_ns, c->max_ns);
	}
}

/* Those of TASK with the longest waits, longest first, their numbers in CALLS to TOP; how many. */
static unsigned int longest(const struct table *calls, uint32_t task, uint32_t top[CALLS_SHOWN])
{
	unsigned int n = 0, at;

	for (uint32_t i = 0; i < calls->n; i++) {
		uint64_t ns = wait_ns(table_at(calls, i));

		if (calls->keys[i] >> 32 != task || !ns ||
		    (n == CALLS_SHOWN && ns <= wait_ns(table_at(calls, top[n - 1]))))
			continue;
		if (n < CALLS_SHOWN)
			n++;
		for (at = n - 1; at > 0 && wait_ns(table_at(calls, top[at - 1])) < ns; at--)
			top[at] = top[at - 1];
		top[at] = i;
	}
	return n;
}

static void calls_of(const struct report_cpu *r, struct json *j, const struct table *calls, uint32_t task)
{
	uint32_t top[CALLS_SHOWN];
	unsigned int n = longest(calls, task, top);

	json_array(j, "calls");
	for (unsigned int i = 0; i < n; i++) {
		const struct cpu_call *c = table_at(calls, top[i]);

		json_object(j, NULL);
		json_str(j, "call", r->call_names[(uint32_t)calls->keys[top[i]]]);
		json_u64(j, "waits", c->waits);
		json_u64(j, "disk_ns", c->disk_ns);
		json_u64(j, "blocked_ns", c->blocked_ns);
		json_u64(j, "sleep_ns", c->sleep_ns);
		json_u64(j, "max_ns", c->max_ns);
		json_end(j);
	}
	json_end(j);
}

/* The lives of its threads: all that is known of may be more, by what rows are rounded to. */
static uint64_t wall_key(const void *v)
{
	const struct cpu_task *t = v;

	return t->kind == CPU_TARGET ? MAX(t->life_ns, report_cpu_known_ns(&t->sums)) : 0;
}

static void waits(const struct report_cpu *r, struct json *j)
{
	autofree uint32_t *order = report_cpu_order(&r->tasks, wall_key);
	struct table calls;

	sum_calls(r, &calls);
	json_array(j, "waits");
	for (uint32_t i = 0, shown = 0; order && i < r->tasks.n && shown < shown_of(r, WAITS_SHOWN); i++, shown++) {
		const struct cpu_task *t = table_at(&r->tasks, order[i]);

		if (!wall_key(t))
			break;
		json_object(j, NULL);
		json_str(j, "comm", t->comm);
		json_u64(j, "threads", t->threads);
		json_u64(j, "wall_ns", wall_key(t));
		json_u64(j, "unknown_ns", wall_key(t) - report_cpu_known_ns(&t->sums));
		sums(j, &t->sums);
		calls_of(r, j, &calls, order[i]);
		json_end(j);
	}
	json_end(j);
	table_free(&calls);
}

static void gaps(const struct report_cpu *r, struct json *j)
{
	json_array(j, "gaps");
	for (uint32_t i = 0; i < MIN(r->n_gaps, GAPS_SHOWN); i++) {
		const struct cpu_gap *g = &r->gaps[i];

		json_object(j, NULL);
		json_str(j, "kind", report_cpu_gap_kinds[g->kind]);
		if (g->start_ns)
			json_u64(j, "begin_ns", g->start_ns);
		else
			json_null(j, "begin_ns");
		json_s64(j, "length_ns", g->ns);
		if (g->cpu != CPU_NO_CPU)
			json_u64(j, "cpu", g->cpu);
		else
			json_null(j, "cpu");
		json_u64(j, "records", g->count);
		json_end(j);
	}
	json_end(j);
	json_u64(j, "more_gaps", r->n_gaps - MIN(r->n_gaps, GAPS_SHOWN) + r->more_gaps);
}

/* --- all of it ------------------------------------------------------------------------------------------ */

void report_cpu_json_members(const struct report_cpu *r, struct json *j)
{
	json_bool(j, "sums", r->has_sums);
	json_bool(j, "switches", r->has_switches);
	json_u64(j, "wall_ns", r->wall_ns);
	json_u64(j, "by_cpu_ns", r->by_cpu_ns);
	json_u64(j, "by_task_ns", r->by_task_ns);
	json_object(j, "kinds");
	for (unsigned int k = 0; k < CPU_KINDS; k++)
		json_u64(j, report_cpu_kind_names[k], r->kind_ns[k]);
	json_end(j);
	cpus(r, j);
	tasks(r, j);
	processes(r, j);
	threads(r, j);
	lifespans(r, j);
	waits(r, j);
	gaps(r, j);
	json_array(j, "missing");
	for (uint32_t i = 0; i < r->n_notes; i++)
		json_str(j, NULL, r->notes[i]);
	json_end(j);
}

int report_cpu_json(const struct report_cpu *r, FILE *out)
{
	struct json j = { 0 };

	json_object(&j, NULL);
	json_str(&j, "dir", r->dir);
	report_cpu_json_members(r, &j);
	json_end(&j);
	return json_write(&j, out);
}
