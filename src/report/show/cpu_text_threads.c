/* SPDX-License-Identifier: BSD-2-Clause */
/* The report on CPU time as text: processes, threads, and how long they lived. */
#include "report/show/cpu_text.h"

#include <stdlib.h>

#include "base/fmt.h"

#define PROC_LINE "%8s %8s %10s %8s %10s %10s %10s  "
#define THREAD_LINE "%8s %8s %10s %8s %10s %10s %10s %10s  "
#define PATTERN_LINE "%8s %8s %12s %12s %12s\n"

/* --- processes ------------------------------------------------------------------------------------------ */

static uint64_t role_key(const void *v)
{
	return ((const struct cpu_role *)v)->sums.run_ns;
}

static void process_line(FILE *out, const struct cpu_sums *s, const char *pid, uint32_t threads,
			 uint64_t busy_ns, const char *name)
{
	fprintf(out, PROC_LINE, pid, FMT_COUNT(threads), FMT_NS(s->run_ns), PERCENT(s->run_ns, busy_ns),
		FMT_NS(s->runq_ns), FMT_COUNT(s->switches), FMT_COUNT(s->preempted));
	fmt_text(out, name, 0);
	fputc('\n', out);
}

void report_cpu_text_processes(const struct report_cpu *r, FILE *out)
{
	autofree uint32_t *order = report_cpu_order(&r->roles, role_key);
	uint64_t busy_ns = report_cpu_wholes(r).busy_ns;
	struct cpu_role other = { .threads = 0 };
	uint32_t others = 0;
	char name[96];

	report_cpu_title(out, "Processes, by CPU time; one that was renamed or executed another program has a line for each name");
	fprintf(out, PROC_LINE "COMM\n", "PID", "THREADS", "CPU", "BUSY", "RUNNABLE", "SWITCHES", "PREEMPTED");
	for (uint32_t i = 0; order && i < r->roles.n; i++) {
		const struct cpu_role *role = table_at(&r->roles, order[i]);
		const struct cpu_task *t = table_at(&r->tasks, role->task);
		const struct cpu_proc *p = table_at(&r->procs, role->proc);

		if (t->kind == CPU_IDLE || !role->threads)
			continue;
		if (role->sums.run_ns && report_cpu_is_shown(r, role->sums.run_ns, busy_ns)) {
			process_line(out, &role->sums, p->pid ? FMT_COUNT(p->pid) : "-", role->threads, busy_ns,
				     t->kind == CPU_OTHER && !p->pid ? "(others)" : t->comm);
			continue;
		}
		others++;
		other.threads += role->threads;
		other.sums.run_ns += role->sums.run_ns;
		other.sums.runq_ns += role->sums.runq_ns;
		other.sums.switches += role->sums.switches;
		other.sums.preempted += role->sums.preempted;
	}
	report_cpu_other_name(r, name, sizeof(name), others);
	if (others)
		process_line(out, &other.sums, "", other.threads, busy_ns, name);
}

static uint64_t thread_key(const void *v)
{
	return ((const struct cpu_thread *)v)->sums.run_ns;
}

static void thread_line(FILE *out, const struct cpu_thread *t, const char *tid, const char *pid, uint64_t busy_ns,
			const char *name)
{
	const struct cpu_sums *s = &t->sums;

	fprintf(out, THREAD_LINE, tid, pid, FMT_NS(s->run_ns), PERCENT(s->run_ns, busy_ns),
		t->has_life ? FMT_NS(report_cpu_life_ns(t)) : "-", FMT_NS(s->runq_ns), FMT_COUNT(s->switches),
		FMT_COUNT(s->preempted));
	fmt_text(out, name, 0);
	fputc('\n', out);
}

void report_cpu_text_threads(const struct report_cpu *r, FILE *out)
{
	autofree uint32_t *order = report_cpu_order(&r->threads, thread_key);
	uint64_t busy_ns = report_cpu_wholes(r).busy_ns;
	struct cpu_thread other = { .tid = 0 };
	uint32_t others = 0;
	char name[96];

	report_cpu_title(out, "Threads, by CPU time, under their last names");
	fprintf(out, THREAD_LINE "COMM\n", "TID", "PID", "CPU", "BUSY", "LIFESPAN", "RUNNABLE", "SWITCHES", "PREEMPTED");
	for (uint32_t i = 0; order && i < r->threads.n; i++) {
		const struct cpu_thread *t = table_at(&r->threads, order[i]);
		const struct cpu_task *task = table_at(&r->tasks, t->task);
		const struct cpu_proc *p = table_at(&r->procs, t->proc);

		if (task->kind == CPU_IDLE || !t->tid)
			continue;
		if (t->sums.run_ns && report_cpu_is_shown(r, t->sums.run_ns, busy_ns)) {
			thread_line(out, t, FMT_COUNT(t->tid), FMT_COUNT(p->pid), busy_ns, task->comm);
			continue;
		}
		others++;
		other.sums.run_ns += t->sums.run_ns;
		other.sums.runq_ns += t->sums.runq_ns;
		other.sums.switches += t->sums.switches;
		other.sums.preempted += t->sums.preempted;
	}
	report_cpu_other_name(r, name, sizeof(name), others);
	if (others)
		thread_line(out, &other, "", "", busy_ns, name);
}

void report_cpu_text_patterns(const struct report_cpu *r, FILE *out)
{
	report_cpu_title(out, "Lifespans of threads (averages; IDLE: LIFESPAN - CPU; CUT: how many did not begin or end in the trace)");
	fmt_text(out, "PATTERN", 24);
	fprintf(out, PATTERN_LINE, "THREADS", "CUT", "LIFESPAN", "CPU", "IDLE");
	for (uint32_t i = 0; i < r->n_patterns; i++) {
		const struct cpu_pattern *p = &r->patterns[i];
		uint64_t n = p->threads;

		fmt_text(out, p->glob, 24);
		fprintf(out, PATTERN_LINE, FMT_COUNT(n), FMT_COUNT(p->cut), n ? FMT_NS(p->life_ns / n) : "-",
			n ? FMT_NS(p->run_ns / n) : "-", n ? FMT_NS(p->idle_ns / n) : "-");
	}
}
