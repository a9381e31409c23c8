/* SPDX-License-Identifier: BSD-2-Clause */
/* See lanes.h. */
#include "export/perfetto/lanes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* If a lane has more spans, the older half of them become one. A slice that begins inside of that goes to another lane.
 */
#define SPANS_MAX 2048

void lanes_free(struct lanes *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		free(l->v[i].spans);
	free(l->v);
	*l = (struct lanes){ 0 };
}

static uint32_t add(struct lanes *lanes)
{
	if (lanes->n == LANES_MAX)
		return LANES_NONE;
	if (lanes->n == lanes->room) {
		const uint32_t room = lanes->room ? 2 * lanes->room : 1;
		struct lane *v = realloc(lanes->v, room * sizeof(*v));

		if (!v)
			return LANES_NONE;
		lanes->v = v;
		lanes->room = room;
	}
	lanes->v[lanes->n] = (struct lane){ 0 };
	return lanes->n++;
}

uint32_t lanes_put(struct lanes *lanes, uint64_t begin_ns, uint64_t end_ns)
{
	uint32_t best = LANES_NONE;

	for (uint32_t i = 0; i < lanes->n; i++)
		if (lanes->v[i].end_ns <= begin_ns &&
		    (best == LANES_NONE || lanes->v[i].end_ns > lanes->v[best].end_ns))
			best = i;
	if (best == LANES_NONE)
		best = add(lanes);
	if (best != LANES_NONE)
		lanes->v[best].end_ns = end_ns;
	return best;
}

/*
 * Returns how many of LANE's outermost slices lie before the new one; the others are inside of it. Returns UINT32_MAX
 * if the new one overlaps one of them. *TWIN: one of them has the same begin and end.
 */
static inline uint32_t outside(const struct lane *lane, uint64_t begin_ns, uint64_t end_ns, bool *twin)
{
	uint32_t i = lane->n;
	const struct lane_span *span;

	while (i && lane->spans[i - 1].begin_ns > begin_ns)
		i--;
	if (!i)
		return 0;
	span = &lane->spans[i - 1];
	if (span->end_ns <= begin_ns)
		return i;
	*twin = span->begin_ns == begin_ns && span->end_ns == end_ns && !(lane->merged && i == 1);
	return *twin ? i : UINT32_MAX;
}

static bool has_room(struct lane *lane)
{
	const uint32_t room = lane->room ? 2 * lane->room : 4, half = lane->n / 2;

	if (lane->n < lane->room)
		return true;
	if (room <= SPANS_MAX) {
		struct lane_span *spans = realloc(lane->spans, room * sizeof(*spans));

		if (!spans)
			return false;
		lane->spans = spans;
		lane->room = room;
		return true;
	}
	lane->spans[0].end_ns = lane->spans[half - 1].end_ns;
	memmove(&lane->spans[1], &lane->spans[half], (lane->n - half) * sizeof(*lane->spans));
	lane->n -= half - 1;
	lane->merged = true;
	return true;
}

static inline bool take(struct lane *lane, uint64_t begin_ns, uint64_t end_ns)
{
	bool twin = false;
	uint32_t n;

	if (end_ns < lane->end_ns)
		return false;
	n = outside(lane, begin_ns, end_ns, &twin);
	if (n == UINT32_MAX)
		return false;
	lane->end_ns = end_ns;
	if (twin)
		return true;
	lane->merged &= n > 0;
	lane->n = n;
	if (!has_room(lane))
		return false;
	lane->spans[lane->n++] = (struct lane_span){ begin_ns, end_ns };
	return true;
}

uint32_t lanes_nest(struct lanes *l, uint64_t begin_ns, uint64_t end_ns)
{
	uint32_t i;

	for (i = 0; i < l->n; i++)
		if (take(&l->v[i], begin_ns, end_ns))
			return i;
	i = add(l);
	return i != LANES_NONE && take(&l->v[i], begin_ns, end_ns) ? i : LANES_NONE;
}
