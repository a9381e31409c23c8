/* SPDX-License-Identifier: BSD-2-Clause */
/* See overlap.h. */
#include "report/why/overlap.h"

#include <stdlib.h>

#include "report/scan/model.h"
#include "report/why/why_impl.h"

static struct overlap of_epoch(struct why_trainer *trainer, const struct step_sum *sum)
{
	struct overlap o = { .pid = sum->pid, .epoch = sum->epoch, .wall_ns = sum->end_ns - sum->begin_ns };

	o.compute_ns = spans_within(&trainer->steps->spans[STEP_COMPUTE], sum->begin_ns, sum->end_ns);
	o.io_ns = spans_within(&trainer->io, sum->begin_ns, sum->end_ns);
	o.both_ns = spans_both(&trainer->steps->spans[STEP_COMPUTE], &trainer->io, sum->begin_ns, sum->end_ns);
	o.compute_alone_ns = o.compute_ns - o.both_ns;
	o.io_alone_ns = o.io_ns - o.both_ns;
	o.neither_ns = o.wall_ns - o.both_ns - o.compute_alone_ns - o.io_alone_ns;
	return o;
}

struct overlap *overlap_all(const struct report *report, uint32_t *n)
{
	const struct phase_steps *steps = report->phases ? &report->phases->steps : NULL;
	struct overlap *all = steps ? calloc(steps->n_sums + 1, sizeof(*all)) : NULL;

	*n = 0;
	for (uint32_t i = 0; all && i < report->why->n_trainers; i++)
		spans_close(&report->why->trainer[i].io);
	for (uint32_t i = 0; all && i < steps->n_sums; i++) {
		struct why_trainer *t = why_trainer(report->why, steps->sums[i].pid);

		if (t && t->steps)
			all[(*n)++] = of_epoch(t, &steps->sums[i]);
	}
	return all;
}
