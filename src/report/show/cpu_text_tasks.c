/* SPDX-License-Identifier: BSD-2-Clause */
/* The report on CPU time as text: by task, by CPU, and by both. */
#include "report/show/cpu_text.h"

#include <stdlib.h>

#include "base/fmt.h"

#define CPUS_MAX 64	   /* lines of single CPUs */
#define MATRIX_CPUS_MAX 32 /* columns, in blocks of */
#define MATRIX_BLOCK 12

#define TASK_LINE "%8s %8s %10s %8s %8s %8s %10s %10s  "
#define CPU_LINE "%6s %10s %10s %8s %10s %10s\n"

/* --- tasks ---------------------------------------------------------------------------------------------- */

/* Idle time and our own always have a line of their own. */
static bool group_is_shown(const struct report_cpu *r, const struct cpu_group *g, uint64_t ns, uint64_t busy_ns)
{
	return g->kind == CPU_IDLE || g->kind == CPU_SELF || (ns && report_cpu_is_shown(r, ns, busy_ns));
}

static uint64_t group_key(const void *v)
{
	return ((const struct cpu_group *)v)->sums.run_ns;
}

static void task_line(FILE *out, const struct cpu_group *g, const struct cpu_wholes *w, const char *name)
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

void report_cpu_text_tasks(const struct report_cpu *r, FILE *out)
{
	autofree uint32_t *order = report_cpu_order(&r->groups, group_key);
	struct cpu_wholes w = report_cpu_wholes(r);
	struct cpu_group other = { .tasks = 0 };
	char name[96];

	report_cpu_title(out, "CPU time by task (SHARE: of all; BUSY: without idle; OWN: without the kernel's workers as well)");
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
	report_cpu_other_name(r, name, sizeof(name), other.tasks);
	if (other.tasks)
		task_line(out, &other, &w, name);
}

/* --- CPUs ----------------------------------------------------------------------------------------------- */

void report_cpu_text_cpus(const struct report_cpu *r, FILE *out)
{
	uint32_t shown = 0;

	report_cpu_title(out, "CPUs (MEAN: between two switches)");
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

void report_cpu_text_matrix(const struct report_cpu *r, FILE *out)
{
	autofree uint32_t *order = report_cpu_order(&r->groups, group_key),
			  *row_of = calloc(r->groups.n, sizeof(*row_of));
	autofree const char **names = calloc(r->groups.n + 1, sizeof(*names));
	autofree uint64_t *sums = calloc(((size_t)r->groups.n + 1) * MATRIX_CPUS_MAX, sizeof(*sums));
	struct cpu_wholes w = report_cpu_wholes(r);
	uint32_t rows = 0;

	report_cpu_title(out, "Task x CPU, in % of the CPU's time");
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
