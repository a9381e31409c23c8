/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/hist.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"

static struct hist h, other;

static int empty(void **state)
{
	memset(&h, 0, sizeof(h));
	memset(&other, 0, sizeof(other));
	return 0;
}

static void small_values_are_exact(void **state)
{
	for (uint64_t v = 0; v < 128; v++) {
		empty(state);
		/* with a neighbor on each side, so that the limits do not decide */
		hist_add(&h, v ? v - 1 : 0);
		hist_add(&h, v);
		hist_add(&h, v + 1);
		assert_int_equal(hist_quantile(&h, 500), v);
	}
}

static void middle_of_three_is_off_by_less_than_1_percent(void **state)
{
	for (double v = 128; v < 1e19; v *= 1.0137) {
		double q;

		empty(state);
		hist_add(&h, 0);
		hist_add(&h, (uint64_t)v);
		hist_add(&h, UINT64_MAX);
		q = (double)hist_quantile(&h, 500);
		assert_true(fabs(q - v) / v < 0.01);
	}
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void quantiles_are_those_of_the_sorted_values(void **state)
{
	static const unsigned int per_mille[] = { 1, 10, 250, 500, 900, 990, 999, 1000 };
	static uint64_t values[5000];
	uint64_t x = 88172645463325252ULL;

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		values[i] = x >> (20 + x % 40);
		hist_add(&h, values[i]);
	}
	qsort(values, ARRAY_SIZE(values), sizeof(values[0]), by_value);
	for (size_t i = 0; i < ARRAY_SIZE(per_mille); i++) {
		double want = (double)values[(ARRAY_SIZE(values) * per_mille[i] + 999) / 1000 - 1];
		double got = (double)hist_quantile(&h, per_mille[i]);

		assert_true(fabs(got - want) <= want / 100);
	}
	assert_int_equal(hist_min(&h), values[0]);
	assert_int_equal(h.max, values[ARRAY_SIZE(values) - 1]);
}

static void never_outside_of_the_values_seen(void **state)
{
	hist_add(&h, 1000001);
	assert_int_equal(hist_quantile(&h, 1), 1000001);
	assert_int_equal(hist_quantile(&h, 1000), 1000001);
	hist_add(&h, UINT64_MAX);
	assert_int_equal(hist_quantile(&h, 1000), UINT64_MAX);
}

static void empty_one_is_all_zero(void **state)
{
	assert_int_equal(hist_quantile(&h, 500), 0);
	hist_merge(&h, &other);
	assert_int_equal(h.n, 0);
	hist_add(&other, 7);
	hist_merge(&h, &other);
	assert_int_equal(hist_min(&h), 7);
}

static void merging_is_adding_all(void **state)
{
	static struct hist both;

	for (uint64_t v = 1; v < 1000000; v += v / 3 + 1) {
		hist_add(v % 2 ? &h : &other, v);
		hist_add(&both, v);
	}
	hist_merge(&h, &other);
	assert_memory_equal(&h, &both, sizeof(both));
}

static void subtracting_takes_back(void **state)
{
	struct hist before;

	for (uint64_t v = 1; v < 1000000; v += v / 3 + 1)
		hist_add(&h, v);
	before = h;
	for (uint64_t v = 2; v < 100000; v *= 3) {
		hist_add(&h, v);
		hist_add(&other, v);
	}
	assert_int_not_equal(h.n, before.n);
	hist_subtract(&h, &other);
	assert_memory_equal(&h, &before, sizeof(before));
}

static void adding_many_is_adding_each(void **state)
{
	for (unsigned int i = 0; i < 7; i++)
		hist_add(&h, 5000);
	hist_add(&h, 3);
	hist_add_many(&other, 5000, 7);
	hist_add_many(&other, 3, 1);
	assert_memory_equal(&h, &other, sizeof(h));
	hist_add_many(&other, 9000, 0); /* none, but the largest may have been so large */
	assert_int_equal(other.n, 8);
	assert_int_equal(other.max, 9000);
	assert_int_equal(hist_min(&other), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(adding_many_is_adding_each, empty),
		cmocka_unit_test_setup(empty_one_is_all_zero, empty),
		cmocka_unit_test_setup(merging_is_adding_all, empty),
		cmocka_unit_test_setup(middle_of_three_is_off_by_less_than_1_percent, empty),
		cmocka_unit_test_setup(never_outside_of_the_values_seen, empty),
		cmocka_unit_test_setup(quantiles_are_those_of_the_sorted_values, empty),
		cmocka_unit_test_setup(small_values_are_exact, empty),
		cmocka_unit_test_setup(subtracting_takes_back, empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
