/* SPDX-License-Identifier: BSD-2-Clause */
/* See storage.h. */
#include "report/whatif/storage.h"

#include <stdlib.h>

#include "base/util.h"

#define WINDOW_NS 500e6
#define READS_LEAST 8U
#define BUSY_LEAST 0.01 /* of the time: less hardly matters */
/* Of a limit that lets bursts through: tried on eight jobs on volumes of 8 to 64 MB/s. */
#define SLOW_TIMES 8.0 /* as long a byte as the fastest quarter of the reads */
#define SLOW_LEAST_NS 1e6
#define SLOW_MOST 0.6 /* of the reads */
#define SLOW_SHARE 0.7 /* of the waits */
#define WAITS_LEAST 0.1 /* of the time */
#define SPREAD_MOST 0.25 /* of the rates seen: from the lower quartile to the upper one */
#define RATES_LEAST 4U
#define RATES_MOST 500U
#define FAST_TIMES 10.0 /* of the rate, at least, while the budget is not used up */

static int by_end(const void *a, const void *b)
{
	const struct whatif_read *x = a, *y = b;

	return (x->span.end_ns > y->span.end_ns) - (x->span.end_ns < y->span.end_ns);
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double length(const struct whatif_read *read)
{
	return (double)(read->span.end_ns - read->span.begin_ns);
}

static double ns_per_byte(const struct whatif_read *read)
{
	return length(read) / (double)read->bytes;
}

/* Returns the bytes per ns of all READS in the half second before the end of read AT. */
static double rate_before(const struct whatif_read *reads, uint32_t at)
{
	const double end_ns = (double)reads[at].span.end_ns, begin_ns = end_ns - WINDOW_NS;
	double bytes = 0;

	for (uint32_t i = at + 1; i-- > 0 && (double)reads[i].span.end_ns > begin_ns;) {
		const double inside = (double)reads[i].span.end_ns - MAX(begin_ns, (double)reads[i].span.begin_ns);

		bytes += (double)reads[i].bytes * MIN(1.0, inside / length(&reads[i]));
	}
	return bytes / WINDOW_NS;
}

static double most_of(const struct whatif_read *reads, uint32_t n)
{
	double bytes = 0, most = 0;

	for (uint32_t i = 0, first = 0; i < n; i++) {
		bytes += (double)reads[i].bytes;
		while ((double)(reads[i].span.end_ns - reads[first].span.end_ns) > WINDOW_NS)
			bytes -= (double)reads[first++].bytes;
		most = MAX(most, bytes / WINDOW_NS);
	}
	return most;
}

/* The time in which any read waited, and all waits and bytes. */
struct sums {
	double busy_ns, waits_ns, bytes;
};

static struct sums sums_of(const struct whatif_read *reads, uint32_t n)
{
	struct sums sums = { 0 };
	uint64_t from_ns = UINT64_MAX; /* busy from here on, going backwards from the last end */

	for (uint32_t i = n; i-- > 0;) {
		const struct whatif_span *span = &reads[i].span;
		const uint64_t end_ns = MIN(span->end_ns, from_ns);

		sums.waits_ns += length(&reads[i]);
		sums.bytes += (double)reads[i].bytes;
		sums.busy_ns += end_ns > span->begin_ns ? (double)(end_ns - span->begin_ns) : 0;
		from_ns = MIN(from_ns, span->begin_ns);
	}
	return sums;
}

/* Returns how slow, in ns a byte, a read must be to be a slow one. */
static double slow_from(const struct whatif_read *reads, uint32_t n)
{
	autofree double *each = calloc(n, sizeof(*each));

	if (!each)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		each[i] = ns_per_byte(&reads[i]);
	qsort(each, n, sizeof(*each), by_value);
	return SLOW_TIMES * each[n / 4];
}

/* Returns the limit, bytes/ns; 0: there does not seem to be one. */
static double limit_of(const struct whatif_read *reads, uint32_t n, const struct sums *sums, double span_ns)
{
	const double from = slow_from(reads, n);
	double rates[RATES_MOST], slow_ns = 0;
	uint32_t slow = 0, n_rates = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (ns_per_byte(&reads[i]) <= from || length(&reads[i]) <= SLOW_LEAST_NS)
			continue;
		slow++;
		slow_ns += length(&reads[i]);
		if (n_rates < RATES_MOST && (double)reads[i].span.end_ns - WINDOW_NS >= (double)reads[0].span.begin_ns)
			rates[n_rates++] = rate_before(reads, i);
	}
	if (!(from > 0) || slow < READS_LEAST || slow > SLOW_MOST * n || slow_ns < SLOW_SHARE * sums->waits_ns ||
	    sums->waits_ns < WAITS_LEAST * span_ns || n_rates < RATES_LEAST)
		return 0;
	qsort(rates, n_rates, sizeof(*rates), by_value);
	if (rates[3 * n_rates / 4] - rates[n_rates / 4] > SPREAD_MOST * rates[n_rates / 2])
		return 0;
	return rates[n_rates / 2];
}

struct whatif_storage whatif_storage_find(struct whatif_read *reads, uint32_t n, double span_ns)
{
	struct whatif_storage storage = { .kind = WHATIF_NO_STORAGE };
	struct sums sums;

	if (n < READS_LEAST)
		return storage;
	qsort(reads, n, sizeof(*reads), by_end);
	sums = sums_of(reads, n);
	if (sums.busy_ns < BUSY_LEAST * span_ns)
		return storage;
	storage.most = most_of(reads, n);
	storage.rate = limit_of(reads, n, &sums, span_ns);
	storage.kind = storage.rate > 0 ? WHATIF_LIMIT : WHATIF_LATENCY;
	storage.fast = MAX(FAST_TIMES * storage.rate, sums.bytes / sums.busy_ns);
	return storage;
}
