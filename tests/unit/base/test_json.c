/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/json.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"

static void expect(struct json *j, const char *want)
{
	assert_int_equal(json_finish(j), 0);
	assert_int_equal(j->len, strlen(want));
	assert_memory_equal(j->buf, want, j->len);
	json_free(j);
}

static void expect_text(const char *s, size_t len, const char *want)
{
	autofree char *line = util_fmt("%s\n", want);
	struct json j = { 0 };

	json_strn(&j, NULL, s, len);
	expect(&j, line);
}

static void nests_with_two_blanks_a_level(void **state)
{
	struct json j = { 0 };

	json_object(&j, NULL);
	json_str(&j, "tool", "dltraced");
	json_array(&j, "argv");
	json_str(&j, NULL, "python");
	json_object(&j, NULL);
	json_u64(&j, "n", 1);
	json_end(&j);
	json_end(&j);
	json_array(&j, "none");
	json_end(&j);
	json_object(&j, "nothing");
	json_end(&j);
	json_bool(&j, "complete", true);
	json_end(&j);
	expect(&j, "{\n"
		   "  \"tool\": \"dltraced\",\n"
		   "  \"argv\": [\n"
		   "    \"python\",\n"
		   "    {\n"
		   "      \"n\": 1\n"
		   "    }\n"
		   "  ],\n"
		   "  \"none\": [],\n"
		   "  \"nothing\": {},\n"
		   "  \"complete\": true\n"
		   "}\n");
}

static void values_at_their_limits(void **state)
{
	struct json j = { 0 };

	json_array(&j, NULL);
	json_u64(&j, NULL, UINT64_MAX);
	json_s64(&j, NULL, INT64_MIN);
	json_s64(&j, NULL, -1);
	json_bool(&j, NULL, false);
	json_null(&j, NULL);
	json_str(&j, NULL, NULL);
	json_str(&j, NULL, "");
	json_end(&j);
	expect(&j, "[\n  18446744073709551615,\n  -9223372036854775808,\n  -1,\n  false,\n  null,\n"
		   "  null,\n  \"\"\n]\n");
}

static void every_byte_value_has_its_form(void **state)
{
	for (unsigned int i = 0; i < 256; i++) {
		char c = (char)i, want[16];
		bool quoted = c == '"' || c == '\\';

		if (i < 0x20 || i == 0x7f)
			snprintf(want, sizeof(want), "\"\\u%04x\"", i);
		else if (i >= 0x80)
			snprintf(want, sizeof(want), "\"\\\\%03o\"", i);
		else
			snprintf(want, sizeof(want), "\"%s%c\"", quoted ? "\\" : "", c);
		expect_text(&c, 1, want);
	}
}

static void utf8_passes_and_what_is_none_is_spelled_out(void **state)
{
	expect_text("f\xc3\xbcr \xf0\x9f\x98\x80", 9, "\"f\xc3\xbcr \xf0\x9f\x98\x80\"");
	expect_text("a\xf0\x9f\x98", 4, "\"a\\\\360\\\\237\\\\230\"");
	expect_text("\xed\xa0\x80", 3, "\"\\\\355\\\\240\\\\200\"");
	expect_text("a\0b", 3, "\"a\\u0000b\"");
}

/* Terminals obey U+0080 to U+009F, which JSON may have. */
static void control_characters_beyond_ascii_are_escaped(void **state)
{
	for (unsigned int i = 0x80; i < 0xa0; i++) {
		const char c[] = { (char)0xc2, (char)i };
		char want[16];

		snprintf(want, sizeof(want), "\"\\u%04x\"", i);
		expect_text(c, 2, want);
	}
	expect_text("\xc2\xa0\xc3\x80", 4, "\"\xc2\xa0\xc3\x80\"");
}

static void names_are_escaped_too(void **state)
{
	struct json j = { 0 };

	json_object(&j, NULL);
	json_null(&j, "a\"b\n");
	json_end(&j);
	expect(&j, "{\n  \"a\\\"b\\u000a\": null\n}\n");
}

static void grows_for_long_strings(void **state)
{
	size_t len = 400000; /* five times as much still fits, six times does not */
	autofree char *s = malloc(len);
	struct json j = { 0 };

	memset(s, '\1', len);
	json_strn(&j, NULL, s, len);
	assert_int_equal(json_finish(&j), 0);
	assert_int_equal(j.len, 6 * len + 3);
	assert_memory_equal(j.buf, "\"\\u0001\\u0001", 13);
	assert_memory_equal(j.buf + j.len - 9, "1\\u0001\"\n", 9);
	json_free(&j);
}

static void ends_that_do_not_match_are_an_error(void **state)
{
	struct json open = { 0 }, closed = { 0 }, deep = { 0 };

	json_object(&open, NULL);
	assert_int_equal(json_finish(&open), -EINVAL);
	json_free(&open);

	json_end(&closed);
	json_u64(&closed, NULL, 1);
	assert_int_equal(json_finish(&closed), -EINVAL);
	json_free(&closed);

	for (unsigned int i = 0; i <= JSON_DEPTH_MAX; i++)
		json_array(&deep, NULL);
	for (unsigned int i = 0; i <= JSON_DEPTH_MAX; i++)
		json_end(&deep);
	assert_int_equal(json_finish(&deep), -EINVAL);
	json_free(&deep);
}

static void lists_of_strings_and_what_is_not_known(void **state)
{
	static char *const pets[] = { "cat", "d\"og" };
	struct json j = { 0 };

	json_object(&j, NULL);
	json_strs(&j, "pets", pets, 2);
	json_strs(&j, "none", NULL, 0);
	json_u64_known(&j, "legs", true, 0);
	json_u64_known(&j, "wings", false, 2);
	json_end(&j);
	expect(&j, "{\n"
		   "  \"pets\": [\n"
		   "    \"cat\",\n"
		   "    \"d\\\"og\"\n"
		   "  ],\n"
		   "  \"none\": [],\n"
		   "  \"legs\": 0,\n"
		   "  \"wings\": null\n"
		   "}\n");
}

static void text_has_no_newline_and_is_none_after_an_error(void **state)
{
	struct json j = { .flat = true }, open = { 0 };
	char *text;

	json_str(&j, NULL, "a");
	text = json_text(&j);
	assert_string_equal(text, "\"a\"");
	free(text);
	json_object(&open, NULL);
	assert_null(json_text(&open));
	assert_null(open.buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nests_with_two_blanks_a_level),
		cmocka_unit_test(values_at_their_limits),
		cmocka_unit_test(every_byte_value_has_its_form),
		cmocka_unit_test(utf8_passes_and_what_is_none_is_spelled_out),
		cmocka_unit_test(control_characters_beyond_ascii_are_escaped),
		cmocka_unit_test(names_are_escaped_too),
		cmocka_unit_test(grows_for_long_strings),
		cmocka_unit_test(ends_that_do_not_match_are_an_error),
		cmocka_unit_test(lists_of_strings_and_what_is_not_known),
		cmocka_unit_test(text_has_no_newline_and_is_none_after_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
