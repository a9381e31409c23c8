/* SPDX-License-Identifier: BSD-2-Clause */
/* Our names of errors are the C library's, for each number. */
#include "base/error_name.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void names_are_those_of_the_library(void **state)
{
	for (int i = 1; i < 4096; i++) {
		const char *ours = error_name((uint64_t)i), *theirs = strerrorname_np(i);

		if (theirs && strcmp(theirs, "ENOTSUP")) /* Linux has it as EOPNOTSUPP, and glibc two names for that */
			assert_string_equal(ours, theirs);
		else if (!theirs)
			assert_null(ours);
	}
	assert_string_equal(error_name(EOPNOTSUPP), "EOPNOTSUPP");
}

static void other_numbers_have_none(void **state)
{
	assert_null(error_name(0));
	assert_null(error_name(UINT64_MAX));
	assert_null(error_name((uint64_t)-ENOENT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_those_of_the_library),
		cmocka_unit_test(other_numbers_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
