/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPU time by the job's phases (phases.h). All phases of a name count as one, also those of several ranks. Phases may
 * overlap: each gets all of the CPU time within it.
 */
#include "report/cpu/scan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/phases/phases.h"

static_assert(CPU_PHASE_NAME_MAX == PHASE_NAME_MAX, "names are copied whole");

static void interval_add(struct cpu_phase *cpu_phase, const struct phase *phase, uint64_t trace_end_ns)
{
	uint64_t end_ns = phase->unfinished ? trace_end_ns : phase->end_ns;

	cpu_phase->times++;
	cpu_phase->open += phase->unfinished;
	if (cpu_phase->n == CPU_INTERVALS_MAX || util_room(&cpu_phase->v, cpu_phase->n, sizeof(*cpu_phase->v)) < 0) {
		if (cpu_phase->n) /* no room: the last interval is extended */
			cpu_phase->v[cpu_phase->n - 1].end_ns = MAX(cpu_phase->v[cpu_phase->n - 1].end_ns, end_ns);
		return;
	}
	cpu_phase->v[cpu_phase->n++] = (struct cpu_interval){ phase->begin_ns, MAX(phase->begin_ns, end_ns) };
}

static int by_start(const void *a, const void *b)
{
	const struct cpu_interval *x = a, *y = b;

	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* Sorts the intervals, and joins those that overlap or touch. */
static void put_in_order(struct cpu_phase *phase)
{
	uint32_t n = 0;

	if (phase->n)
		qsort(phase->v, phase->n, sizeof(*phase->v), by_start);
	for (uint32_t i = 0; i < phase->n; i++) {
		if (n && phase->v[i].start_ns <= phase->v[n - 1].end_ns)
			phase->v[n - 1].end_ns = MAX(phase->v[n - 1].end_ns, phase->v[i].end_ns);
		else
			phase->v[n++] = phase->v[i];
	}
	phase->n = n;
	for (uint32_t i = 0; i < n; i++)
		phase->wall_ns += phase->v[i].end_ns - phase->v[i].start_ns;
}

void report_cpu_phases(struct report_cpu *cpu, const struct phases *phases)
{
	uint64_t end_ns = cpu->manifest.end_ns ? cpu->manifest.end_ns : INT64_MAX;

	for (unsigned int i = 0; i < phases->n_notes; i++)
		report_cpu_note(cpu, "%s", phases->notes[i]);
	cpu->n_phases = MIN(phases->n_names, CPU_PHASES_MAX);
	for (uint32_t i = 0; i < cpu->n_phases; i++) {
		memcpy(cpu->phases[i].name, phases->names[i].name, sizeof(cpu->phases[i].name));
		cpu->phases[i].source = phase_source_names[phases->names[i].source];
	}
	for (uint32_t i = 0; i < phases->recorded.n; i++)
		if (phases->recorded.v[i].name < cpu->n_phases)
			interval_add(&cpu->phases[phases->recorded.v[i].name], &phases->recorded.v[i], end_ns);
	for (uint32_t i = 0; i < cpu->n_phases; i++)
		put_in_order(&cpu->phases[i]);
}

/* Ends phases without an end at the last row. */
void report_cpu_phases_end(struct report_cpu *cpu)
{
	for (uint32_t i = 0; i < cpu->n_phases; i++) {
		struct cpu_phase *p = &cpu->phases[i];

		for (uint32_t k = 0; k < p->n; k++) {
			struct cpu_interval *v = &p->v[k];
			uint64_t end_ns = MAX(MIN(v->end_ns, MAX(cpu->end_ns, cpu->manifest.end_ns)), v->start_ns);

			p->wall_ns -= v->end_ns - end_ns;
			v->end_ns = end_ns;
		}
	}
}

/* Returns how much of [FROM, TO] lies in PHASE. */
static uint64_t overlap_ns(const struct cpu_phase *phase, uint64_t from_ns, uint64_t to_ns)
{
	uint32_t low = 0, high = phase->n;
	uint64_t sum = 0;

	while (low < high) { /* find the first that ends after FROM */
		uint32_t middle = low + (high - low) / 2;

		if (phase->v[middle].end_ns <= from_ns)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < phase->n && phase->v[low].start_ns < to_ns; low++)
		sum += MIN(phase->v[low].end_ns, to_ns) - MAX(phase->v[low].start_ns, from_ns);
	return sum;
}

void report_cpu_phase_add(struct report_cpu *cpu, uint32_t task, uint64_t from_ns, uint64_t to_ns, uint64_t run_ns)
{
	for (uint32_t i = 0; i < cpu->n_phases && to_ns > from_ns; i++) {
		uint64_t in_ns = overlap_ns(&cpu->phases[i], from_ns, to_ns), *sum;

		if (!in_ns)
			continue;
		in_ns = (uint64_t)((double)run_ns * ((double)in_ns / (double)(to_ns - from_ns)) + 0.5);
		sum = table_get(&cpu->phase_tasks, report_cpu_pair(i, task));
		if (sum)
			*sum += in_ns;
		cpu->phases[i].run_ns += in_ns;
	}
}
