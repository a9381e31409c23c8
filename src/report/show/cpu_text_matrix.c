/* SPDX-License-Identifier: BSD-2-Clause */
/* The report on CPU time as text: tasks by CPUs. */
#include <stdlib.h>

#include "base/fmt.h"
#include "report/show/cpu_text.h"

#define MATRIX_CPUS_MAX 32 /* columns, in blocks of */
#define MATRIX_BLOCK 12

static uint64_t group_key(const void *v)
{
	return ((const struct cpu_group *)v)->sums.run_ns;
}

/* Idle time and our own always have a line of their own. */
static bool is_shown(const struct report_cpu *r, const struct cpu_group *g)
{
	return g->kind == CPU_IDLE || g->kind == CPU_SELF ||
	       (g->sums.run_ns && report_cpu_is_shown(r, g->sums.run_ns, r->busy_ns));
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

void report_cpu_text_matrix(const void *of, FILE *out)
{
	const struct report_cpu *r = of;
	autofree uint32_t *order = report_cpu_order(&r->groups, group_key),
			  *row_of = calloc(r->groups.n, sizeof(*row_of));
	autofree const char **names = calloc(r->groups.n + 1, sizeof(*names));
	autofree uint64_t *sums = calloc(((size_t)r->groups.n + 1) * MATRIX_CPUS_MAX, sizeof(*sums));
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
		bool shown = g->tasks && is_shown(r, g);

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
