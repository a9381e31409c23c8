/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/scan/clocks.h"

#include <stdlib.h>

void scan_clocks_free(struct scan_clocks *c)
{
	if (c)
		gaps_free(&c->gaps);
	free(c);
}

static void add_gap(struct scan_clocks *c, enum gap_kind kind, uint64_t begin_ns, uint64_t end_ns, int64_t ns)
{
	gaps_put(&c->gaps,
		 &(struct gap){ .kind = kind, .cpu = GAP_ALL_CPUS, .begin_ns = begin_ns, .end_ns = end_ns, .ns = ns });
}

bool scan_clocks_take(struct scan *s, void *clocks)
{
	struct gap_clocks now = { .ns = s->time_ns }, last;
	struct scan_clocks *c = clocks;
	struct gap_between between;

	if (!scan_u64(s, COL_REALTIME_NS, &now.realtime_ns))
		return false;
	phase_clock_reading(&c->phases, now.ns, now.realtime_ns);
	if (!scan_u64(s, COL_BOOTTIME_NS, &now.boottime_ns))
		return false;
	last = c->last;
	c->last = now;
	between = gaps_between(&last, &now);
	if (between.kind != GAP_NONE)
		add_gap(c, between.kind, last.ns, now.ns, between.ns);
	if (last.ns && scan_is(s, COL_EVENT, "step"))
		add_gap(c, GAP_STEP, now.ns, now.ns, between.step_ns);
	return true;
}
