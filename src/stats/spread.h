/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The distribution of u64 values, in 2 KiB, so that each process can have some: hist.h with an eighth of
 * its columns, so that a percentile is off by at most a sixteenth. Pure.
 */
#ifndef STATS_SPREAD_H
#define STATS_SPREAD_H

#include <stdint.h>

#include "stats/hist.h"

#define SPREAD_SUB_BITS 3
#define SPREAD_BUCKETS ((64 - SPREAD_SUB_BITS + 1) << SPREAD_SUB_BITS)
#define SPREAD_OCTAVES 65 /* [0]: zeros; [i]: 2^(i-1) to 2^i - 1 */

/* All zero is the empty one. A full count stays full. */
struct spread {
	uint64_t n, max;
	uint64_t not_min; /* the complement of the smallest: 0 at first, so that adding need not check N */
	uint32_t counts[SPREAD_BUCKETS];
};

static inline void spread_add(struct spread *spread, uint64_t v)
{
	uint32_t *count = &spread->counts[hist_bucket(v, SPREAD_SUB_BITS)];

	spread->n++;
	if (~v > spread->not_min)
		spread->not_min = ~v;
	if (v > spread->max)
		spread->max = v;
	if (!++*count)
		*count = UINT32_MAX;
}

/* The smallest; UINT64_MAX where there is none. */
static inline uint64_t spread_min(const struct spread *s)
{
	return ~s->not_min;
}

/* Returns the nearest-rank percentile, PER_MILLE in 1..1000, as hist_quantile(). */
uint64_t spread_quantile(const struct spread *s, unsigned int per_mille);
/*
 * The start of its bucket, too low by up to an eighth, never too high: sizes are mostly round numbers,
 * which stay exact.
 */
uint64_t spread_quantile_floor(const struct spread *s, unsigned int per_mille);

/* How many values lie in each power of two. */
void spread_octaves(const struct spread *s, uint64_t octaves[SPREAD_OCTAVES]);

void spread_octaves_of_hist(const struct hist *h, uint64_t octaves[SPREAD_OCTAVES]);

#endif
