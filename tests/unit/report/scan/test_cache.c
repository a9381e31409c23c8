/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/scan/cache.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(an_interval_is_divided_by_time) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
