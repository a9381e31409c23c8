/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/scan/gaps.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/util.h"

/* Clocks are read each second. */
#define STALLED_NS (3 * NSEC_PER_SEC)
/* Two clocks may differ by as much because they are read one after the other. */
#define SUSPEND_NS (10 * NSEC_PER_MSEC)

const char *const gap_kind_names[GAP_KINDS] = {
	[GAP_NONE] = "",           [GAP_IDLE] = "idle", [GAP_OFF] = "off",         [GAP_LOST] = "lost",
	[GAP_STALLED] = "stalled", [GAP_STEP] = "step", [GAP_SUSPEND] = "suspend",
};

void gaps_put(struct gaps *gaps, const struct gap *gap)
{
	if (gaps->n == GAPS_MAX || util_room(&gaps->v, gaps->n, sizeof(*gaps->v)) < 0)
		gaps->more++;
	else
		gaps->v[gaps->n++] = *gap;
}

void gaps_add(struct gaps *g, enum gap_kind kind, const char *file, uint64_t begin_ns, uint64_t end_ns, const char *fmt,
	      ...)
{
	struct gap gap = {
		.kind = kind, .file = file, .cpu = GAP_ALL_CPUS, .begin_ns = begin_ns, .end_ns = MAX(begin_ns, end_ns)
	};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(gap.what, sizeof(gap.what), fmt, ap);
	va_end(ap);
	gaps_put(g, &gap);
}

static int by_begin(const void *a, const void *b)
{
	const struct gap *x = a, *y = b;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return (x->end_ns < y->end_ns) - (x->end_ns > y->end_ns);
}

void gaps_sort(struct gaps *g)
{
	if (g->n)
		qsort(g->v, g->n, sizeof(*g->v), by_begin);
}

void gaps_free(struct gaps *g)
{
	free(g->v);
	*g = (struct gaps){ 0 };
}

struct gap_between gaps_between(const struct gap_clocks *before, const struct gap_clocks *now)
{
	struct gap_between b = { .kind = GAP_NONE };
	uint64_t ns = now->ns - before->ns;
	int64_t slept_ns;

	if (!before->ns)
		return b;
	slept_ns = (int64_t)(now->boottime_ns - before->boottime_ns - ns);
	b.step_ns = (int64_t)(now->realtime_ns - before->realtime_ns - ns);
	if (slept_ns >= (int64_t)SUSPEND_NS) {
		b.kind = GAP_SUSPEND;
		b.ns = slept_ns;
		b.step_ns = (int64_t)((uint64_t)b.step_ns - (uint64_t)slept_ns); /* the other clock has gone on, too */
	} else if (ns >= STALLED_NS) {
		b.kind = GAP_STALLED;
		b.ns = (int64_t)ns;
	}
	return b;
}
