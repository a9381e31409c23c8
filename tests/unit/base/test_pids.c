/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/pids.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void numbers_have_commas_between(void **state)
{
	struct pids p = { 0 };

	assert_int_equal(pids_parse(&p, "4711"), 0);
	assert_int_equal(p.n, 1);
	assert_int_equal(pids_parse(&p, "1,22,333"), 0);
	assert_int_equal(p.n, 3);
	assert_true(pids_have(&p, 1) && pids_have(&p, 22) && pids_have(&p, 333));
	assert_false(pids_have(&p, 4711) || pids_have(&p, 2) || pids_have(&p, 0));
}

static void what_is_no_list_of_numbers_is_refused(void **state)
{
	static const char *const texts[] = { "",   ",",  "1,", ",1",  "1,,2", "-1",
					     "+1", " 1", "1 ", "0x1", "1,x",  "18446744073709551616" };
	struct pids p;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(pids_parse(&p, texts[i]), -EINVAL);
}

static void a_list_has_a_limit(void **state)
{
	char text[2 * PIDS_MAX + 2];
	struct pids p;

	memset(text, ',', sizeof(text));
	for (size_t i = 0; i <= PIDS_MAX; i++)
		text[2 * i] = '1';
	text[2 * PIDS_MAX - 1] = '\0';
	assert_int_equal(pids_parse(&p, text), 0);
	assert_int_equal(p.n, PIDS_MAX);
	text[2 * PIDS_MAX - 1] = ',';
	text[2 * PIDS_MAX + 1] = '\0';
	assert_int_equal(pids_parse(&p, text), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_has_a_limit),
		cmocka_unit_test(numbers_have_commas_between),
		cmocka_unit_test(what_is_no_list_of_numbers_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
