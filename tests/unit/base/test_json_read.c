/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/json_read.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char seen[1024];

static void note(void *ctx, const char *path, enum json_event event, const char *text, size_t len)
{
	static const char kind[] = { [JSON_OPEN] = 'o', [JSON_STRING] = 's', [JSON_WORD] = 'w' };
	size_t have = strlen(seen);

	snprintf(seen + have, sizeof(seen) - have, "%s %c %.*s;", path, kind[event], (int)len, text);
}

static int read_text(const char *text)
{
	seen[0] = '\0';
	return json_read(text, strlen(text), note, NULL);
}

static void values_come_with_their_paths(void **state)
{
	assert_int_equal(read_text(" {\"a\": 1, \"b\" : [\"x\\\"y\", {\"c\":NaN}], \"d\":{}} rest"), 0);
	assert_string_equal(seen, " o ;a w 1;b o ;b[] s x\\\"y;b[] o ;b[].c w NaN;d o ;");
}

/* What is inside of something is not at the top, whatever that is called. */
static void an_empty_key_is_a_part_of_the_path(void **state)
{
	assert_int_equal(read_text("{\"\":{\"a\":1,\"\":2},\"b\":3}"), 0);
	assert_string_equal(seen, " o ; o ;.a w 1;. w 2;b w 3;");
}

static void malformed_text_is_refused(void **state)
{
	static const char *const bad[] = { "",     " ",     "{",         "{\"a\"}", "{\"a\":}",    "{\"a\":1,}",
					   "[1,]", "[1 2]", "\"a",       "\"\\q\"", "\"\\u12g4\"", "\"\\u12",
					   "\"\\", "{a:1}", "{\"a\":1]", "]",       ",",           ":" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(read_text(bad[i]), -EBADMSG);
}

static void values_before_a_cut_are_given(void **state)
{
	assert_int_equal(read_text("{\"a\":\"x\",\"b\":[1"), -EBADMSG);
	assert_string_equal(seen, " o ;a s x;b o ;b[] w 1;");
}

/* The text ends at LEN, whatever the byte after it is. */
static void text_ends_at_its_length(void **state)
{
	seen[0] = '\0';
	assert_int_equal(json_read("\"\\u0041\"", 5, note, NULL), -EBADMSG);
	assert_int_equal(json_read("[1]", 2, note, NULL), -EBADMSG);
	assert_int_equal(json_read("123", 2, note, NULL), 0);
	assert_string_equal(seen, " o ;[] w 1; w 12;");
}

static void long_paths_are_no_paths(void **state)
{
	char text[400];

	snprintf(text, sizeof(text), "{\"%0150d\":{\"a\":1},\"b\":2}", 0);
	assert_int_equal(read_text(text), 0);
	assert_string_equal(seen, " o ; o ; w 1;b w 2;");
}

static void nesting_has_an_end(void **state)
{
	char text[80];

	memset(text, '[', 32);
	text[32] = '\0';
	strcat(text, "1");
	memset(text + 33, ']', 32);
	text[65] = '\0';
	assert_int_equal(read_text(text), 0);
	memset(text, '[', 33);
	assert_int_equal(read_text(text), -EBADMSG);
}

static void strings_are_decoded_and_cut(void **state)
{
	static const char text[] = "a\\n\\u00e4\\ud83d\\ude00\\ud800z\\u0000";
	char s[32];

	json_read_string(s, sizeof(s), text, strlen(text));
	assert_string_equal(s, "a\n\xc3\xa4\xf0\x9f\x98\x80\xef\xbf\xbdz\xef\xbf\xbd");
	json_read_string(s, 6, text, strlen(text));
	assert_string_equal(s, "a\n\xc3\xa4\xf0");
	json_read_string(s, 1, text, strlen(text));
	assert_string_equal(s, "");
}

static void a_whole_string_is_not_cut(void **state)
{
	static const char *const texts[][2] = {
		{ "", "" },
		{ "a\\tb", "a\tb" },
		{ "\\u0000\\u0000", "\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\\ud83d\\ude00", "\xf0\x9f\x98\x80" },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char *s = json_read_whole(texts[i][0], strlen(texts[i][0]));

		assert_string_equal(s, texts[i][1]);
		free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_string_is_not_cut),
		cmocka_unit_test(long_paths_are_no_paths),
		cmocka_unit_test(an_empty_key_is_a_part_of_the_path),
		cmocka_unit_test(malformed_text_is_refused),
		cmocka_unit_test(nesting_has_an_end),
		cmocka_unit_test(strings_are_decoded_and_cut),
		cmocka_unit_test(text_ends_at_its_length),
		cmocka_unit_test(values_come_with_their_paths),
		cmocka_unit_test(values_before_a_cut_are_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
