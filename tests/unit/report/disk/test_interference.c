/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/disk/interference.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define BIN UINT64_C(10000000)
#define BEGIN (1000 * BIN)

static void reads_begin_in_the_bin_behind_a_write(void **state)
{
	struct interference i = { 0 };

	(void)state;
	assert_false(interference_read(&i, BEGIN));
	interference_write(&i, BEGIN + 5);
	assert_false(interference_read(&i, BEGIN + 6)); /* in the present bin, some writes have not ended */
	assert_true(interference_read(&i, BEGIN + BIN));
	assert_true(interference_read(&i, BEGIN + 2 * BIN - 1));
	assert_false(interference_read(&i, BEGIN + 2 * BIN));
	assert_false(interference_read(&i, BEGIN - 1));
}

static void old_writes_are_forgotten(void **state)
{
	struct interference i = { 0 };

	(void)state;
	interference_write(&i, BEGIN);
	interference_write(&i, BEGIN + 3 * BIN);
	assert_true(interference_read(&i, BEGIN + BIN));
	assert_false(interference_read(&i, BEGIN + 2 * BIN));
	interference_write(&i, BEGIN + INTERFERENCE_BINS * BIN);
	assert_false(interference_read(&i, BEGIN + BIN)); /* longer ago than is kept */
	assert_true(interference_read(&i, BEGIN + 4 * BIN));
	interference_write(&i, BEGIN + 10 * INTERFERENCE_BINS * BIN);
	for (unsigned int b = 0; b < INTERFERENCE_BINS - 1; b++)
		assert_false(interference_read(&i, BEGIN + (9 * INTERFERENCE_BINS + 2 + b) * BIN - 1 - BIN));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_begin_in_the_bin_behind_a_write),
		cmocka_unit_test(old_writes_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
