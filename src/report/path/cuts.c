/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/cuts.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"

void path_cuts_free(struct path_cuts *cuts)
{
	free(cuts->v);
	free(cuts->by_life);
}

int path_cuts_add(struct path_cuts *cuts, const struct path_piece *piece, uint32_t number)
{
	if (util_room(&cuts->v, cuts->n, sizeof(*cuts->v)) < 0)
		return -ENOMEM;
	cuts->v[cuts->n++] = (struct path_cut_time){
		.row = { .at_ns = piece->between->begin_ns, .life = piece->life },
		.end_ns = piece->between->end_ns,
		.storage_ns = piece->between->storage_ns,
		.ready_ns = piece->between->ready_ns,
		.piece = number,
	};
	return 0;
}

int path_cuts_sort(struct path_cuts *cuts, uint32_t lives)
{
	cuts->by_life = path_rows_sort(&cuts->v, cuts->n, sizeof(*cuts->v), lives);
	return cuts->by_life ? 0 : -ENOMEM;
}

/* --- calls --------------------------------------------------------------------------------------------- */

/* Returns the index of the first time of RANGE that ends after AT. */
static uint32_t from(const struct path_cuts *cuts, struct path_range range, uint64_t at_ns)
{
	uint32_t low = range.first, high = range.first + range.n;

	while (low < high) {
		const uint32_t mid = low + (high - low) / 2;

		if (cuts->v[mid].end_ns <= at_ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Boyer and Moore's vote (1981), by time: a file with more than half of it has the name. */
static void vote(struct path_calls_of *of, uint32_t name, uint64_t ns)
{
	if (of->name == name) {
		of->lead_ns += ns;
	} else if (of->lead_ns >= ns) {
		of->lead_ns -= ns;
	} else {
		of->lead_ns = ns - of->lead_ns;
		of->name = name;
	}
}

static void add(struct path_cut_time *time, uint64_t ns, enum path_cut_kind kind, uint32_t name)
{
	time->of[kind].ns += ns;
	vote(&time->of[kind], name, ns);
}

/* Most calls are within the time that the one before was in. */
void path_cuts_call(struct path_cuts *cuts, uint32_t life, uint64_t begin_ns, uint64_t end_ns, enum path_cut_kind kind,
		    uint32_t name)
{
	const struct path_range range = cuts->by_life[life];
	const uint32_t stop = range.first + range.n;
	struct path_cut_time *last = &cuts->v[cuts->last];

	if (cuts->last < cuts->n && last->row.life == life && last->row.at_ns <= begin_ns && end_ns <= last->end_ns) {
		add(last, end_ns - begin_ns, kind, name);
		return;
	}
	for (uint32_t i = from(cuts, range, begin_ns); i < stop && cuts->v[i].row.at_ns < end_ns; i++) {
		struct path_cut_time *time = &cuts->v[i];
		const uint64_t ns = MIN(end_ns, time->end_ns) - MAX(begin_ns, time->row.at_ns);

		add(time, ns, kind, name);
		cuts->last = i;
	}
}

/* --- parts --------------------------------------------------------------------------------------------- */

void path_cut_parts(const struct path_cut_time *time, uint64_t cpu_ns, uint64_t ns[static PATH_CUT_KINDS])
{
	const double busy = (double)cpu_ns / (double)(cpu_ns + time->ready_ns);
	uint64_t all_ns = 0, left_ns = cpu_ns;
	double inside;

	for (unsigned int i = 0; i < PATH_CUT_KINDS; i++)
		all_ns += time->of[i].ns;
	inside = all_ns > time->storage_ns ? busy * (double)(all_ns - time->storage_ns) : 0;
	inside = MIN(inside, (double)cpu_ns);
	for (unsigned int i = 0; i < PATH_CUT_KINDS; i++) {
		ns[i] = all_ns ? MIN((uint64_t)(inside * ((double)time->of[i].ns / (double)all_ns)), left_ns) : 0;
		left_ns -= ns[i];
	}
}
