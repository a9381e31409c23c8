/* SPDX-License-Identifier: BSD-2-Clause */
/* See step_times.h. */
#include "report/phases/step_times.h"

#include <stdlib.h>

#include "base/util.h"

void step_times_free(struct step_times *t)
{
	free(t->v);
}

static void take(struct step_time *to, const struct step_time *from)
{
	to->end_ns = from->end_ns;
	to->longest_ns = MAX(to->longest_ns, from->longest_ns);
	to->n += from->n;
}

static void halve(struct step_times *times)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < times->n; i += 2) {
		times->v[n] = times->v[i];
		if (i + 1 < times->n)
			take(&times->v[n], &times->v[i + 1]);
		n++;
	}
	times->n = n;
	times->each *= 2;
}

void step_times_add(struct step_times *times, uint64_t begin_ns, uint64_t end_ns)
{
	const struct step_time one = { begin_ns, end_ns, end_ns - begin_ns, 1 };

	if (!times->v) {
		times->v = calloc(STEP_TIMES_MAX, sizeof(*times->v));
		if (!times->v)
			return;
		times->each = 1;
	}
	if (times->n && times->v[times->n - 1].n < times->each) {
		take(&times->v[times->n - 1], &one);
		return;
	}
	if (times->n == STEP_TIMES_MAX)
		halve(times);
	times->v[times->n++] = one;
}
