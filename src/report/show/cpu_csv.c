/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A struct report_cpu as CSV files: a table of files, each with its header and what writes its rows.
 * Seconds have nine decimals, so that sums of them are as whole as those of the trace; instants are
 * CLOCK_MONOTONIC, as TIMESTAMP is; shares are fractions. Columns are only ever added behind the others.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/csv.h"
#include "base/util.h"
#include "report/cpu/cpu.h"
#include "report/show/show.h"

#define OTHERS "(others)"

static const char *comm_of(const struct cpu_task *t)
{
	return t->kind == CPU_OTHER && strcmp(t->comm, "-") == 0 ? OTHERS : t->comm;
}

static const struct cpu_task *task_at(const struct report_cpu *r, uint32_t i)
{
	return table_at(&r->tasks, i);
}

static const struct cpu_role *role_at(const struct report_cpu *r, uint32_t i)
{
	return table_at(&r->roles, i);
}

static uint32_t pid_of(const struct report_cpu *r, const struct cpu_role *role)
{
	return ((const struct cpu_proc *)table_at(&r->procs, role->proc))->pid;
}

/* --- tasks ---------------------------------------------------------------------------------------------- */

static uint64_t task_key(const void *v)
{
	return ((const struct cpu_task *)v)->sums.run_ns;
}

static void tasks(const struct report_cpu *r, struct csv *c)
{
	autofree uint32_t *order = report_cpu_order(&r->tasks, task_key);
	uint64_t busy_ns = r->by_task_ns - r->kind_ns[CPU_IDLE];

	for (uint32_t i = 0; order && i < r->tasks.n; i++) {
		const struct cpu_task *t = task_at(r, order[i]);
		const struct cpu_group *g = table_at(&r->groups, t->group);

		if (!t->threads && !t->sums.run_ns)
			continue;
		csv_text(c, comm_of(t));
		csv_u64(c, t->pids);
		csv_u64(c, t->threads);
		csv_seconds(c, t->sums.run_ns);
		csv_share(c, t->sums.run_ns, r->by_cpu_ns);
		csv_text(c, report_cpu_kind_names[t->kind]);
		csv_text(c, g->name);
		csv_u64(c, g->workers);
		csv_share(c, t->kind == CPU_IDLE ? 0 : t->sums.run_ns, busy_ns);
		csv_seconds(c, t->sums.runq_ns);
		csv_seconds(c, t->sums.disk_ns);
		csv_seconds(c, t->sums.blocked_ns);
		csv_seconds(c, t->sums.sleep_ns);
		csv_u64(c, t->sums.switches);
		csv_u64(c, t->sums.preempted);
		csv_end(c);
	}
}

static uint64_t role_key(const void *v)
{
	return ((const struct cpu_role *)v)->sums.run_ns;
}

static void processes(const struct report_cpu *r, struct csv *c)
{
	autofree uint32_t *order = report_cpu_order(&r->roles, role_key);

	for (uint32_t i = 0; order && i < r->roles.n; i++) {
		const struct cpu_role *role = role_at(r, order[i]);
		const struct cpu_task *t = task_at(r, role->task);

		if (!role->threads && !role->sums.run_ns)
			continue;
		csv_u64(c, pid_of(r, role));
		csv_text(c, comm_of(t));
		csv_seconds(c, role->sums.run_ns);
		csv_seconds(c, role->sums.runq_ns);
		csv_seconds(c, role->sums.disk_ns);
		csv_seconds(c, role->sums.sleep_ns);
		csv_u64(c, role->sums.switches);
		csv_share(c, role->sums.run_ns, r->by_cpu_ns);
		csv_text(c, report_cpu_kind_names[t->kind]);
		csv_u64(c, role->threads);
		csv_seconds(c, role->sums.blocked_ns);
		csv_seconds(c, role->life_ns);
		csv_u64(c, role->sums.preempted);
		csv_end(c);
	}
}

static void threads(const struct report_cpu *r, struct csv *c)
{
	for (uint32_t i = 0; i < r->threads.n; i++) {
		const struct cpu_thread *t = table_at(&r->threads, i);
		const struct cpu_proc *p = table_at(&r->procs, t->proc);

		if (!i && !t->sums.run_ns)
			continue;
		csv_u64(c, t->tid);
		csv_u64(c, p->pid);
		csv_text(c, comm_of(task_at(r, t->task)));
		t->has_life ? csv_seconds(c, t->start_ns) : csv_none(c);
		t->has_life ? csv_seconds(c, t->end_ns) : csv_none(c);
		csv_seconds(c, t->sums.run_ns);
		csv_seconds(c, t->sums.runq_ns);
		csv_seconds(c, t->sums.disk_ns);
		csv_seconds(c, t->sums.sleep_ns);
		csv_text(c, report_cpu_kind_names[p->kind]);
		csv_seconds(c, t->sums.blocked_ns);
		t->has_life ? csv_seconds(c, report_cpu_life_ns(t)) : csv_none(c);
		t->has_life
			? csv_seconds(c, report_cpu_life_ns(t) - MIN(report_cpu_life_ns(t), t->sums.run_ns))
			: csv_none(c);
		csv_u64(c, t->has_life && t->born);
		csv_u64(c, t->has_life && t->ended);
		csv_text(c, comm_of(task_at(r, t->first_task)));
		csv_u64(c, t->sums.switches);
		csv_u64(c, t->sums.preempted);
		csv_share(c, t->sums.run_ns, r->by_cpu_ns);
		csv_end(c);
	}
}

