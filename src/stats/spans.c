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
static void glue(struct spans *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		uint64_t gap_ns = n ? s->v[i].begin_ns - s->v[n - 1].end_ns : UINT64_MAX;

		if (n && gap_ns < s->glue_ns) {
			s->glued_ns += gap_ns;
			s->v[n - 1].end_ns = s->v[i].end_ns;
		} else {
			s->v[n++] = s->v[i];
		}
	}
	s->n = n;
}

/* Returns the least power of two, above all that glue_ns was, below which gaps are so many that at most MOST stretches are left. */
static uint64_t next_glue(const struct spans *s, size_t most)
{
	uint64_t glue_ns = 2 * MAX(s->glue_ns, GLUE_FIRST_NS);
	size_t shorter[65] = { 0 }, left = s->n; /* gaps by their bits */

	for (size_t i = 1; i < s->n; i++)
		shorter[64 - __builtin_clzll(s->v[i].begin_ns - s->v[i - 1].end_ns)]++;
	for (unsigned int bits = 1; bits < 64; bits++) {
		left -= shorter[bits];
		if (left <= most && 1ULL << bits >= glue_ns)
			return 1ULL << bits;
	}
	return UINT64_MAX;
}

/* Make room for one more. */
static int make_room(struct spans *s)
{
	size_t max = s->max ? s->max : SPANS_MAX, room = s->room ? 2 * s->room : ROOM_FIRST;
	struct span *v;

	if (s->n < s->room)
		return 0;
	if (s->n >= max) {
		s->glue_ns = next_glue(s, max / 2);
		glue(s);
		return 0;
	}
	v = reallocarray(s->v, MIN(room, max), sizeof(*v));
	if (!v)
		return -ENOMEM;
	s->v = v;
	s->room = MIN(room, max);
	return 0;
}

int spans_add_any(struct spans *s, uint64_t begin_ns, uint64_t end_ns)
{
	size_t from, to;
	int res;

	if (begin_ns >= end_ns)
		return 0;
	res = make_room(s);
	if (res < 0)
		return res;
	/* those that it touches go from FROM up to TO */
	for (to = s->n; to > 0 && s->v[to - 1].begin_ns > end_ns; to--)
		;
	for (from = to; from > 0 && s->v[from - 1].end_ns >= begin_ns; from--)
		;
	if (from == to) {
		memmove(&s->v[to + 1], &s->v[to], (s->n - to) * sizeof(*s->v));
		s->v[to] = (struct span){ .begin_ns = begin_ns, .end_ns = end_ns, .weight = 1 };
		s->n++;
		return 0;
	}
	s->v[from].begin_ns = MIN(s->v[from].begin_ns, begin_ns);
	s->v[from].end_ns = MAX(s->v[to - 1].end_ns, end_ns);
	memmove(&s->v[from + 1], &s->v[to], (s->n - to) * sizeof(*s->v));
	s->n -= to - from - 1;
	return 0;
}

int spans_append(struct spans *s, uint64_t begin_ns, uint64_t end_ns, double weight)
{
	int res;

	if (s->n)
		begin_ns = MAX(begin_ns, s->v[s->n - 1].end_ns);
	if (begin_ns >= end_ns)
		return 0;
	if (s->n >= (s->max ? s->max : SPANS_MAX))
		return -ENOSPC; /* weights cannot be glued */
	res = make_room(s);
	if (res < 0)
		return res;
	s->v[s->n++] = (struct span){ .begin_ns = begin_ns, .end_ns = end_ns, .weight = (float)weight };
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
static size_t find(struct spans *s, uint64_t ns)
{
	size_t lo = 0, hi = s->n;

	/* queries mostly come in order of time: it is the one before, or one of the next */
	for (size_t i = s->hint; i <= s->hint + 1 && i <= s->n; i++)
		if ((i == 0 || s->v[i - 1].begin_ns <= ns) && (i == s->n || s->v[i].begin_ns > ns))
			return s->hint = i;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->v[mid].begin_ns <= ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return s->hint = lo;
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

uint64_t spans_both(struct spans *a, struct spans *b, uint64_t begin_ns, uint64_t end_ns)
{
	size_t i = find(a, begin_ns), k = find(b, begin_ns);
	uint64_t ns = 0;

	i -= i > 0; /* it begins at BEGIN or before */
	k -= k > 0;
	while (i < a->n && k < b->n && a->v[i].begin_ns < end_ns && b->v[k].begin_ns < end_ns) {
		uint64_t from_ns = MAX(MAX(a->v[i].begin_ns, b->v[k].begin_ns), begin_ns);
		uint64_t to_ns = MIN(MIN(a->v[i].end_ns, b->v[k].end_ns), end_ns);

		ns += to_ns > from_ns ? to_ns - from_ns : 0;
		if (a->v[i].end_ns < b->v[k].end_ns)
			i++;
		else
			k++;
	}
	return ns;
}
