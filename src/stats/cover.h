/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of a process's time that is already accounted for, so that calls of several threads count once:
 * adding a stretch returns the parts of it that were free. Remembers the newest COVER_MAX stretches; time
 * before these counts as taken, and is counted as such. Pure. All times ns.
 */
#ifndef STATS_COVER_H
#define STATS_COVER_H

#include <stdint.h>

#define COVER_MAX 256 /* 4 KiB */

struct cover {
	uint32_t n;
	uint64_t floor_ns; /* nothing is free before */
	uint64_t unsure_ns; /* the time that was to be added before it */
	struct {
		uint64_t begin_ns, end_ns;
	} v[COVER_MAX]; /* in order; none touches another */
};

typedef void (*cover_fn)(void *ctx, uint64_t begin_ns, uint64_t end_ns);

/* cover_add() for a stretch anywhere. */
void cover_add_any(struct cover *cover, uint64_t begin_ns, uint64_t end_ns, cover_fn free, void *ctx);

/* Calls FREE for each part of [BEGIN, END) that was free, the last first. */
static inline void cover_add(struct cover *cover, uint64_t begin_ns, uint64_t end_ns, cover_fn free, void *ctx)
{
	/* nearly always it is after all others: this is inlined into the caller, FREE and all */
	if (begin_ns < end_ns && cover->n && cover->n < COVER_MAX && begin_ns > cover->v[cover->n - 1].end_ns) {
		cover->v[cover->n].begin_ns = begin_ns;
		cover->v[cover->n++].end_ns = end_ns;
		/* prefetch the next cache line: with many processes it will not be cached by then */
		__builtin_prefetch(&cover->v[cover->n + 4 < COVER_MAX ? cover->n + 4 : COVER_MAX - 1], 1);
		free(ctx, begin_ns, end_ns);
		return;
	}
	cover_add_any(cover, begin_ns, end_ns, free, ctx);
}

#endif
