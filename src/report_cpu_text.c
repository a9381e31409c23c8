/* SPDX-License-Identifier: BSD-2-Clause */
/* A struct report_cpu as text for a terminal, one function per section. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report_cpu.h"
#include "report_fmt.h"
#include "util.h"

#define CPUS_MAX 64	   /* lines of single CPUs */
#define MATRIX_CPUS_MAX 32 /* columns, in blocks of */
#define MATRIX_BLOCK 12
#define GAPS_MAX 10
#define DIFFERING_MAX 8

#define FACT_LABEL "%-16s "
#define TASK_LINE "%8s %8s %10s %8s %8s %8s %10s %10s  "
#define CPU_LINE "%6s %10s %10s %8s %10s %10s\n"
#define PROC_LINE "%8s %8s %10s %8s %10s %10s %10s  "
#define THREAD_LINE "%8s %8s %10s %8s %10s %10s %10s %10s  "
#define PATTERN_LINE "%8s %8s %12s %12s %12s\n"
#define PHASE_LINE "%-7s %7s %10s %8s %10s %8s  "
#define GAP_LINE "%-8s %14s %12s %5s %10s\n"

static void title(FILE *out, const char *text)
{
	fprintf(out, "\n%s\n", text);
}

static const char *percent(char buf[16], uint64_t part, uint64_t whole)
{
	if (whole)
		snprintf(buf, 16, "%.1f %%", 100.0 * (double)part / (double)whole);
	else
		snprintf(buf, 16, "-");
	return buf;
}

#define PERCENT(part, whole) percent((char[16]){ 0 }, part, whole)

/* To the nanosecond, as the CSV files have it. */
static const char *seconds(char buf[32], uint64_t ns)
{
	snprintf(buf, 32, "%llu.%09llu s", ns / NSEC_PER_SEC, ns % NSEC_PER_SEC);
	return buf;
}

#define SECONDS(ns) seconds((char[32]){ 0 }, ns)

/* --- what it is about ----------------------------------------------------------------------------------- */

static void fact(FILE *out, const char *label, const char *value)
{
	if (!value[0])
		return;
	fprintf(out, FACT_LABEL, label);
	fmt_text(out, value, 0);
	fputc('\n', out);
}

static void facts(const struct report_cpu *r, FILE *out)
{
	const struct manifest_facts *m = &r->manifest;

	fact(out, "trace", r->dir);
	fact(out, "command", m->argv[0] ? m->argv : m->cmdline);
	fact(out, "host", m->host);
	fact(out, "kernel", m->kernel);
	fact(out, "started", m->start_utc);
	if (r->has_sums)
		fprintf(out, FACT_LABEL "sched.out: sums, each of %s at most%s\n", "from", FMT_NS(r->span_max_ns),
			r->has_switches ? "; sched_switch.out: phases of the job's threads, gaps" : "");
	else
		fprintf(out,
			FACT_LABEL
			"sched_switch.out: single switches of the job's threads; who ran beside them is known in "
			"part only\n",
			"from");
}

static void differing_cpus(const struct report_cpu *r, FILE *out)
{
	for (uint32_t i = 0, lines = 0; i < r->n_cpus && lines < DIFFERING_MAX; i++) {
		uint64_t ns = r->cpus[i].busy_ns + r->cpus[i].idle_ns;
		bool differs = ns && r->wall_ns - ns >= NSEC_PER_SEC / 1000000;

		lines += differs;
		if (differs)
			fprintf(out, "  CPU %u has %s: %s\n", i, SECONDS(ns),
				r->manifest.complete ? "it was not online all the time, or rows are missing" :
						       "the trace has no end");
	}
}

static void invariant(const struct report_cpu *r, FILE *out)
{
	uint64_t all = r->wall_ns * r->cpus_seen;

	title(out, "Does it add up?");
	fprintf(out, FACT_LABEL "%s\n", "sum over tasks", SECONDS(r->by_task_ns));
	fprintf(out, FACT_LABEL "%s\n", "sum over CPUs", SECONDS(r->by_cpu_ns));
	fprintf(out, FACT_LABEL "%s = %s x %u\n", "wall x CPUs", SECONDS(all), SECONDS(r->wall_ns), r->cpus_seen);
	fprintf(out, FACT_LABEL "%s\n", "difference",
		SECONDS(MAX(all, MAX(r->by_task_ns, r->by_cpu_ns)) - MIN(all, MIN(r->by_task_ns, r->by_cpu_ns))));
	differing_cpus(r, out);
}

/* --- tasks ---------------------------------------------------------------------------------------------- */

