/* SPDX-License-Identifier: BSD-2-Clause */
/* The report on CPU time as text: tasks by CPUs. */
#include "base/fmt.h"
#include "report/show/cpu/tables.h"

#define BLOCK 12 /* columns at a time */

/* Prints a task's line, for the CPUs from FIRST on. NAME "other" stands for all tasks without a line. */
static void line(const struct report_cpu *r, uint32_t first, const char *name, const uint64_t *by_cpu, FILE *out)
{
	for (uint32_t cpu = first; cpu < MIN(first + BLOCK, r->n_cpus); cpu++) {
		const struct cpu_cpu *c = &r->cpus[cpu];
		uint64_t ns = c->busy_ns + c->idle_ns;

		fprintf(out, "%7.1f", ns ? 100.0 * (double)by_cpu[cpu] / (double)ns : 0);
	}
	fmt_line(out, "  ", name);
}

static void block(const struct report_cpu *report_cpu, uint32_t first, const struct view_rows *tasks,
		  const struct group_row *others, FILE *out)
{
	for (uint32_t cpu = first; cpu < MIN(first + BLOCK, report_cpu->n_cpus); cpu++)
		fprintf(out, "%7u", cpu);
	fputs("  COMM\n", out);
	for (size_t i = 0; i < tasks->n; i++) {
		const struct group_row *row = tasks->v[i].row;

		if (view_tasks.rest->is_shown(report_cpu, row))
			line(report_cpu, first, row->group.name, row->by_cpu, out);
	}
	if (others->by_cpu)
		line(report_cpu, first, "other", others->by_cpu, out);
}

void report_cpu_text_matrix(const void *of, FILE *out)
{
	const struct report_cpu *cpu = of;
	struct view_rows tasks = { 0 };
	struct group_row others = { 0 };

	view_title(out, "Task x CPU, in % of the CPU's time");
	if (cpu->n_cpus > MATRIX_CPUS_MAX) {
		fprintf(out, "too many CPUs for a terminal: see task_by_cpu.csv (--csv)\n");
		return;
	}
	view_rows_fill(&tasks, &view_tasks, cpu, NULL);
	for (size_t i = 0; i < tasks.n; i++)
		if (!view_tasks.rest->is_shown(cpu, tasks.v[i].row))
			view_tasks.rest->add(&others, tasks.v[i].row);
	for (uint32_t first = 0; !tasks.failed && first < cpu->n_cpus; first += BLOCK)
		block(cpu, first, &tasks, &others, out);
	view_rows_free(&tasks);
}
