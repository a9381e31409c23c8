/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gaps: stretches of which the trace tells little or nothing, each with its reason. What the clocks and
 * the manifest know of them is read here; src/report/cpu/switches.c finds the others.
 */
#include "report/cpu/scan.h"

#include <stdlib.h>

#include "base/util.h"
#include "report/scan/gaps.h"

enum { REALTIME_NS, BOOTTIME_NS, EVENT };
static const char *const columns[] = { "REALTIME_NS", "BOOTTIME_NS", "EVENT", NULL };

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

static bool row(struct cpu_scan *s)
{
	struct gap_clocks now = { .ns = s->time_ns }, *was = s->own;
	struct cpu_gap gap = { .cpu = CPU_NO_CPU, .start_ns = was->ns, .end_ns = now.ns };
	struct gap_between between;

	if (!cpu_u64(s, REALTIME_NS, &now.realtime_ns) || !cpu_u64(s, BOOTTIME_NS, &now.boottime_ns))
		return false;
	between = gaps_between(was, &now);
	if (between.kind != GAP_NONE) {
		gap.kind = between.kind == GAP_SUSPEND ? CPU_GAP_SUSPEND : CPU_GAP_STALLED;
		gap.ns = between.ns;
		report_cpu_gap(s->r, &gap);
	}
	if (was->ns && cpu_is(s, EVENT, "step")) {
		gap.kind = CPU_GAP_STEP;
		gap.start_ns = now.ns;
		gap.ns = between.step_ns;
		report_cpu_gap(s->r, &gap);
	}
	*was = now;
	return true;
}

int report_cpu_clock_gaps(struct report_cpu *r, int dirfd)
{
	static const char *const probes[] = { "sched", "sched_switch", "pids" };
	struct gap_clocks clocks = { 0 };

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
	return report_cpu_scan(r, dirfd, "time_align", columns, row, &clocks);
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
