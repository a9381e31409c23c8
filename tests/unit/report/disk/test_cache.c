/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/disk/cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/util.h"

static struct report_cache_span spans[] = {
	{ 100, 200, { [CACHE_HIT] = 10, [CACHE_MISS] = 4 } },
	{ 200, 200, { [CACHE_HIT] = 1000 } }, /* without length: somebody has changed the trace */
	{ 300, 400, { [CACHE_HIT] = 20 } },
};
static const struct report_cache cache = { .span = spans, .n_spans = ARRAY_SIZE(spans) };

static void expect(uint64_t begin_ns, uint64_t end_ns, uint64_t hits, uint64_t misses)
{
	uint64_t sum[CACHE_SUMS] = {};

	report_cache_within(&cache, begin_ns, end_ns, sum);
	assert_int_equal(sum[CACHE_HIT], hits);
	assert_int_equal(sum[CACHE_MISS], misses);
}

static void an_interval_is_divided_by_time(void **state)
{
	expect(0, 1000, 30, 4);
	expect(100, 200, 10, 4);
	expect(100, 150, 5, 2);
	expect(150, 350, 15, 2);
	expect(200, 300, 0, 0);
	expect(400, 500, 0, 0);
	expect(350, 350, 0, 0);
}

#define MS NSEC_PER_MSEC

/* An epoch's begin and end are the nearest cuts: a program notes the time before the region's message is seen. */
static void epochs_have_whole_intervals(void **state)
{
	struct report_cache_span cut[] = {
		{ 0, 1000 * MS, { [CACHE_HIT] = 1 } },
		{ 1000 * MS, 1400 * MS, { [CACHE_HIT] = 10 }, .cut = true },
		{ 1400 * MS, 2000 * MS, { [CACHE_HIT] = 100 } },
		{ 2000 * MS, 2300 * MS, { [CACHE_HIT] = 1000 }, .cut = true },
		{ 2300 * MS, 3000 * MS, { [CACHE_HIT] = 10000 } },
	};
	static const struct {
		uint64_t begin_ns, end_ns, hits;
	} epochs[] = {
		{ 1400 * MS - 20000, 2300 * MS - 5000, 1100 },
		{ 1400 * MS, 2300 * MS, 1100 },
		{ 1550 * MS, 2450 * MS, 1100 }, /* the one before has ended with the cut */
		{ 2300 * MS, 3000 * MS, 10000 },
		{ 1400 * MS, 2000 * MS, 100 },
		{ 1400 * MS, 1850 * MS, 75 }, /* too far from a cut */
		{ 1380 * MS, 2000 * MS, 101 }, /* a cut does not come so late: 0.5 of 10 hits, rounded */
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(epochs); i++) {
		const struct report_cache c = { .span = cut, .n_spans = ARRAY_SIZE(cut) };
		uint64_t sum[CACHE_SUMS] = {};

		report_cache_within(&c, epochs[i].begin_ns, epochs[i].end_ns, sum);
		assert_int_equal(sum[CACHE_HIT], epochs[i].hits);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_interval_is_divided_by_time),
		cmocka_unit_test(epochs_have_whole_intervals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
