/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/spread.h"

#include <string.h>

#include "base/util.h"

static unsigned int octave_of(uint64_t v)
{
	return v ? 64 - (unsigned int)__builtin_clzll(v) : 0;
}

/* Where the percentile's bucket begins, and how many more values it covers. */
static uint64_t quantile(const struct spread *spread, unsigned int per_mille, uint64_t *more)
{
	uint64_t rank = MAX((spread->n * per_mille + 999) / 1000, 1), seen = 0;

	for (unsigned int i = 0; rank < spread->n && i < SPREAD_BUCKETS; i++) {
		seen += spread->counts[i];
		if (seen >= rank)
			return hist_bucket_floor(i, SPREAD_SUB_BITS, more);
	}
	*more = 0;
	return spread->max; /* 0 when empty; the last one where counts are full */
}

uint64_t spread_quantile(const struct spread *s, unsigned int per_mille)
{
	uint64_t more, low = quantile(s, per_mille, &more);

	return MIN(MAX(low + (more + 1) / 2, spread_min(s)), s->max);
}

uint64_t spread_quantile_floor(const struct spread *s, unsigned int per_mille)
{
	uint64_t more, low = quantile(s, per_mille, &more);

	return s->n ? MAX(low, spread_min(s)) : 0;
}

void spread_octaves(const struct spread *s, uint64_t octaves[SPREAD_OCTAVES])
{
	uint64_t more;

	memset(octaves, 0, SPREAD_OCTAVES * sizeof(octaves[0]));
	for (unsigned int i = 0; i < SPREAD_BUCKETS; i++)
		octaves[octave_of(hist_bucket_floor(i, SPREAD_SUB_BITS, &more))] += s->counts[i];
}

/* No bucket of either lies across a power of two. */
void spread_octaves_of_hist(const struct hist *h, uint64_t octaves[SPREAD_OCTAVES])
{
	uint64_t more;

	memset(octaves, 0, SPREAD_OCTAVES * sizeof(octaves[0]));
	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		octaves[octave_of(hist_bucket_floor(i, HIST_SUB_BITS, &more))] += h->counts[i];
}