/* --- CPUs ----------------------------------------------------------------------------------------------- */

static void cpus(const struct report_cpu *r, struct csv *c)
{
	for (uint32_t i = 0; i < r->n_cpus; i++) {
		const struct cpu_cpu *cpu = &r->cpus[i];

		if (cpu->busy_ns + cpu->idle_ns + cpu->switches == 0)
			continue;
		csv_u64(c, i);
		csv_seconds(c, cpu->busy_ns);
		csv_seconds(c, cpu->idle_ns);
		csv_u64(c, cpu->switches);
		csv_end(c);
	}
}

static int by_pair(const void *a, const void *b, void *keys)
{
	uint64_t x = ((const uint64_t *)keys)[*(const uint32_t *)a], y = ((const uint64_t *)keys)[*(const uint32_t *)b];

	return (x > y) - (x < y);
}

/* The entries of a table with two keys, by the first and then by the second. */
static uint32_t *in_order(const struct table *t)
{
	uint32_t *order = calloc(t->n + 1, sizeof(*order));

	for (uint32_t i = 0; order && i < t->n; i++)
		order[i] = i;
	if (order && t->n)
		qsort_r(order, t->n, sizeof(*order), by_pair, t->keys);
	return order;
}

static void cell(const struct report_cpu *r, struct csv *c, const struct cpu_cell *cell, uint32_t cpu)
{
	const struct cpu_cpu *whole = &r->cpus[cpu];

	csv_u64(c, cpu);
	csv_seconds(c, cell->run_ns);
	csv_share(c, cell->run_ns, whole->busy_ns + whole->idle_ns);
	csv_u64(c, cell->switches);
}

static void task_by_cpu(const struct report_cpu *r, struct csv *c)
{
	autofree uint32_t *order = in_order(&r->task_cpus);

	for (uint32_t i = 0; order && i < r->task_cpus.n; i++) {
		uint64_t key = r->task_cpus.keys[order[i]];

		if (!order[i]) /* of those beyond the table's end */
			continue;
		csv_text(c, comm_of(task_at(r, (uint32_t)(key >> 32))));
		cell(r, c, table_at(&r->task_cpus, order[i]), (uint32_t)key);
		csv_text(c, report_cpu_kind_names[task_at(r, (uint32_t)(key >> 32))->kind]);
		csv_end(c);
	}
}

static void process_by_cpu(const struct report_cpu *r, struct csv *c)
{
	autofree uint32_t *order = in_order(&r->role_cpus);

	for (uint32_t i = 0; order && i < r->role_cpus.n; i++) {
		uint64_t key = r->role_cpus.keys[order[i]];
		const struct cpu_role *role;

		if (!order[i])
			continue;
		role = role_at(r, (uint32_t)(key >> 32));
		csv_u64(c, pid_of(r, role));
		csv_text(c, comm_of(task_at(r, role->task)));
		cell(r, c, table_at(&r->role_cpus, order[i]), (uint32_t)key);
		csv_text(c, report_cpu_kind_names[task_at(r, role->task)->kind]);
		csv_end(c);
	}
}

/* --- time ----------------------------------------------------------------------------------------------- */

static void gaps(const struct report_cpu *r, struct csv *c)
{
	for (uint32_t i = 0; i < r->n_gaps; i++) {
		const struct cpu_gap *g = &r->gaps[i];

		csv_text(c, report_cpu_gap_kinds[g->kind]);
		g->start_ns ? csv_seconds(c, g->start_ns) : csv_none(c);
		g->start_ns ? csv_seconds(c, g->end_ns) : csv_none(c);
		g->start_ns ? csv_seconds_signed(c, g->ns) : csv_none(c);
		g->cpu != CPU_NO_CPU ? csv_u64(c, g->cpu) : csv_none(c);
		g->count ? csv_u64(c, g->count) : csv_none(c);
		csv_end(c);
	}
}

static void phases(const struct report_cpu *r, struct csv *c)
{
	autofree uint32_t *order = in_order(&r->phase_tasks);

	for (uint32_t i = 0; order && i < r->phase_tasks.n; i++) {
		uint64_t key = r->phase_tasks.keys[order[i]],
			 ns = *(const uint64_t *)table_at(&r->phase_tasks, order[i]);
		const struct cpu_phase *p = &r->phases[key >> 32];

		csv_text(c, p->name);
		csv_text(c, comm_of(task_at(r, (uint32_t)key)));
		csv_seconds(c, ns);
		csv_share(c, ns, p->run_ns);
		csv_u64(c, p->times);
		csv_seconds(c, p->wall_ns);
		csv_text(c, p->source);
		csv_text(c, report_cpu_kind_names[task_at(r, (uint32_t)key)->kind]);
		csv_end(c);
	}
}

