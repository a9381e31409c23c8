/* SPDX-License-Identifier: BSD-2-Clause */
/* See step_lines.h. */
#include "report/phases/step_lines.h"

#include "applog/entry.h"
#include "base/util.h"

void step_lines_add(struct step_lines *lines, const struct phase_entry *entry)
{
	const int64_t step = entry->words.step;

	if (!lines->n++)
		*lines = (struct step_lines){
			.n = 1, .first_ns = entry->at_ns, .last_ns = entry->at_ns, .first = step, .last = step
		};
	if (entry->at_ns < lines->last_ns || step <= lines->last) /* of another rank, or of a job that has begun anew */
		return;
	if (!lines->each)
		lines->each = step - lines->first;
	lines->last = step;
	lines->last_ns = entry->at_ns;
}

/* A job that goes on with step 12000 did not do these in the trace: at most EACH were before the first line. */
uint64_t step_lines_begin(const struct step_lines *l)
{
	uint64_t before_ns;

	if (!l->each)
		return 0;
	before_ns = (uint64_t)((double)(l->last_ns - l->first_ns) / (double)(l->last - l->first) *
			       (double)MIN(l->first, l->each));
	return l->first_ns - MIN(before_ns, l->first_ns);
}