/* What shares without idle, and without the kernel's workers as well, are of. */
struct wholes {
	uint64_t all_ns, busy_ns, own_ns;
};

static struct wholes wholes(const struct report_cpu *r)
{
	struct wholes w = { .all_ns = r->by_cpu_ns, .busy_ns = r->by_task_ns - r->kind_ns[CPU_IDLE] };

	w.own_ns = w.busy_ns;
	for (uint32_t i = 0; i < r->groups.n; i++) {
		const struct cpu_group *g = table_at(&r->groups, i);

		w.own_ns -= g->workers ? g->sums.run_ns : 0;
	}
	return w;
}

static bool is_shown(const struct report_cpu *r, uint64_t ns, uint64_t whole_ns)
{
	return (double)ns * 1000 >= (double)whole_ns * r->options.threshold_permille;
}

/* Idle time and our own always have a line of their own. */
static bool group_is_shown(const struct report_cpu *r, const struct cpu_group *g, uint64_t ns, uint64_t busy_ns)
{
	return g->kind == CPU_IDLE || g->kind == CPU_SELF || (ns && is_shown(r, ns, busy_ns));
}

static uint64_t group_key(const void *v)
{
	return ((const struct cpu_group *)v)->sums.run_ns;
}

static void task_line(FILE *out, const struct cpu_group *g, const struct wholes *w, const char *name)
{
	bool idle = g->kind == CPU_IDLE, numbered = !idle && g->kind != CPU_OTHER;

	fprintf(out, TASK_LINE, numbered ? FMT_COUNT(g->pids) : "-", numbered ? FMT_COUNT(g->threads) : "-",
		FMT_NS(g->sums.run_ns), PERCENT(g->sums.run_ns, w->all_ns),
		idle ? "-" : PERCENT(g->sums.run_ns, w->busy_ns),
		idle || g->workers ? "-" : PERCENT(g->sums.run_ns, w->own_ns), FMT_NS(g->sums.runq_ns),
		FMT_COUNT(g->sums.switches));
	fmt_text(out, name, 0);
	fputc('\n', out);
}

static void other_name(const struct report_cpu *r, char *buf, size_t size, uint32_t n)
{
	snprintf(buf, size, "other: %u below %g %% of what is not idle", n, r->options.threshold_permille / 10.0);
}

static void tasks(const struct report_cpu *r, FILE *out)
{
	autofree uint32_t *order = report_cpu_order(&r->groups, group_key);
	struct wholes w = wholes(r);
	struct cpu_group other = { .tasks = 0 };
	char name[96];

	title(out, "CPU time by task (SHARE: of all; BUSY: without idle; OWN: without the kernel's workers as well)");
	fprintf(out, TASK_LINE "COMM\n", "PIDS", "THREADS", "CPU", "SHARE", "BUSY", "OWN", "RUNNABLE", "SWITCHES");
	for (uint32_t i = 0; order && i < r->groups.n; i++) {
		const struct cpu_group *g = table_at(&r->groups, order[i]);

		if (!g->tasks)
			continue;
		if (group_is_shown(r, g, g->sums.run_ns, w.busy_ns)) {
			task_line(out, g, &w, g->name);
			continue;
		}
		other.tasks++;
		other.pids += g->pids;
		other.threads += g->threads;
		other.sums.run_ns += g->sums.run_ns;
		other.sums.runq_ns += g->sums.runq_ns;
		other.sums.switches += g->sums.switches;
	}
	other_name(r, name, sizeof(name), other.tasks);
	if (other.tasks)
		task_line(out, &other, &w, name);
}

/* --- CPUs ----------------------------------------------------------------------------------------------- */

static void cpus(const struct report_cpu *r, FILE *out)
{
	uint32_t shown = 0;

	title(out, "CPUs (MEAN: between two switches)");
	fprintf(out, CPU_LINE, "CPU", "BUSY", "IDLE", "BUSY", "SWITCHES", "MEAN");
	for (uint32_t i = 0; i < r->n_cpus && shown < CPUS_MAX; i++) {
		const struct cpu_cpu *c = &r->cpus[i];
		uint64_t ns = c->busy_ns + c->idle_ns;

		if (!ns && !c->switches)
			continue;
		shown++;
		fprintf(out, CPU_LINE, FMT_COUNT(i), FMT_NS(c->busy_ns), FMT_NS(c->idle_ns), PERCENT(c->busy_ns, ns),
			FMT_COUNT(c->switches), c->switches ? FMT_NS(ns / c->switches) : "-");
	}
	if (r->cpus_seen > shown)
		fprintf(out, "and %u more: see cpus.csv (--csv)\n", r->cpus_seen - shown);
}

