/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/moment.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void moment_is_since_the_start_or_utc(void **state)
{
	struct moment m = { 0 };

	assert_int_equal(moment_parse(&m, "1m30s"), 0);
	assert_true(m.given && !m.utc);
	assert_int_equal(m.ns, 90000000000);
	assert_int_equal(moment_since(&m, 5), 90000000000);
	/* `date -u -d 2026-11-27T04:00:00Z +%s` */
	assert_int_equal(moment_parse(&m, "2026-11-27T04:00:00Z"), 0);
	assert_true(m.given && m.utc);
	assert_int_equal(m.ns, 1795752000000000000);
	assert_int_equal(moment_parse(&m, "2026-11-27T04:00:00.25Z"), 0);
	assert_int_equal(m.ns, 1795752000250000000);
	assert_int_equal(moment_since(&m, 1795752000000000000), 250000000);
	assert_int_equal(moment_since(&m, 1795752001000000000), 0); /* before the start */
	assert_int_equal(moment_parse(&m, "2026-11-27T04:00Z"), 0);
	assert_int_equal(m.ns, 1795752000000000000);
}

static void other_texts_are_no_moments(void **state)
{
	static const char *const texts[] = {
		"",
		"Z",
		"T",
		"2026-11-27",
		"2026-11-27T04",
		"2026-11-27T04:00:00",
		"2026-11-27T04:00:00.Z",
		"2026-11-27T04:00:00+01:00",
		"2026-11-27T04:00:00Z ",
		"2026-13-27T04:00:00Z",
		"2026-02-30T04:00Z",
		"1966-01-01T00:00:00Z",
		"-1",
		"1 m",
	};
	struct moment m = { 0 };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(moment_parse(&m, texts[i]), -EINVAL);
		assert_false(m.given);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moment_is_since_the_start_or_utc),
		cmocka_unit_test(other_texts_are_no_moments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
