/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/way.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"

void path_way_free(struct path_way *way)
{
	path_cuts_free(&way->cuts);
	free(way->v);
	*way = (struct path_way){ .n = 0 };
}

/* --- as they come -------------------------------------------------------------------------------------- */

/* Whether PIECE goes on where the one before it has ended. Those of a chain come from the end. */
static bool joins(const struct path_way *way, const struct path_piece *piece)
{
	struct path_way_piece *last = way->n ? &way->v[way->n - 1] : NULL;

	if (!last || last->life != piece->life || piece->between || piece->leaf.kind == PATH_CPU ||
	    path_leaf_key(&last->leaf) != path_leaf_key(&piece->leaf))
		return false;
	if (last->end_ns == piece->begin_ns)
		last->end_ns = piece->end_ns;
	else if (last->begin_ns == piece->end_ns)
		last->begin_ns = piece->begin_ns;
	else
		return false;
	return true;
}

void path_way_take(void *own, const struct path_piece *piece)
{
	struct path_way *way = own;

	if (joins(way, piece))
		return;
	way->full = way->full || way->n == way->max || util_room(&way->v, way->n, sizeof(*way->v)) < 0 ||
		    (piece->between && path_cuts_add(&way->cuts, piece, way->n) < 0);
	if (way->full) {
		path_sums_add(way->sums, &piece->leaf, piece->begin_ns, piece->end_ns, PATH_WHENS);
		return;
	}
	way->v[way->n++] = (struct path_way_piece){ piece->begin_ns, piece->end_ns, piece->leaf, piece->life, 0 };
}

int path_way_walked(struct path_way *way, uint32_t lives)
{
	if (path_cuts_sort(&way->cuts, lives) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < way->cuts.n; i++)
		way->v[way->cuts.v[i].piece].time = i + 1;
	return 0;
}

/* --- faults -------------------------------------------------------------------------------------------- */

/* Returns the index of the first piece, in their order, that may overlap with [BEGIN, END). */
static uint32_t from(const struct path_way *way, uint64_t begin_ns, uint64_t end_ns)
{
	uint32_t low = 0, high = way->n;

	while (low < high) {
		const uint32_t mid = low + (high - low) / 2;

		if (way->backwards ? way->v[mid].begin_ns >= end_ns : way->v[mid].end_ns <= begin_ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

void path_way_fault(struct path_way *way, uint32_t life, uint64_t begin_ns, uint64_t end_ns, uint32_t name)
{
	for (uint32_t i = from(way, begin_ns, end_ns); i < way->n; i++) {
		struct path_way_piece *piece = &way->v[i];
		const uint64_t first_ns = MAX(piece->begin_ns, begin_ns), last_ns = MIN(piece->end_ns, end_ns);

		if (first_ns >= last_ns)
			return;
		if (piece->life != life || !path_is_storage(piece->leaf.kind) ||
		    (last_ns - first_ns) * 2 < piece->end_ns - piece->begin_ns)
			continue;
		piece->leaf.kind = PATH_DISK_FAULT;
		piece->leaf.detail = name ?: piece->leaf.detail;
	}
}

/* --- as they were cut ---------------------------------------------------------------------------------- */

struct ending {
	const struct path_way *way;
	const struct path_lives *lives;
	const struct path_epochs *epochs;
	struct path_also also;
};

/* Adds a piece, cut where the job's phase changes. */
static void add(const struct ending *ending, const struct path_leaf *leaf, uint64_t begin_ns, uint64_t end_ns)
{
	if (ending->also.timeline && begin_ns < end_ns)
		timeline_spread(ending->also.timeline, path_kinds[leaf->kind].sum, end_ns, end_ns - begin_ns,
				end_ns - begin_ns);
	while (begin_ns < end_ns) {
		uint64_t until_ns;
		const enum path_when when = path_epochs_at(ending->epochs, begin_ns, &until_ns);
		uint32_t sum;

		until_ns = MIN(until_ns, end_ns);
		sum = path_sums_add(ending->way->sums, leaf, begin_ns, until_ns, when);
		if (ending->also.idle)
			path_idle_add(ending->also.idle, sum, begin_ns, until_ns);
		begin_ns = until_ns;
	}
}

/* Adds a piece, cut where its process had loaded its programs. */
static void add_loading(const struct ending *ending, uint32_t life, struct path_leaf leaf, uint64_t begin_ns,
			uint64_t end_ns)
{
	const uint64_t loaded_ns = path_lives_process(ending->lives, life)->loaded_ns;
	const uint64_t until_ns = MAX(begin_ns, MIN(end_ns, loaded_ns));

	leaf.starting = true;
	add(ending, &leaf, begin_ns, until_ns);
	leaf.starting = false;
	add(ending, &leaf, until_ns, end_ns);
}

static void add_piece(const struct ending *ending, const struct path_way_piece *piece)
{
	static const enum path_kind kinds[PATH_CUT_KINDS] = {
		[PATH_CUT_READ] = PATH_CPU_READ,
		[PATH_CUT_WRITE] = PATH_CPU_WRITE,
		[PATH_CUT_METADATA] = PATH_CPU_METADATA,
	};
	const struct path_cut_time *time = piece->time ? &ending->way->cuts.v[piece->time - 1] : NULL;
	uint64_t ns[PATH_CUT_KINDS] = { 0 }, at_ns = piece->begin_ns;

	if (time)
		path_cut_parts(time, piece->end_ns - piece->begin_ns, ns);
	for (unsigned int i = 0; i < PATH_CUT_KINDS; i++) {
		struct path_leaf leaf = piece->leaf;

		leaf.kind = kinds[i];
		leaf.detail = time ? time->of[i].name : 0;
		add_loading(ending, piece->life, leaf, at_ns, at_ns + ns[i]);
		at_ns += ns[i];
	}
	add_loading(ending, piece->life, piece->leaf, at_ns, piece->end_ns);
}

static void add_worker(const struct ending *ending, const struct path_way_piece *piece)
{
	const bool serves = ending->also.workers && piece->leaf.role == PATH_WORKER;
	uint64_t *ns =
		serves ? table_get(ending->also.workers, path_lives_process(ending->lives, piece->life)->pid) : NULL;

	if (ns)
		*ns += piece->end_ns - piece->begin_ns;
}

void path_way_end(struct path_way *way, const struct path_lives *lives, const struct path_epochs *epochs,
		  struct path_also also)
{
	const struct ending ending = { way, lives, epochs, also };

	for (uint32_t i = 0; i < way->n; i++) {
		add_piece(&ending, &way->v[i]);
		add_worker(&ending, &way->v[i]);
	}
}
