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

void cover_add_any(struct cover *c, uint64_t begin_ns, uint64_t end_ns, cover_fn free, void *ctx)
{
	uint64_t free_to = end_ns;
	uint32_t from, to;

	make_room(c);
	if (begin_ns < c->floor_ns) {
		c->unsure_ns += MIN(end_ns, c->floor_ns) - begin_ns;
		begin_ns = c->floor_ns;
	}
	if (begin_ns >= end_ns)
		return;
	for (to = c->n; to > 0 && c->v[to - 1].begin_ns > end_ns; to--)
		;
	for (from = to; from > 0 && c->v[from - 1].end_ns >= begin_ns; from--) {
		if (c->v[from - 1].end_ns < free_to)
			free(ctx, c->v[from - 1].end_ns, free_to);
		free_to = MIN(free_to, c->v[from - 1].begin_ns);
	}
	if (begin_ns < free_to)
		free(ctx, begin_ns, free_to);
	if (from < to) {
		begin_ns = MIN(begin_ns, c->v[from].begin_ns);
		end_ns = MAX(end_ns, c->v[to - 1].end_ns);
	}
	memmove(&c->v[from + 1], &c->v[to], (c->n - to) * sizeof(c->v[0]));
	c->v[from].begin_ns = begin_ns;
	c->v[from].end_ns = end_ns;
	c->n = c->n - (to - from) + 1;
}