static void phase_times(const struct report_cpu *r, struct csv *c)
{
	for (uint32_t i = 0; i < r->n_phases; i++)
		for (uint32_t k = 0; k < r->phases[i].n; k++) {
			const struct cpu_interval *v = &r->phases[i].v[k];

			csv_text(c, r->phases[i].name);
			csv_seconds(c, v->start_ns);
			csv_seconds(c, v->end_ns);
			csv_seconds(c, v->end_ns - v->start_ns);
			csv_text(c, r->phases[i].source);
			csv_end(c);
		}
}

/* --- waits ---------------------------------------------------------------------------------------------- */

static void waits(const struct report_cpu *r, struct csv *c)
{
	autofree uint32_t *order = in_order(&r->calls);

	for (uint32_t i = 0; order && i < r->calls.n; i++) {
		const struct cpu_call *call = table_at(&r->calls, order[i]);
		uint64_t key = r->calls.keys[order[i]];
		const struct cpu_role *role;

		if (!order[i])
			continue;
		role = role_at(r, (uint32_t)(key >> 32));
		csv_u64(c, pid_of(r, role));
		csv_text(c, comm_of(task_at(r, role->task)));
		csv_text(c, r->call_names[(uint32_t)key]);
		csv_u64(c, call->waits);
		csv_seconds(c, call->disk_ns);
		csv_seconds(c, call->blocked_ns);
		csv_seconds(c, call->sleep_ns);
		csv_seconds(c, call->max_ns);
		csv_end(c);
	}
}

static void folders(const struct report_cpu *r, struct csv *c)
{
	for (uint32_t i = 0; i < r->folders.n; i++) {
		const struct cpu_folder *f = table_at(&r->folders, i);
		uint64_t key = r->calls.keys[f->call];
		const struct cpu_role *role = role_at(r, (uint32_t)(key >> 32));
		const struct cpu_call *call = table_at(&r->calls, f->call);

		if (!r->folder_names[f->folder])
			continue;
		csv_u64(c, pid_of(r, role));
		csv_text(c, comm_of(task_at(r, role->task)));
		csv_text(c, r->call_names[(uint32_t)key]);
		csv_text(c, r->folder_names[f->folder]);
		csv_seconds(c, report_cpu_folder_ns(r, f, call->disk_ns));
		csv_seconds(c, report_cpu_folder_ns(r, f, call->blocked_ns));
		csv_u64(c, f->calls);
		csv_u64(c, f->disk_calls);
		csv_u64(c, f->disk_bytes);
		csv_end(c);
	}
}

/* --- all of it ------------------------------------------------------------------------------------------ */

static const struct {
	const char *name, *header;
	void (*rows)(const struct report_cpu *r, struct csv *c);
} files[] = {
	{ "cpus.csv", "cpu,busy_s,idle_s,switches", cpus },
	{ "folders.csv", "pid,comm,call,folder,disk_wait_s,blocked_s,calls,disk_calls,disk_bytes", folders },
	{ "gaps.csv", "kind,start_s,end_s,length_s,cpu,records", gaps },
	{ "phase_times.csv", "phase,start_s,end_s,wall_s,source", phase_times },
	{ "phases.csv", "phase,comm,cpu_s,share,times,wall_s,source,kind", phases },
	{ "process_by_cpu.csv", "pid,comm,cpu,cpu_s,share,switches,kind", process_by_cpu },
	{ "processes.csv",
	  "pid,comm,cpu_s,runq_s,disk_wait_s,sleep_s,switches,share,kind,threads,blocked_s,life_s,preempted",
	  processes },
	{ "task_by_cpu.csv", "comm,cpu,cpu_s,share,switches,kind", task_by_cpu },
	{ "tasks.csv",
	  "comm,pids,threads,cpu_s,share,kind,merged,worker,share_busy,runq_s,disk_wait_s,blocked_s,sleep_s,switches,"
	  "preempted",
	  tasks },
	{ "threads.csv",
	  "tid,pid,comm,start_s,end_s,cpu_s,runq_s,disk_wait_s,sleep_s,kind,blocked_s,life_s,idle_s,born,ended,"
	  "first_comm,switches,preempted,share",
	  threads },
	{ "waits.csv", "pid,comm,call,waits,disk_wait_s,blocked_s,sleep_s,max_s", waits },
};

int report_cpu_csv(const struct report_cpu *r, const char *dir)
{
	autoclose int dirfd = -1;
	struct csv c;
	int res = 0;

	if (mkdir(dir, 0777) < 0 && errno != EEXIST)
		return -errno;
	dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dirfd < 0)
		return -errno;
	for (size_t i = 0; i < ARRAY_SIZE(files) && res == 0; i++) {
		res = csv_open(&c, dirfd, files[i].name, files[i].header);
		if (res < 0)
			break;
		files[i].rows(r, &c);
		res = csv_close(&c);
	}
	return res;
}
