/* SPDX-License-Identifier: BSD-2-Clause */
/* See skew.h. */
#include "report/phases/skew.h"

#include <stdlib.h>

#include "base/util.h"

struct skew_step {
	int64_t epoch, number;
	uint64_t processes; /* a bit for each; 0: there is no step here */
	uint64_t end_ns, own_ns, wall_ns, most_ns;
	unsigned int n, slowest;
};

/* Adds the step to the sums if several processes took it: with one process, there is nothing to compare. */
static void settle(struct skew *s, struct skew_step *step)
{
	if (step->n > 1) {
		s->n++;
		s->mean_ns += (double)step->own_ns / step->n;
		s->wall_ns += (double)step->wall_ns / step->n;
		s->slowest_ns += (double)step->most_ns;
		s->slowest[step->slowest]++;
	}
	*step = (struct skew_step){ 0 };
}

void skew_take(struct skew *skew, const struct skew_one *one)
{
	const uint64_t bit = 1ULL << one->process;
	struct skew_step *step;

	if (!skew->ring)
		skew->ring = calloc(SKEW_STEPS, sizeof(*skew->ring));
	if (!skew->ring)
		return;
	step = &skew->ring[(uint64_t)one->number % SKEW_STEPS];
	if (step->number != one->number || step->epoch != one->epoch || step->processes & bit ||
	    step->end_ns < one->process_begin_ns)
		settle(skew, step);
	if (!step->n || one->own_ns > step->most_ns) {
		step->most_ns = one->own_ns;
		step->slowest = one->process;
	}
	step->epoch = one->epoch;
	step->number = one->number;
	step->processes |= bit;
	step->n++;
	step->end_ns = one->end_ns;
	step->own_ns += one->own_ns;
	step->wall_ns += one->wall_ns;
}

void skew_end(struct skew *s)
{
	for (unsigned int i = 0; s->ring && i < SKEW_STEPS; i++)
		settle(s, &s->ring[i]);
	free(s->ring);
	s->ring = NULL;
}

void skew_free(struct skew *s)
{
	free(s->ring);
	s->ring = NULL;
}
