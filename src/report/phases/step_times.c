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

static void halve(struct step_times *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n; i += 2) {
		t->v[n] = t->v[i];
		if (i + 1 < t->n)
			take(&t->v[n], &t->v[i + 1]);
		n++;
	}
	t->n = n;
	t->each *= 2;
}

void step_times_add(struct step_times *t, uint64_t begin_ns, uint64_t end_ns)
{
	const struct step_time one = { begin_ns, end_ns, end_ns - begin_ns, 1 };

	if (!t->v) {
		t->v = calloc(STEP_TIMES_MAX, sizeof(*t->v));
		if (!t->v)
			return;
		t->each = 1;
	}
	if (t->n && t->v[t->n - 1].n < t->each) {
		take(&t->v[t->n - 1], &one);
		return;
	}
	if (t->n == STEP_TIMES_MAX)
		halve(t);
	t->v[t->n++] = one;
}
