/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/fmt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "base/util.h"

static void is_shown(void (*show)(FILE *out, const char *s, int width), const char *text, int width, const char *want)
{
	autofree char *got = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&got, &len);

	show(out, text, width);
	fclose(out);
	assert_string_equal(got, want);
}

static void shows(const char *text, int width, const char *want)
{
	is_shown(fmt_text, text, width, want);
}

static void one_of_something_is_not_plural(void **state)
{
	assert_string_equal(FMT_N(0, "row was", "rows were"), "0 rows were");
	assert_string_equal(FMT_N(1, "row was", "rows were"), "1 row was");
	assert_string_equal(FMT_N(UINT64_MAX, "row was", "rows were"), "18446744073709551615 rows were");
}

static void names_are_shown_without_the_escapes_that_do_no_harm(void **state)
{
	shows("epoch\\04038", 0, "epoch 38");
	shows("/data/my\\040set/a\\043b\\042c", 0, "/data/my set/a#b\"c");
	shows("a\\040b", 6, "a b   ");
	shows("a\\134b\\134\\040c\\134", 0, "a\\b\\ c\\");
	shows("a\\13440b\\134481", 10, "a\\40b\\481 ");
}

/* A blank that would be overlooked, an escaped backslash before digits, and bytes that could control a terminal. */
static void other_escapes_stay(void **state)
{
	shows("\\040a", 0, "\\040a");
	shows("a\\040", 0, "a\\040");
	shows("a\\040\\040b", 0, "a\\040\\040b");
	shows("a\\134040b", 0, "a\\134040b");
	shows("a\\012b\\033[2J", 0, "a\\012b\\033[2J");
	shows("a\nb", 0, "a\\012b");
	shows("a\\04", 0, "a\\04");
}

/* A command as the user typed it. */
static void a_backslash_of_text_without_escapes_is_one(void **state)
{
	is_shown(fmt_plain, "printf 'a\\040b\\134' \"c\\\"", 0, "printf 'a\\040b\\134' \"c\\\"");
	is_shown(fmt_plain, "a\\040b", 8, "a\\040b  ");
	is_shown(fmt_plain, "a\nb\033[2J", 0, "a\\012b\\033[2J");
}

/* Different names that text_put_str() has escaped are shown differently. */
static void names_that_differ_are_shown_so(void **state)
{
	static const char *const names[] = { "a b",    "a\\040b", "a\\134040b", "a\\ b",    "a\\",
					     "a\\b",   "a\nb",    "a\\012b",    "a ",       "a\\040",
					     "a\\377", "a\377",   "a\\477",     "\\",       "\\\\",
					     "\\134",  "a  b",    "a\\040 b",   "a \\040b", "a\\040\\040b" };
	char *shown[ARRAY_SIZE(names)];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char escaped[64];
		size_t len = 0;
		FILE *out = open_memstream(&shown[i], &len);

		*text_put_str(escaped, names[i], strlen(names[i])) = '\0';
		fmt_text(out, escaped, 0);
		fclose(out);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(shown[i], shown[k]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		free(shown[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_something_is_not_plural),
		cmocka_unit_test(names_are_shown_without_the_escapes_that_do_no_harm),
		cmocka_unit_test(other_escapes_stay),
		cmocka_unit_test(a_backslash_of_text_without_escapes_is_one),
		cmocka_unit_test(names_that_differ_are_shown_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
