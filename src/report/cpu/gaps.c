/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gaps: stretches of which the trace tells little or nothing, each with its reason. Those that the clocks and
 * the manifest know of are taken in here; src/report/cpu/switches.c finds the others.
 */
#include "report/cpu/scan.h"

#include <stdlib.h>

#include "base/util.h"

const char *const report_cpu_gap_kinds[CPU_GAP_KINDS] = {
	[CPU_GAP_IDLE] = "idle", [CPU_GAP_OFF] = "off", [CPU_GAP_LOST] = "lost", [CPU_GAP_STALLED] = "stalled",
	[CPU_GAP_STEP] = "step", [CPU_GAP_SUSPEND] = "suspend",
};

void report_cpu_gap(struct report_cpu *r, const struct cpu_gap *gap)
{
	struct cpu_gap *v;

	if (r->n_gaps == CPU_GAPS_MAX) {
		r->more_gaps++;
		return;
	}
	if (!(r->n_gaps & (r->n_gaps - 1))) { /* room for 1, 2, 4 ... */
		v = reallocarray(r->gaps, r->n_gaps ? 2 * (size_t)r->n_gaps : 1, sizeof(*v));
		if (!v)
			return;
		r->gaps = v;
	}
	r->gaps[r->n_gaps++] = *gap;
}

void report_cpu_clock_gaps(struct report_cpu *r, const struct scan_clocks *clocks)
{
	static const char *const probes[] = { "sched", "sched_switch", "pids" };
	static const enum cpu_gap_kind kinds[] = {
		[GAP_STALLED] = CPU_GAP_STALLED, [GAP_SUSPEND] = CPU_GAP_SUSPEND, [GAP_STEP] = CPU_GAP_STEP,
	};

	for (size_t i = 0; i < ARRAY_SIZE(probes); i++) {
		const struct manifest_probe *p = manifest_probe(&r->manifest, probes[i]);

		if (!p || !p->lost)
			continue;
		report_cpu_gap(r, &(struct cpu_gap){ .kind = CPU_GAP_LOST, .cpu = CPU_NO_CPU, .count = p->lost });
		report_cpu_note(r,
				"%s: %llu rows, or switches that the kernel did not tell of, are lost: they are in no sum, or "
				"their time is that of who ran beside them",
				probes[i], (unsigned long long)p->lost);
	}
	for (uint32_t i = 0; i < clocks->n_gaps; i++) {
		const struct clock_gap *g = &clocks->gaps[i];

		report_cpu_gap(r, &(struct cpu_gap){ .kind = kinds[g->kind], .start_ns = g->begin_ns, .end_ns = g->end_ns,
						     .ns = g->ns, .cpu = CPU_NO_CPU });
	}
	r->more_gaps += clocks->more_gaps;
}

static int by_start(const void *a, const void *b)
{
	const struct cpu_gap *x = a, *y = b;

	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

void report_cpu_gaps_end(struct report_cpu *r)
{
	if (r->n_gaps)
		qsort(r->gaps, r->n_gaps, sizeof(*r->gaps), by_start);
}