/* Of a group, or of those that are not shown: RUN_NS by CPU. */
static void matrix_add(const struct report_cpu *r, uint64_t *sums, uint32_t rows, const uint32_t *row_of)
{
	for (uint32_t i = 1; i < r->task_cpus.n; i++) {
		uint64_t key = r->task_cpus.keys[i];
		uint32_t cpu = (uint32_t)key,
			 group = ((const struct cpu_task *)table_at(&r->tasks, (uint32_t)(key >> 32)))->group;

		if (cpu < MATRIX_CPUS_MAX)
			sums[(size_t)MIN(row_of[group], rows - 1) * MATRIX_CPUS_MAX + cpu] +=
				((const struct cpu_cell *)table_at(&r->task_cpus, i))->run_ns;
	}
}

static void matrix_block(const struct report_cpu *r, FILE *out, const uint64_t *sums, const char **names, uint32_t rows,
			 uint32_t first)
{
	uint32_t last = MIN(first + MATRIX_BLOCK, r->n_cpus);

	for (uint32_t cpu = first; cpu < last; cpu++)
		fprintf(out, "%7u", cpu);
	fputs("  COMM\n", out);
	for (uint32_t row = 0; row < rows; row++) {
		if (!names[row])
			continue;
		for (uint32_t cpu = first; cpu < last; cpu++) {
			const struct cpu_cpu *c = &r->cpus[cpu];
			uint64_t ns = c->busy_ns + c->idle_ns;

			fprintf(out, "%7.1f", ns ? 100.0 * (double)sums[row * MATRIX_CPUS_MAX + cpu] / (double)ns : 0);
		}
		fputs("  ", out);
		fmt_text(out, names[row], 0);
		fputc('\n', out);
	}
}

static void matrix(const struct report_cpu *r, FILE *out)
{
	autofree uint32_t *order = report_cpu_order(&r->groups, group_key),
			  *row_of = calloc(r->groups.n, sizeof(*row_of));
	autofree const char **names = calloc(r->groups.n + 1, sizeof(*names));
	autofree uint64_t *sums = calloc(((size_t)r->groups.n + 1) * MATRIX_CPUS_MAX, sizeof(*sums));
	struct wholes w = wholes(r);
	uint32_t rows = 0;

	title(out, "Task x CPU, in % of the CPU's time");
	if (r->n_cpus > MATRIX_CPUS_MAX) {
		fprintf(out, "too many CPUs for a terminal: see task_by_cpu.csv (--csv)\n");
		return;
	}
	if (!order || !row_of || !names || !sums)
		return;
	for (uint32_t i = 0; i < r->groups.n; i++) {
		const struct cpu_group *g = table_at(&r->groups, order[i]);
		bool shown = g->tasks && group_is_shown(r, g, g->sums.run_ns, w.busy_ns);

		row_of[order[i]] = shown ? rows : UINT32_MAX;
		if (shown)
			names[rows++] = g->name;
	}
	names[rows] = rows < r->groups.n - 1 ? "other" : NULL;
	rows++;
	matrix_add(r, sums, rows, row_of);
	for (uint32_t first = 0; first < r->n_cpus; first += MATRIX_BLOCK)
		matrix_block(r, out, sums, names, rows, first);
}

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

