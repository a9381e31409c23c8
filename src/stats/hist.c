/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/hist.h"

#include "base/util.h"

static uint64_t bucket_middle(unsigned int i)
{
	unsigned int shift = i >> HIST_SUB_BITS;
	uint64_t low;

	if (shift == 0)
		return i;
	shift--;
	low = ((uint64_t)(i & ((1U << HIST_SUB_BITS) - 1)) | 1U << HIST_SUB_BITS) << shift;
	return low + ((1ULL << shift) >> 1);
}

void hist_merge(struct hist *h, const struct hist *other)
{
	if (other->n == 0)
		return;
	h->not_min = MAX(h->not_min, other->not_min);
	h->max = MAX(h->max, other->max);
	h->n += other->n;
	h->sum += other->sum;
	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		h->counts[i] += other->counts[i];
}

void hist_subtract(struct hist *h, const struct hist *part)
{
	h->n -= part->n;
	h->sum -= part->sum;
	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		h->counts[i] -= part->counts[i];
}

uint64_t hist_quantile(const struct hist *h, unsigned int per_mille)
{
	uint64_t rank, seen = 0;

	if (h->n == 0)
		return 0;
	/* ceil(n * q) without overflow: n fits in 54 bits for longer than any trace lasts. */
	rank = MAX((h->n * per_mille + 999) / 1000, 1);
	if (rank >= h->n)
		return h->max;
	for (unsigned int i = 0; i < HIST_BUCKETS; i++) {
		seen += h->counts[i];
		if (seen >= rank)
			return MIN(MAX(bucket_middle(i), hist_min(h)), h->max);
	}
	return h->max; /* not reached: the buckets add up to n */
}
