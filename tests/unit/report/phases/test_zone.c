/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/phases/zone.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"

#define RULE "CET-1CEST,M3.5.0,M10.5.0/3" /* Europe/Berlin, for machines without the data base */

static void offsets_are_always_the_same(void **state)
{
	static const struct {
		const char *text;
		int32_t s;
	} cases[] = {
		{ "UTC", 0 },        { "Z", 0 },      { "GMT", 0 },      { "+02:00", 7200 },
		{ "-0530", -19800 }, { "+5", 18000 }, { "-05", -18000 },
	};
	struct zone z;
	int64_t at[2];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_true(zone_parse(&z, cases[i].text));
		assert_int_equal(zone_offset_s(&z, 1795334401), cases[i].s);
		assert_int_equal(zone_utc(&z, 1795334401, at), 1);
		assert_int_equal(at[0], 1795334401 - cases[i].s);
	}
}

static void what_is_no_zone_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"+",
		"+2:",
		"+02:60",
		"+15",
		"+02:0",
		"Mars/Olympus",
		"../../etc/passwd",
		"/etc/localtime",
		"Europe",
		"CET",
		"Europe/Berlin/",
		"x;y",
		"CET-1CEST,\n",
		"<+03",
		"Europe/Ber\xffin",
		"a-very-long-name-of-a-zone-that-no-machine-of-this-world-has-ever-known/x",
	};
	struct zone z;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (strcmp(bad[i], "CET") != 0) /* some data bases have it */
			assert_false(zone_parse(&z, bad[i]));
}

/* Until 2026-10-25 01:00 UTC it is summer: 03:00 becomes 02:00. */
static void an_hour_comes_twice_when_summer_ends(void **state)
{
	struct zone z;
	int64_t at[2];

	assert_true(zone_parse(&z, RULE));
	assert_int_equal(zone_offset_s(&z, 1792889999), 7200);
	assert_int_equal(zone_offset_s(&z, 1792890000), 3600);
	assert_int_equal(zone_utc(&z, 1792889999 + 7200, at), 2); /* 02:59:59 */
	assert_int_equal(at[0], 1792889999);
	assert_int_equal(at[1], 1792889999 + 3600);
	assert_int_equal(zone_utc(&z, 1792890000 + 7200, at), 1); /* 03:00:00 */
	assert_int_equal(at[0], 1792890000 + 3600);
}

/* 2026-03-29 01:00 UTC: 02:00 becomes 03:00. */
static void an_hour_is_left_out_when_summer_begins(void **state)
{
	struct zone z;
	int64_t at[2];

	assert_true(zone_parse(&z, RULE));
	assert_int_equal(zone_utc(&z, 1774746000 + 3600 + 1800, at), 1); /* 02:30 */
	assert_int_equal(at[0], 1774746000 + 1800);
	assert_int_equal(zone_utc(&z, 1774746000 + 3600 - 1, at), 1);
	assert_int_equal(at[0], 1774746000 - 1);
	assert_int_equal(zone_utc(&z, 1774746000 + 7200, at), 1); /* 03:00 */
	assert_int_equal(at[0], 1774746000);
}

static void names_are_those_of_the_data_base(void **state)
{
	struct zone z, same;
	int64_t at[2];

	if (access("/usr/share/zoneinfo/Europe/Berlin", R_OK) != 0) {
		print_message("needs tzdata\n");
		skip();
	}
	assert_true(zone_parse(&z, ":Europe/Berlin"));
	assert_true(zone_parse(&same, RULE));
	for (int64_t s = 1767225600; s < 1767225600 + 366 * 86400; s += 5400)
		assert_int_equal(zone_offset_s(&z, s), zone_offset_s(&same, s));
	assert_int_equal(zone_utc(&z, 1792889999 + 7200, at), 2);
}

static void the_process_keeps_its_own_zone(void **state)
{
	struct zone z;

	setenv("TZ", "EST5", 1);
	assert_true(zone_parse(&z, RULE));
	assert_int_equal(zone_offset_s(&z, 1795334401), 3600);
	assert_string_equal(getenv("TZ"), "EST5");
	unsetenv("TZ");
	assert_int_equal(zone_offset_s(&z, 1775334401), 7200);
	assert_null(getenv("TZ"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offsets_are_always_the_same),
		cmocka_unit_test(what_is_no_zone_is_refused),
		cmocka_unit_test(an_hour_comes_twice_when_summer_ends),
		cmocka_unit_test(an_hour_is_left_out_when_summer_begins),
		cmocka_unit_test(names_are_those_of_the_data_base),
		cmocka_unit_test(the_process_keeps_its_own_zone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
