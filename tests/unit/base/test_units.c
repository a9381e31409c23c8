/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/units.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/util.h"

#define UNTOUCHED 4711

struct parse_case {
	const char *text;
	uint64_t value;
};

static void expect(int (*parse)(const char *, uint64_t *), const struct parse_case *c, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t v = UNTOUCHED;

		if (parse(c[i].text, &v) != 0 || v != c[i].value)
			fail_msg("\"%s\" gave %llu", c[i].text, (unsigned long long)v);
	}
}

static void reject(int (*parse)(const char *, uint64_t *), const char *const *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t v = UNTOUCHED;

		if (parse(text[i], &v) != -EINVAL || v != UNTOUCHED)
			fail_msg("\"%s\" was taken as %llu", text[i], (unsigned long long)v);
	}
}

static void times(void **state)
{
	static const struct parse_case good[] = {
		{ "0", 0 },
		{ "30", 30 * NSEC_PER_SEC },
		{ "030", 30 * NSEC_PER_SEC },
		{ "30s", 30 * NSEC_PER_SEC },
		{ "500ms", 500 * NSEC_PER_MSEC },
		{ "1500ms", 1500 * NSEC_PER_MSEC },
		{ "5m", 300 * NSEC_PER_SEC },
		{ "1h30m", 5400 * NSEC_PER_SEC },
		{ "90m", 5400 * NSEC_PER_SEC },
		{ "2d", 172800 * NSEC_PER_SEC },
		{ "1d1h1m1s1ms", 90061 * NSEC_PER_SEC + NSEC_PER_MSEC },
		{ "1m500ms", 60 * NSEC_PER_SEC + 500 * NSEC_PER_MSEC },
		{ "0.5", NSEC_PER_SEC / 2 },
		{ "1.5s", 3 * NSEC_PER_SEC / 2 },
		{ "1m0.25s", 60 * NSEC_PER_SEC + NSEC_PER_SEC / 4 },
		{ "5us", 5000 },
		{ "0.0000000019s", 1 },
		{ "18446744073s709ms", 18446744073709000000ULL },
	};
	static const char *const bad[] = {
		"",
		" ",
		"s",
		"ms",
		"-1",
		"-5s",
		"+5",
		" 5",
		"5 ",
		"5 s",
		"1.",
		"1.s",
		".5s",
		"1.5m1s",
		"1.5.5",
		"0h30",
		"1e3",
		"0x10",
		"5S",
		"5sec",
		"5ns",
		"1h30",
		"30m1h",
		"1m1m",
		"1s1s",
		"1hm",
		"h1",
		"1h-30m",
		"1h 30m",
		"5ms1",
		"inf",
		"18446744074", /* of seconds */
		"18446744073s710ms", /* the sum */
		"213504d", /* the product */
		"18446744073709551616", /* the digits */
		"18446744073709551610ms",
		"18446744073.8", /* the fraction */
	};

	expect(units_parse_time, good, ARRAY_SIZE(good));
	reject(units_parse_time, bad, ARRAY_SIZE(bad));
}

static void sizes(void **state)
{
	static const struct parse_case good[] = {
		{ "0", 0 },
		{ "123", 123 },
		{ "4K", 4096 },
		{ "64M", 64ULL << 20 },
		{ "1G", 1ULL << 30 },
		{ "2T", 2ULL << 40 },
		{ "0G", 0 },
		{ "16777215T", 16777215ULL << 40 },
		{ "18446744073709551615", UINT64_MAX },
	};
	static const char *const bad[] = {
		"",
		" ",
		"K",
		"-1",
		"-4K",
		"+4K",
		" 4K",
		"4K ",
		"4 K",
		"1.5G",
		"4k",
		"4KB",
		"4KiB",
		"4B",
		"4KK",
		"1G1M",
		"0x10",
		"4%",
		"16777216T", /* the product */
		"18446744073709551616", /* the digits */
	};

	expect(units_parse_size, good, ARRAY_SIZE(good));
	reject(units_parse_size, bad, ARRAY_SIZE(bad));
}

static void rotation_is_by_size_or_by_time(void **state)
{
	static const char *const bad[] = { "", "0", "100", "1.5", "3x", "64MB", "10 m", "m", "1.5G", "-1M", "1M1h" };
	uint64_t bytes = 7, ns = 8;

	assert_int_equal(units_parse_size_or_time("64M", &bytes, &ns), 0);
	assert_int_equal(bytes, 64 << 20);
	assert_int_equal(ns, 8);
	assert_int_equal(units_parse_size_or_time("10m", &bytes, &ns), 0);
	assert_int_equal(ns, 600 * NSEC_PER_SEC);
	assert_int_equal(units_parse_size_or_time("1h30m", &bytes, &ns), 0);
	assert_int_equal(ns, 5400 * NSEC_PER_SEC);
	assert_int_equal(bytes, 64 << 20);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(units_parse_size_or_time(bad[i], &bytes, &ns), -EINVAL);
	assert_int_equal(bytes, 64 << 20);
	assert_int_equal(ns, 5400 * NSEC_PER_SEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rotation_is_by_size_or_by_time),
		cmocka_unit_test(times),
		cmocka_unit_test(sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