static void processes(const struct report_cpu *r, FILE *out)
{
	autofree uint32_t *order = report_cpu_order(&r->roles, role_key);
	uint64_t busy_ns = wholes(r).busy_ns;
	struct cpu_role other = { .threads = 0 };
	uint32_t others = 0;
	char name[96];

	title(out, "Processes, by CPU time; one that was renamed or executed another program has a line for each name");
	fprintf(out, PROC_LINE "COMM\n", "PID", "THREADS", "CPU", "BUSY", "RUNNABLE", "SWITCHES", "PREEMPTED");
	for (uint32_t i = 0; order && i < r->roles.n; i++) {
		const struct cpu_role *role = table_at(&r->roles, order[i]);
		const struct cpu_task *t = table_at(&r->tasks, role->task);
		const struct cpu_proc *p = table_at(&r->procs, role->proc);

		if (t->kind == CPU_IDLE || !role->threads)
			continue;
		if (role->sums.run_ns && is_shown(r, role->sums.run_ns, busy_ns)) {
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
	other_name(r, name, sizeof(name), others);
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

static void threads(const struct report_cpu *r, FILE *out)
{
	autofree uint32_t *order = report_cpu_order(&r->threads, thread_key);
	uint64_t busy_ns = wholes(r).busy_ns;
	struct cpu_thread other = { .tid = 0 };
	uint32_t others = 0;
	char name[96];

	title(out, "Threads, by CPU time, under their last names");
	fprintf(out, THREAD_LINE "COMM\n", "TID", "PID", "CPU", "BUSY", "LIFESPAN", "RUNNABLE", "SWITCHES", "PREEMPTED");
	for (uint32_t i = 0; order && i < r->threads.n; i++) {
		const struct cpu_thread *t = table_at(&r->threads, order[i]);
		const struct cpu_task *task = table_at(&r->tasks, t->task);
		const struct cpu_proc *p = table_at(&r->procs, t->proc);

		if (task->kind == CPU_IDLE || !t->tid)
			continue;
		if (t->sums.run_ns && is_shown(r, t->sums.run_ns, busy_ns)) {
			thread_line(out, t, FMT_COUNT(t->tid), FMT_COUNT(p->pid), busy_ns, task->comm);
			continue;
		}
		others++;
		other.sums.run_ns += t->sums.run_ns;
		other.sums.runq_ns += t->sums.runq_ns;
		other.sums.switches += t->sums.switches;
		other.sums.preempted += t->sums.preempted;
	}
	other_name(r, name, sizeof(name), others);
	if (others)
		thread_line(out, &other, "", "", busy_ns, name);
}

static void patterns(const struct report_cpu *r, FILE *out)
{
	title(out, "Lifespans of threads (averages; IDLE: LIFESPAN - CPU; CUT: how many did not begin or end in the trace)");
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

/* --- gaps ----------------------------------------------------------------------------------------------- */

static uint64_t gap_length(const struct cpu_gap *g)
{
	return g->ns < 0 ? 0 - (uint64_t)g->ns : (uint64_t)g->ns;
}

static void gap_line(const struct report_cpu *r, FILE *out, const struct cpu_gap *g)
{
	uint64_t begin_ns = r->manifest.start_ns ? r->manifest.start_ns : r->begin_ns;
	char at[32] = "-", length[32], cpu[16] = "all";

	if (g->start_ns)
		snprintf(at, sizeof(at), "%s%.6f s", g->start_ns < begin_ns ? "-" : "",
			 (double)(g->start_ns < begin_ns ? begin_ns - g->start_ns : g->start_ns - begin_ns) / 1e9);
	snprintf(length, sizeof(length), "%s%s", g->ns < 0 ? "-" : "", g->start_ns ? FMT_NS(gap_length(g)) : "-");
	if (g->cpu != CPU_NO_CPU)
		snprintf(cpu, sizeof(cpu), "%u", g->cpu);
	fprintf(out, GAP_LINE, report_cpu_gap_kinds[g->kind], at, length, cpu, g->count ? FMT_COUNT(g->count) : "-");
}

static void gaps(const struct report_cpu *r, FILE *out)
{
	static const char *const meanings[CPU_GAP_KINDS] = {
		[CPU_GAP_IDLE] = "nothing ran on any CPU",
		[CPU_GAP_OFF] = "nothing of the job ran on any CPU; others did, or that is not known",
		[CPU_GAP_LOST] = "records are lost",
		[CPU_GAP_STALLED] = "dltraced itself did not run: what happened is in later rows",
		[CPU_GAP_STEP] = "the clock of TIME was set; durations are not affected",
		[CPU_GAP_SUSPEND] = "the machine slept; no clock of the trace ran",
	};
	uint64_t n[CPU_GAP_KINDS] = { 0 }, ns[CPU_GAP_KINDS] = { 0 };

	title(out, "Gaps");
	for (uint32_t i = 0; i < r->n_gaps; i++) {
		n[r->gaps[i].kind]++;
		ns[r->gaps[i].kind] += gap_length(&r->gaps[i]);
	}
	for (unsigned int k = 0; k < CPU_GAP_KINDS; k++)
		if (n[k])
			fprintf(out, "%-8s %s, together %s: %s\n", report_cpu_gap_kinds[k], FMT_COUNT(n[k]),
				FMT_NS(ns[k]), meanings[k]);
	if (!r->n_gaps)
		fprintf(out, "none that is known\n");
	if (!r->has_switches)
		fputs("That nothing ran for a while is told by the timeline alone (dltraced start --sched timeline).\n",
		      out);
	if (r->n_gaps)
		fprintf(out, GAP_LINE, "KIND", "AT", "LENGTH", "CPU", "RECORDS");
	for (uint32_t i = 0; i < MIN(r->n_gaps, GAPS_MAX); i++)
		gap_line(r, out, &r->gaps[i]);
	if (r->n_gaps > GAPS_MAX)
		fprintf(out, "and %u more: see gaps.csv (--csv)\n", r->n_gaps - GAPS_MAX);
}

/* --- phases --------------------------------------------------------------------------------------------- */

struct part {
	uint64_t ns;
};

static uint64_t part_key(const void *v)
{
	return ((const struct part *)v)->ns;
}

/* CPU time of PHASE by group: TABLE is keyed by the group's number. */
static uint64_t phase_parts(const struct report_cpu *r, uint32_t phase, struct table *parts)
{
	uint64_t busy_ns = 0;

	table_init(parts, sizeof(struct part), CPU_TASKS_MAX);
	for (uint32_t i = 0; i < r->phase_tasks.n; i++) {
		uint64_t key = r->phase_tasks.keys[i], ns = *(const uint64_t *)table_at(&r->phase_tasks, i);
		const struct cpu_task *t = table_at(&r->tasks, (uint32_t)key);
		struct part *p = key >> 32 == phase && t->kind != CPU_IDLE ? table_get(parts, t->group) : NULL;

		if (!p)
			continue;
		p->ns += ns;
		busy_ns += ns;
	}
	return busy_ns;
}

static void phase_tasks(const struct report_cpu *r, FILE *out, const struct table *parts, uint64_t busy_ns)
{
	autofree uint32_t *order = parts->n ? report_cpu_order(parts, part_key) : NULL;
	uint64_t rest_ns = 0;

	for (uint32_t i = 0; order && i < parts->n; i++) {
		uint64_t ns = ((const struct part *)table_at(parts, order[i]))->ns;
		const struct cpu_group *g = table_at(&r->groups, (uint32_t)parts->keys[order[i]]);

		if (!is_shown(r, ns, busy_ns) && g->kind != CPU_SELF) {
			rest_ns += ns;
			continue;
		}
		fprintf(out, PHASE_LINE "  ", "", "", "", "", FMT_NS(ns), PERCENT(ns, busy_ns));
		fmt_text(out, g->name, 0);
		fputc('\n', out);
	}
	if (rest_ns)
		fprintf(out, PHASE_LINE "  other\n", "", "", "", "", FMT_NS(rest_ns), PERCENT(rest_ns, busy_ns));
}

static void phases(const struct report_cpu *r, FILE *out)
{
	uint64_t wall_ns = r->end_ns - r->begin_ns;

	if (!r->n_phases)
		return;
	title(out, "Phases (TRACE: share of the trace's time; CPU: without idle, then by task)");
	fprintf(out, PHASE_LINE "PHASE\n", "FROM", "TIMES", "WALL", "TRACE", "CPU", "");
	for (uint32_t i = 0; i < r->n_phases; i++) {
		const struct cpu_phase *p = &r->phases[i];
		struct table parts;
		uint64_t busy_ns;

		if (!p->times)
			continue;
		busy_ns = phase_parts(r, i, &parts);
		fprintf(out, PHASE_LINE, p->source, FMT_COUNT(p->times), FMT_NS(p->wall_ns),
			PERCENT(p->wall_ns, wall_ns), FMT_NS(busy_ns), "");
		fmt_text(out, p->name, 0);
		fputs(p->open ? " (has no end: to the trace's)\n" : "\n", out);
		phase_tasks(r, out, &parts, busy_ns);
		table_free(&parts);
	}
	if (!r->has_switches)
		fputs("By sums: what a thread ran in an interval counts evenly for all of it.\n", out);
	else if (r->has_sums)
		fputs("The job's threads by single switches; what others ran in an interval counts evenly for all of it.\n",
		      out);
}

static void notes(const struct report_cpu *r, FILE *out)
{
	title(out, "What is missing");
	for (uint32_t i = 0; i < r->n_notes; i++) {
		fputs("- ", out);
		fmt_text(out, r->notes[i], 0);
		fputc('\n', out);
	}
	if (r->n_notes == 0)
		fputs("nothing that dltraced knows of\n", out);
}

void report_cpu_text(const struct report_cpu *r, FILE *out)
{
	facts(r, out);
	invariant(r, out);
	tasks(r, out);
	cpus(r, out);
	matrix(r, out);
	processes(r, out);
	threads(r, out);
	patterns(r, out);
	gaps(r, out);
	phases(r, out);
	report_cpu_waits(r, out);
	notes(r, out);
}
