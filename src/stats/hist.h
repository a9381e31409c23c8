/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A histogram of u64 values (latencies, sizes) with buckets of equal relative width: every power
 * of two is cut into 64 equal parts, so a percentile is off by less than 1 %, and values below
 * 128 are exact. Any u64 fits; adding never fails; two histograms add up. Pure.
 */
#ifndef STATS_HIST_H
#define STATS_HIST_H

#include <stdint.h>

#define HIST_SUB_BITS 6
#define HIST_BUCKETS ((64 - HIST_SUB_BITS + 1) << HIST_SUB_BITS)

/* All zero is the empty one. */
struct hist {
	uint64_t n, sum, max;
	uint64_t not_min; /* the complement of the smallest: 0 at first, so that adding need not check N */
	uint64_t counts[HIST_BUCKETS];
};

/*
 * 2^SUB_BITS is a power of two: low values have a bucket each; above, the leading bit is the row and the
 * next bits the column.
 */
static inline unsigned int hist_bucket(uint64_t v, unsigned int sub_bits)
{
	const unsigned int shift = 63 - sub_bits - (unsigned int)__builtin_clzll(v | 1ULL << sub_bits);

	return (shift << sub_bits) + (unsigned int)(v >> shift);
}

/* The smallest value of bucket I, and how many more values it covers. */
uint64_t hist_bucket_floor(unsigned int i, unsigned int sub_bits, uint64_t *more);

static inline void hist_add(struct hist *h, uint64_t v)
{
	h->n++;
	if (~v > h->not_min)
		h->not_min = ~v;
	if (v > h->max)
		h->max = v;
	h->sum += v;
	h->counts[hist_bucket(v, HIST_SUB_BITS)]++;
}

/* Adds V N times; also 0 times, when the largest value is at least V afterwards. */
void hist_add_many(struct hist *h, uint64_t v, uint64_t n);

/* The smallest; UINT64_MAX when empty. */
static inline uint64_t hist_min(const struct hist *h)
{
	return ~h->not_min;
}

void hist_merge(struct hist *h, const struct hist *other);
/* Subtract values that were added; the smallest and the largest stay as they were. */
void hist_subtract(struct hist *h, const struct hist *part);

/*
 * Returns the nearest-rank percentile, PER_MILLE in 1..1000 (990: p99): the middle of the bucket that holds
 * it, within the range of the values. 0 when empty.
 */
uint64_t hist_quantile(const struct hist *h, unsigned int per_mille);
/* Its bucket's smallest value instead of the middle: sizes are round numbers, which begin a bucket. */
uint64_t hist_quantile_floor(const struct hist *h, unsigned int per_mille);

#endif
