/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/number_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void it_has_the_numbers_added_and_no_others(void **state)
{
	static const uint64_t numbers[] = { 0, 63, 64, 65535, 65536, 1000000 };
	struct number_set s = { 0 };

	assert_false(number_set_has(&s, 0));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		assert_false(number_set_has(&s, numbers[i]));
		assert_int_equal(number_set_add(&s, numbers[i]), 0);
		assert_true(number_set_has(&s, numbers[i]));
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		assert_true(number_set_has(&s, numbers[i]) && !number_set_has(&s, numbers[i] + 2));
	number_set_free(&s);
	assert_false(number_set_has(&s, 63));
}

static void numbers_that_are_too_high_take_no_memory(void **state)
{
	struct number_set s = { 0 };

	assert_int_equal(number_set_add(&s, NUMBER_SET_MAX), 0);
	assert_int_equal(number_set_add(&s, UINT64_MAX), 0);
	assert_null(s.bits);
	assert_false(number_set_has(&s, NUMBER_SET_MAX) || number_set_has(&s, UINT64_MAX));
	number_set_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_has_the_numbers_added_and_no_others),
		cmocka_unit_test(numbers_that_are_too_high_take_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
