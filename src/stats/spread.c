/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/spread.h"

#include <string.h>

#include "base/util.h"

/* Where bucket I of 2^SUB columns begins, and how many values it holds. */
static uint64_t bucket_low(unsigned int i, unsigned int sub, uint64_t *width)
{
	unsigned int shift = i >> sub;

	*width = 1;
	if (shift == 0)
		return i;
	shift--;
	*width = 1ULL << shift;
	return ((uint64_t)(i & ((1U << sub) - 1)) | 1U << sub) << shift;
}

static unsigned int octave_of(uint64_t v)
{
	return v ? 64 - (unsigned int)__builtin_clzll(v) : 0;
}

/* The bucket that the percentile lies in: where it begins, and its width. */
static uint64_t quantile(const struct spread *s, unsigned int per_mille, uint64_t *width)
{
	uint64_t rank = MAX((s->n * per_mille + 999) / 1000, 1), seen = 0;

	for (unsigned int i = 0; rank < s->n && i < SPREAD_BUCKETS; i++) {
		seen += s->counts[i];
		if (seen >= rank)
			return bucket_low(i, SPREAD_SUB_BITS, width);
	}
	*width = 1;
	return s->max; /* 0 of none; the last one; where counts are full */
}

uint64_t spread_quantile(const struct spread *s, unsigned int per_mille)
{
	uint64_t width, low = quantile(s, per_mille, &width);

	return MIN(MAX(low + width / 2, spread_min(s)), s->max);
}

uint64_t spread_quantile_floor(const struct spread *s, unsigned int per_mille)
{
	uint64_t width, low = quantile(s, per_mille, &width);

	return s->n ? MAX(low, spread_min(s)) : 0;
}

void spread_octaves(const struct spread *s, uint64_t octaves[SPREAD_OCTAVES])
{
	uint64_t width;

	memset(octaves, 0, SPREAD_OCTAVES * sizeof(octaves[0]));
	for (unsigned int i = 0; i < SPREAD_BUCKETS; i++)
		octaves[octave_of(bucket_low(i, SPREAD_SUB_BITS, &width))] += s->counts[i];
}

/* No bucket of either lies across a power of two. */
void spread_octaves_of_hist(const struct hist *h, uint64_t octaves[SPREAD_OCTAVES])
{
	uint64_t width;

	memset(octaves, 0, SPREAD_OCTAVES * sizeof(octaves[0]));
	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		octaves[octave_of(bucket_low(i, HIST_SUB_BITS, &width))] += h->counts[i];
}
