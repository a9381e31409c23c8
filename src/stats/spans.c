/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define ROOM_FIRST 64U
#define GLUE_FIRST_NS 512U

void spans_free(struct spans *s)
{
	free(s->v);
	*s = (struct spans){ .max = s->max };
}

/* Close gaps shorter than glue_ns. */
static void glue(struct spans *spans)
{
	size_t n = 0;

	for (size_t i = 0; i < spans->n; i++) {
		uint64_t gap_ns = n ? spans->v[i].begin_ns - spans->v[n - 1].end_ns : UINT64_MAX;

		if (n && gap_ns < spans->glue_ns) {
			spans->glued_ns += gap_ns;
			spans->v[n - 1].end_ns = spans->v[i].end_ns;
		} else {
			spans->v[n++] = spans->v[i];
		}
	}
	spans->n = n;
}

/* Returns the least power of two, above all that glue_ns was, below which gaps are so many that at most MOST stretches
 * are left. */
static uint64_t next_glue(const struct spans *spans, size_t most)
{
	uint64_t glue_ns = 2 * MAX(spans->glue_ns, GLUE_FIRST_NS);
	size_t shorter[65] = { 0 }, left = spans->n; /* gaps by their bits */

	for (size_t i = 1; i < spans->n; i++)
		shorter[64 - __builtin_clzll(spans->v[i].begin_ns - spans->v[i - 1].end_ns)]++;
	for (unsigned int bits = 1; bits < 64; bits++) {
		left -= shorter[bits];
		if (left <= most && 1ULL << bits >= glue_ns)
			return 1ULL << bits;
	}
	return UINT64_MAX;
}

/* Make room for one more. */
static int make_room(struct spans *spans)
{
	size_t max = spans->max ? spans->max : SPANS_MAX, room = spans->room ? 2 * spans->room : ROOM_FIRST;
	struct span *span;

	if (spans->n < spans->room)
		return 0;
	if (spans->n >= max) {
		spans->glue_ns = next_glue(spans, max / 2);
		glue(spans);
		return 0;
	}
	span = reallocarray(spans->v, MIN(room, max), sizeof(*span));
	if (!span)
		return -ENOMEM;
	spans->v = span;
	spans->room = MIN(room, max);
	return 0;
}

int spans_add_any(struct spans *spans, uint64_t begin_ns, uint64_t end_ns)
{
	size_t from, to;
	int res;

	if (begin_ns >= end_ns)
		return 0;
	res = make_room(spans);
	if (res < 0)
		return res;
	/* those that it touches go from FROM up to TO */
	for (to = spans->n; to > 0 && spans->v[to - 1].begin_ns > end_ns; to--)
		;
	for (from = to; from > 0 && spans->v[from - 1].end_ns >= begin_ns; from--)
		;
	if (from == to) {
		memmove(&spans->v[to + 1], &spans->v[to], (spans->n - to) * sizeof(*spans->v));
		spans->v[to] = (struct span){ .begin_ns = begin_ns, .end_ns = end_ns, .weight = 1 };
		spans->n++;
		return 0;
	}
	spans->v[from].begin_ns = MIN(spans->v[from].begin_ns, begin_ns);
	spans->v[from].end_ns = MAX(spans->v[to - 1].end_ns, end_ns);
	memmove(&spans->v[from + 1], &spans->v[to], (spans->n - to) * sizeof(*spans->v));
	spans->n -= to - from - 1;
	return 0;
}

int spans_append(struct spans *spans, uint64_t begin_ns, uint64_t end_ns, double weight)
{
	int res;

	if (spans->n)
		begin_ns = MAX(begin_ns, spans->v[spans->n - 1].end_ns);
	if (begin_ns >= end_ns)
		return 0;
	if (spans->n >= (spans->max ? spans->max : SPANS_MAX))
		return -ENOSPC; /* weights cannot be glued */
	res = make_room(spans);
	if (res < 0)
		return res;
	spans->v[spans->n++] = (struct span){ .begin_ns = begin_ns, .end_ns = end_ns, .weight = (float)weight };
	return 0;
}

void spans_close(struct spans *s)
{
	s->total_ns = 0;
	s->hint = 0;
	for (size_t i = 0; i < s->n; i++) {
		s->v[i].before_ns = s->total_ns;
		s->total_ns += spans_weighed(&s->v[i], s->v[i].end_ns - s->v[i].begin_ns);
	}
}

/* Returns the number of the last one that begins at or before NS, plus one. */
static size_t find(struct spans *spans, uint64_t ns)
{
	size_t lo = 0, hi = spans->n;

	/* queries mostly come in order of time: it is the one before, or one of the next */
	for (size_t i = spans->hint; i <= spans->hint + 1 && i <= spans->n; i++)
		if ((i == 0 || spans->v[i - 1].begin_ns <= ns) && (i == spans->n || spans->v[i].begin_ns > ns))
			return spans->hint = i;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (spans->v[mid].begin_ns <= ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return spans->hint = lo;
}

/* Returns how much of the set lies before NS. */
static uint64_t before(struct spans *s, uint64_t ns)
{
	size_t i = find(s, ns);
	const struct span *last;

	if (!i)
		return 0;
	last = &s->v[i - 1];
	return last->before_ns + spans_weighed(last, MIN(ns, last->end_ns) - last->begin_ns);
}

uint64_t spans_within_any(struct spans *s, uint64_t begin_ns, uint64_t end_ns)
{
	const uint64_t from_ns = before(s, begin_ns);

	return before(s, end_ns) - from_ns;
}

uint64_t spans_both(struct spans *spans, struct spans *b, uint64_t begin_ns, uint64_t end_ns)
{
	size_t i = find(spans, begin_ns), k = find(b, begin_ns);
	uint64_t ns = 0;

	i -= i > 0; /* it begins at BEGIN or before */
	k -= k > 0;
	while (i < spans->n && k < b->n && spans->v[i].begin_ns < end_ns && b->v[k].begin_ns < end_ns) {
		uint64_t from_ns = MAX(MAX(spans->v[i].begin_ns, b->v[k].begin_ns), begin_ns);
		uint64_t to_ns = MIN(MIN(spans->v[i].end_ns, b->v[k].end_ns), end_ns);

		ns += to_ns > from_ns ? to_ns - from_ns : 0;
		if (spans->v[i].end_ns < b->v[k].end_ns)
			i++;
		else
			k++;
	}
	return ns;
}
