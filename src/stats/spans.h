/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A set of stretches of time, none of which touches another, and how much of it lies between two instants.
 * Exact as long as the set has room; a full set closes its shortest gaps, and counts by how much it may be
 * too long. Pure. All times ns.
 */
#ifndef STATS_SPANS_H
#define STATS_SPANS_H

#include <stddef.h>
#include <stdint.h>

struct span {
	uint64_t begin_ns, end_ns;
	uint64_t before_ns; /* the part of the set before it; after spans_close() */
	float weight; /* the part of it that counts */
};

struct spans {
	struct span *v;
	size_t n, room;
	size_t max; /* 0: SPANS_MAX */
	uint64_t glue_ns; /* gaps below this are closed */
	uint64_t glued_ns; /* time that is in the set but was never added: gaps */
	uint64_t total_ns; /* after spans_close() */
	size_t hint; /* where the last query was answered */
};

#define SPANS_MAX (1U << 20) /* 32 MiB */

/* A zeroed struct spans is an empty set. */
void spans_free(struct spans *s);

/* spans_add() for any stretch. */
int spans_add_any(struct spans *spans, uint64_t begin_ns, uint64_t end_ns);
/*
 * Add [BEGIN, END) to the set. In constant time, amortized, where ends come in order; begins may come in
 * any. 0 or -ENOMEM, and then the set is unchanged.
 */
static inline int spans_add(struct spans *spans, uint64_t begin_ns, uint64_t end_ns)
{
	struct span *last = spans->n ? &spans->v[spans->n - 1] : NULL;

	/* nearly always it goes on where the last one ends, or is after it */
	if (!last || begin_ns < last->begin_ns || begin_ns >= end_ns ||
	    (begin_ns > last->end_ns && spans->n == spans->room))
		return spans_add_any(spans, begin_ns, end_ns);
	if (begin_ns > last->end_ns)
		spans->v[spans->n++] = (struct span){ .begin_ns = begin_ns, .end_ns = end_ns, .weight = 1 };
	else if (end_ns > last->end_ns)
		last->end_ns = end_ns;
	return 0;
}
/* Add it with WEIGHT, from 0 to 1; it must not lie before what the set has. */
int spans_append(struct spans *spans, uint64_t begin_ns, uint64_t end_ns, double weight);

/* No more is added. */
void spans_close(struct spans *s);
/*
 * Returns how much of NS in S counts. Signed numbers convert in one instruction; no stretch of time exceeds
 * them.
 */
static inline uint64_t spans_weighed(const struct span *s, uint64_t ns)
{
	return s->weight == 1 ? ns : (uint64_t)(int64_t)((double)(int64_t)ns * (double)s->weight);
}

/* spans_within() for any stretch. */
uint64_t spans_within_any(struct spans *s, uint64_t begin_ns, uint64_t end_ns);

/* Returns how much of [BEGIN, END) is in both sets, weights aside. */
uint64_t spans_both(struct spans *spans, struct spans *b, uint64_t begin_ns, uint64_t end_ns);

/* Returns how much of the set is in [BEGIN, END). After spans_close(). */
static inline uint64_t spans_within(struct spans *spans, uint64_t begin_ns, uint64_t end_ns)
{
	const struct span *at;

	if (begin_ns >= end_ns || !spans->n)
		return 0;
	/* mostly both are after the begin of the stretch that answered last, and before that of the next */
	if (!spans->hint || spans->v[spans->hint - 1].begin_ns > begin_ns ||
	    (spans->hint < spans->n && spans->v[spans->hint].begin_ns <= end_ns))
		return spans_within_any(spans, begin_ns, end_ns);
	at = &spans->v[spans->hint - 1];
	if (begin_ns >= at->end_ns)
		return 0;
	return spans_weighed(at, (end_ns < at->end_ns ? end_ns : at->end_ns) - at->begin_ns) -
	       spans_weighed(at, begin_ns - at->begin_ns);
}

#endif
