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

static void interval_add(struct cpu_phase *p, const struct phase *phase, uint64_t trace_end_ns)
{
	uint64_t end_ns = phase->unfinished ? trace_end_ns : phase->end_ns;
	uint32_t room = p->room ? 2 * p->room : 16;
	struct cpu_interval *v;

	p->times++;
	p->open += phase->unfinished;
	if (p->n == p->room) {
		v = p->room < CPU_INTERVALS_MAX ? reallocarray(p->v, room, sizeof(*v)) : NULL;
		if (!v) { /* no room: the last interval is extended */
			if (p->n)
				p->v[p->n - 1].end_ns = MAX(p->v[p->n - 1].end_ns, end_ns);
			return;
		}
		p->v = v;
		p->room = room;
	}
	p->v[p->n++] = (struct cpu_interval){ phase->begin_ns, MAX(phase->begin_ns, end_ns) };
}

static int by_start(const void *a, const void *b)
{
	const struct cpu_interval *x = a, *y = b;

	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* Sorts the intervals, and joins those that overlap or touch. */
static void put_in_order(struct cpu_phase *p)
{
	uint32_t n = 0;

	if (p->n)
		qsort(p->v, p->n, sizeof(*p->v), by_start);
	for (uint32_t i = 0; i < p->n; i++) {
		if (n && p->v[i].start_ns <= p->v[n - 1].end_ns)
			p->v[n - 1].end_ns = MAX(p->v[n - 1].end_ns, p->v[i].end_ns);
		else
			p->v[n++] = p->v[i];
	}
	p->n = n;
	for (uint32_t i = 0; i < n; i++)
		p->wall_ns += p->v[i].end_ns - p->v[i].start_ns;
}

void report_cpu_phases(struct report_cpu *r, const struct phases *p)
{
	uint64_t end_ns = r->manifest.end_ns ? r->manifest.end_ns : INT64_MAX;

	for (unsigned int i = 0; i < p->n_notes; i++)
		report_cpu_note(r, "%s", p->notes[i]);
	r->n_phases = MIN(p->n_names, CPU_PHASES_MAX);
	for (uint32_t i = 0; i < r->n_phases; i++) {
		memcpy(r->phases[i].name, p->names[i].name, sizeof(r->phases[i].name));
		r->phases[i].source = phase_source_names[p->names[i].source];
	}
	for (uint32_t i = 0; i < p->recorded.n; i++)
		if (p->recorded.v[i].name < r->n_phases)
			interval_add(&r->phases[p->recorded.v[i].name], &p->recorded.v[i], end_ns);
	for (uint32_t i = 0; i < r->n_phases; i++)
		put_in_order(&r->phases[i]);
}

/* Ends phases without an end at the last row. */
void report_cpu_phases_end(struct report_cpu *r)
{
	for (uint32_t i = 0; i < r->n_phases; i++) {
		struct cpu_phase *p = &r->phases[i];

		for (uint32_t k = 0; k < p->n; k++) {
			struct cpu_interval *v = &p->v[k];
			uint64_t end_ns = MAX(MIN(v->end_ns, MAX(r->end_ns, r->manifest.end_ns)), v->start_ns);

			p->wall_ns -= v->end_ns - end_ns;
			v->end_ns = end_ns;
		}
	}
}

/* Returns how much of [FROM, TO] lies in P. */
static uint64_t overlap_ns(const struct cpu_phase *p, uint64_t from_ns, uint64_t to_ns)
{
	uint32_t low = 0, high = p->n;
	uint64_t sum = 0;

	while (low < high) { /* find the first that ends after FROM */
		uint32_t middle = low + (high - low) / 2;

		if (p->v[middle].end_ns <= from_ns)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < p->n && p->v[low].start_ns < to_ns; low++)
		sum += MIN(p->v[low].end_ns, to_ns) - MAX(p->v[low].start_ns, from_ns);
	return sum;
}

void report_cpu_phase_add(struct report_cpu *r, uint32_t task, uint64_t from_ns, uint64_t to_ns, uint64_t run_ns)
{
	for (uint32_t i = 0; i < r->n_phases && to_ns > from_ns; i++) {
		uint64_t in_ns = overlap_ns(&r->phases[i], from_ns, to_ns), *sum;

		if (!in_ns)
			continue;
		in_ns = (uint64_t)((double)run_ns * ((double)in_ns / (double)(to_ns - from_ns)) + 0.5);
		sum = table_get(&r->phase_tasks, report_cpu_pair(i, task));
		if (sum)
			*sum += in_ns;
		r->phases[i].run_ns += in_ns;
	}
}
