/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/cover.h"

#include <string.h>

#include "base/util.h"

/* Make room for one more: the older half is forgotten. */
static void make_room(struct cover *c)
{
	const uint32_t half = COVER_MAX / 2;

	if (c->n < COVER_MAX)
		return;
	c->floor_ns = c->v[half - 1].end_ns;
	memmove(c->v, &c->v[half], (COVER_MAX - half) * sizeof(c->v[0]));
	c->n -= half;
}

void cover_add_any(struct cover *cover, uint64_t begin_ns, uint64_t end_ns, cover_fn free, void *ctx)
{
	uint64_t free_to = end_ns;
	uint32_t from, to;

	make_room(cover);
	if (begin_ns < cover->floor_ns) {
		cover->unsure_ns += MIN(end_ns, cover->floor_ns) - begin_ns;
		begin_ns = cover->floor_ns;
	}
	if (begin_ns >= end_ns)
		return;
	for (to = cover->n; to > 0 && cover->v[to - 1].begin_ns > end_ns; to--)
		;
	for (from = to; from > 0 && cover->v[from - 1].end_ns >= begin_ns; from--) {
		if (cover->v[from - 1].end_ns < free_to)
			free(ctx, cover->v[from - 1].end_ns, free_to);
		free_to = MIN(free_to, cover->v[from - 1].begin_ns);
	}
	if (begin_ns < free_to)
		free(ctx, begin_ns, free_to);
	if (from < to) {
		begin_ns = MIN(begin_ns, cover->v[from].begin_ns);
		end_ns = MAX(end_ns, cover->v[to - 1].end_ns);
	}
	memmove(&cover->v[from + 1], &cover->v[to], (cover->n - to) * sizeof(cover->v[0]));
	cover->v[from].begin_ns = begin_ns;
	cover->v[from].end_ns = end_ns;
	cover->n = cover->n - (to - from) + 1;
}
