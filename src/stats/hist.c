/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/hist.h"

#include "base/util.h"

uint64_t hist_bucket_floor(unsigned int i, unsigned int sub_bits, uint64_t *more)
{
	unsigned int shift = i >> sub_bits;

	*more = shift ? (1ULL << (shift - 1)) - 1 : 0;
	return shift ? ((uint64_t)(i & ((1U << sub_bits) - 1)) | 1U << sub_bits) << (shift - 1) : i;
}

void hist_add_many(struct hist *h, uint64_t v, uint64_t n)
{
	h->max = MAX(h->max, v);
	if (!n)
		return;
	h->n += n;
	h->not_min = MAX(h->not_min, ~v);
	h->sum += v * n;
	h->counts[hist_bucket(v, HIST_SUB_BITS)] += n;
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

/* Returns the bucket of that rank; HIST_BUCKETS: it is the largest value itself. */
static unsigned int quantile_bucket(const struct hist *hist, unsigned int per_mille)
{
	/* ceil(n * q) without overflow: n fits in 54 bits for longer than any trace lasts. */
	uint64_t rank = MAX((hist->n * per_mille + 999) / 1000, 1), seen = 0;

	for (unsigned int i = 0; rank < hist->n && i < HIST_BUCKETS; i++) {
		seen += hist->counts[i];
		if (seen >= rank)
			return i;
	}
	return HIST_BUCKETS;
}

uint64_t hist_quantile(const struct hist *h, unsigned int per_mille)
{
	unsigned int i = quantile_bucket(h, per_mille);
	uint64_t more, floor = hist_bucket_floor(i, HIST_SUB_BITS, &more);

	return i == HIST_BUCKETS ? h->max : MIN(MAX(floor + (more + 1) / 2, hist_min(h)), h->max);
}

uint64_t hist_quantile_floor(const struct hist *h, unsigned int per_mille)
{
	unsigned int i = quantile_bucket(h, per_mille);
	uint64_t more;

	return i == HIST_BUCKETS ? h->max : MAX(hist_bucket_floor(i, HIST_SUB_BITS, &more), hist_min(h));
}
