/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/spread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/util.h"
#include "stats/hist.h"

static void empty_one_has_no_values(void **state)
{
	struct spread s = { 0 };
	uint64_t octaves[SPREAD_OCTAVES];

	assert_int_equal(spread_quantile(&s, 500), 0);
	spread_octaves(&s, octaves);
	for (unsigned int i = 0; i < SPREAD_OCTAVES; i++)
		assert_int_equal(octaves[i], 0);
}

static void median_is_off_by_a_sixteenth_at_most(void **state)
{
	static const uint64_t values[] = { 1, 7, 15, 16, 17, 1000, 4095, 4096, 123456789, 1ULL << 40, UINT64_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		struct spread s = { 0 };
		uint64_t v = values[i], got;

		/* with one more on each side, so that neither smallest nor largest decides */
		spread_add(&s, 0);
		spread_add(&s, v);
		spread_add(&s, UINT64_MAX);
		got = spread_quantile(&s, 500);
		assert_true((got > v ? got - v : v - got) <= v / 16);
		got = spread_quantile_floor(&s, 500);
		assert_true(got <= v && v - got <= v / 8);
		assert_true(v & (v - 1) || got == v); /* powers of two are exact */
	}
}

static void powers_of_two_are_counted_exactly(void **state)
{
	struct spread s = { 0 };
	struct hist h = { 0 };
	uint64_t a[SPREAD_OCTAVES], b[SPREAD_OCTAVES];

	for (unsigned int e = 0; e < 64; e++)
		for (uint64_t v = (1ULL << e) - 1; v <= (1ULL << e) + (e > 0); v++) {
			spread_add(&s, v);
			hist_add(&h, v);
		}
	spread_add(&s, UINT64_MAX);
	hist_add(&h, UINT64_MAX);
	spread_octaves(&s, a);
	spread_octaves_of_hist(&h, b);
	assert_memory_equal(a, b, sizeof(a));
	assert_int_equal(a[0], 1); /* 0 */
	assert_int_equal(a[1], 2); /* 1 as 2^0 and as 2^1 - 1 */
	assert_int_equal(a[64], 3); /* 2^63, 2^63 + 1, the largest */
	assert_int_equal(s.n, h.n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_one_has_no_values),
		cmocka_unit_test(median_is_off_by_a_sixteenth_at_most),
		cmocka_unit_test(powers_of_two_are_counted_exactly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
