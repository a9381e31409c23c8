/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/sums/epochs.h"

#include "base/util.h"
#include "report/phases/phases.h"

struct path_epochs path_epochs_of(const struct phases *phases)
{
	struct path_epochs epochs = { .n = phases ? phases_count(phases, PHASE_EPOCH) : 0 };
	const struct phase *first, *last;

	if (!epochs.n)
		return epochs;
	first = phases_get(phases, PHASE_EPOCH, 0);
	last = phases_get(phases, PHASE_EPOCH, epochs.n - 1);
	epochs.end_ns[PATH_BEFORE] = first->begin_ns;
	epochs.end_ns[PATH_FIRST] = MAX(first->end_ns, first->begin_ns);
	epochs.end_ns[PATH_LATER] = MAX(last->end_ns, epochs.end_ns[PATH_FIRST]);
	epochs.end_ns[PATH_AFTER] = UINT64_MAX;
	return epochs;
}

enum path_when path_epochs_at(const struct path_epochs *epochs, uint64_t at_ns, uint64_t *until_ns)
{
	unsigned int when = PATH_BEFORE;

	*until_ns = UINT64_MAX;
	if (!epochs->n)
		return PATH_WHENS;
	while (when < PATH_AFTER && at_ns >= epochs->end_ns[when])
		when++;
	*until_ns = epochs->end_ns[when];
	return (enum path_when)when;
}
