/* SPDX-License-Identifier: BSD-2-Clause */
/* The report on CPU time as text: gaps and phases. */
#include <stdlib.h>

#include "base/fmt.h"
#include "report/show/cpu/tables.h"

#define PHASE_LINE "%-7s %7s %10s %8s %10s %8s  "

/* --- gaps ----------------------------------------------------------------------------------------------- */

void report_cpu_text_gaps(const void *of, FILE *out)
{
	const struct report_cpu *cpu = of;
	static const char *const meanings[GAP_KINDS] = {
		[GAP_IDLE] = "nothing ran on any CPU",
		[GAP_OFF] = "nothing of the job ran on any CPU; others did, or this is not known",
		[GAP_LOST] = "records are lost",
		[GAP_STALLED] = "dltraced itself did not run: the events of that time are in later rows",
		[GAP_STEP] = "the clock of TIME was set; durations are not affected",
		[GAP_SUSPEND] = "the machine slept; no clock of the trace ran",
	};
	uint64_t n[GAP_KINDS] = { 0 }, ns[GAP_KINDS] = { 0 };

	view_title(out, "Gaps");
	for (uint32_t i = 0; i < cpu->gaps.n; i++) {
		n[cpu->gaps.v[i].kind]++;
		ns[cpu->gaps.v[i].kind] += view_gap_length(&cpu->gaps.v[i]);
	}
	for (unsigned int k = 0; k < GAP_KINDS; k++)
		if (n[k])
			fprintf(out, "%-8s %s, together %s: %s\n", gap_kind_names[k], FMT_COUNT(n[k]), FMT_NS(ns[k]),
				meanings[k]);
	if (!cpu->gaps.n)
		fprintf(out, "none known\n");
	if (!cpu->has_switches)
		fputs("Only the timeline shows that nothing ran for a while (dltraced start --probes +sched_switch).\n",
		      out);
	view_text(&view_cpu_gaps, cpu, out);
}

/* --- phases --------------------------------------------------------------------------------------------- */

/* For sorting a table of CPU times, which are uint64_t. */
static const struct view parts_by_ns = { .of.table = 1, .of.most = { VIEW_AS_U64, 1 } };

/* Adds up the CPU time of PHASE in PARTS, by the number of the group. */
static uint64_t phase_parts(const struct report_cpu *cpu, uint32_t phase, struct table *parts)
{
	uint64_t busy_ns = 0;

	table_init(parts, sizeof(uint64_t), CPU_TASKS_MAX);
	for (uint32_t i = 0; i < cpu->phase_tasks.n; i++) {
		uint64_t key = cpu->phase_tasks.keys[i], ns = *(const uint64_t *)table_at(&cpu->phase_tasks, i);
		const struct cpu_task *t = table_at(&cpu->tasks, (uint32_t)key);
		uint64_t *p = key >> 32 == phase && t->kind != CPU_IDLE ? table_get(parts, t->group) : NULL;

		if (!p)
			continue;
		*p += ns;
		busy_ns += ns;
	}
	return busy_ns;
}

static void phase_tasks(const struct report_cpu *cpu, FILE *out, const struct table *parts, uint64_t busy_ns)
{
	struct view_rows rows = { 0 };
	uint64_t rest_ns = 0;

	view_rows_fill(&rows, &parts_by_ns, parts, NULL);
	for (size_t i = 0; i < rows.n; i++) {
		const uint64_t *part = rows.v[i].row, ns = *part;
		const struct cpu_group *g =
			table_at(&cpu->groups, (uint32_t)parts->keys[report_cpu_number(parts, part)]);

		if (!report_cpu_is_shown(cpu, ns, busy_ns) && g->kind != CPU_SELF) {
			rest_ns += ns;
			continue;
		}
		fprintf(out, PHASE_LINE, "", "", "", "", FMT_NS(ns), PERCENT(ns, busy_ns));
		fmt_line(out, "  ", g->name);
	}
	view_rows_free(&rows);
	if (rest_ns)
		fprintf(out, PHASE_LINE "  other\n", "", "", "", "", FMT_NS(rest_ns), PERCENT(rest_ns, busy_ns));
}

void report_cpu_text_phases(const void *of, FILE *out)
{
	const struct report_cpu *cpu = of;
	uint64_t wall_ns = cpu->end_ns - cpu->begin_ns;

	if (!cpu->n_phases)
		return;
	view_title(out, "Phases (TRACE: share of the trace's time; CPU: without idle, then by task)");
	fprintf(out, PHASE_LINE "PHASE\n", "FROM", "TIMES", "WALL", "TRACE", "CPU", "");
	for (uint32_t i = 0; i < cpu->n_phases; i++) {
		const struct cpu_phase *phase = &cpu->phases[i];
		struct table parts;
		uint64_t busy_ns;

		if (!phase->times)
			continue;
		busy_ns = phase_parts(cpu, i, &parts);
		fprintf(out, PHASE_LINE, phase->source, FMT_COUNT(phase->times), FMT_NS(phase->wall_ns),
			PERCENT(phase->wall_ns, wall_ns), FMT_NS(busy_ns), "");
		fmt_text(out, phase->name, 0);
		fputs(phase->open ? " (has no end: to the trace's)\n" : "\n", out);
		phase_tasks(cpu, out, &parts, busy_ns);
		table_free(&parts);
	}
	if (!cpu->has_switches)
		fputs("From sums: a thread's time in an interval is spread evenly over it.\n", out);
	else if (cpu->has_sums)
		fputs("The job's threads from single switches; the time of others in an interval is spread evenly over "
		      "it.\n",
		      out);
}
