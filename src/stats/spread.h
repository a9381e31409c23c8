/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How u64 values are spread, in 2 KiB, so that each process can have some: hist.h with an eighth of its
 * columns, so that a percentile is off by at most a sixteenth. Pure.
 */
#ifndef STATS_SPREAD_H
#define STATS_SPREAD_H

#include <stdint.h>

#include "stats/hist.h"

#define SPREAD_SUB_BITS 3
#define SPREAD_BUCKETS ((64 - SPREAD_SUB_BITS + 1) << SPREAD_SUB_BITS)
#define SPREAD_OCTAVES 65 /* [0]: zeros; [i]: 2^(i-1) to 2^i - 1 */

/* All zero is the empty one. A count that is full stays so. */
struct spread {
	uint64_t n, max;
	uint64_t not_min; /* the complement of the smallest: it begins with 0 as all else does, so that adding asks no N */
	uint32_t counts[SPREAD_BUCKETS];
};

static inline void spread_add(struct spread *s, uint64_t v)
{
	uint32_t *count = &s->counts[hist_bucket(v, SPREAD_SUB_BITS)];

	s->n++;
	if (~v > s->not_min)
		s->not_min = ~v;
	if (v > s->max)
		s->max = v;
	if (!++*count)
		*count = UINT32_MAX;
}

/* The smallest; UINT64_MAX where there is none. */
static inline uint64_t spread_min(const struct spread *s)
{
	return ~s->not_min;
}

/* The nearest-rank percentile, PER_MILLE in 1..1000, as hist_quantile(). */
uint64_t spread_quantile(const struct spread *s, unsigned int per_mille);
/* The same, off by up to an eighth, and never above: sizes are round numbers mostly, which stay as they are. */
uint64_t spread_quantile_floor(const struct spread *s, unsigned int per_mille);

/* How many values lie in each power of two. */
void spread_octaves(const struct spread *s, uint64_t octaves[SPREAD_OCTAVES]);

void spread_octaves_of_hist(const struct hist *h, uint64_t octaves[SPREAD_OCTAVES]);

#endif
