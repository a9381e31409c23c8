/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/scan/clocks.h"

#include <stdlib.h>

void scan_clocks_free(struct scan_clocks *c)
{
	if (c)
		free(c->gaps);
	free(c);
}

static void add_gap(struct scan_clocks *c, const struct clock_gap *gap)
{
	if (c->n_gaps == CLOCK_GAPS_MAX) {
		c->more_gaps++;
		return;
	}
	if (!(c->n_gaps & (c->n_gaps - 1))) { /* room for 1, 2, 4 ... */
		struct clock_gap *v = reallocarray(c->gaps, c->n_gaps ? 2 * (size_t)c->n_gaps : 1, sizeof(*v));

		if (!v)
			return;
		c->gaps = v;
	}
	c->gaps[c->n_gaps++] = *gap;
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
		add_gap(c, &(struct clock_gap){ between.kind, last.ns, now.ns, between.ns });
	if (last.ns && scan_is(s, COL_EVENT, "step"))
		add_gap(c, &(struct clock_gap){ GAP_STEP, now.ns, now.ns, between.step_ns });
	return true;
}
