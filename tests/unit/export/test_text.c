/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A field within a row: bytes before and after it do not belong to it. */
static struct reader_field field(const char *s)
{
	static char room[4096];
	const size_t len = strlen(s);

	memset(room, '"', sizeof(room));
	memcpy(room + 64, s, len);
	return (struct reader_field){ room + 64, len };
}

typedef char *(*put_fn)(char *p, struct reader_field f, char *scratch);

static const char *with(put_fn put, const char *s)
{
	static char out[TEXT_JSON_MAX(4096)], scratch[4096];

	*put(out, field(s), scratch) = '\0';
	return out;
}

static void json_strings_are_valid_and_lose_no_byte(void **state)
{
	assert_string_equal(with(text_put_json, "0001.jpg"), "0001.jpg");
	assert_string_equal(with(text_put_json, "a-name-of-more-than-a-few-words.jpg"),
			    "a-name-of-more-than-a-few-words.jpg");
	assert_string_equal(with(text_put_json, "a\\040b"), "a b");
	assert_string_equal(with(text_put_json, "say\\042hi\\042"), "say\\\"hi\\\"");
	assert_string_equal(with(text_put_json, "\\011\\012\\015"), "\\t\\n\\r");
	assert_string_equal(with(text_put_json, "\\033[2J"), "\\\\033[2J");
	assert_string_equal(with(text_put_json, "a\\000b"), "a\\\\000b");
	assert_string_equal(with(text_put_json, "\\377"), "\\\\377");
	assert_string_equal(with(text_put_json, "gr\xc3\xb6\xc3\x9f"
						"e"),
			    "gr\xc3\xb6\xc3\x9f"
			    "e");
	/* a name with a backslash and three digits differs from one with that byte */
	assert_string_equal(with(text_put_json, "\\134377"), "\\\\134377");
}

/* For sanitizers: nothing after the text is read. */
static void a_text_may_end_where_its_memory_does(void **state)
{
	char out[64], scratch[64], *text = malloc(3);

	assert_non_null(text);
	memcpy(text, "PID", 3);
	assert_int_equal(text_put_utf8(out, (struct reader_field){ text, 3 }, scratch) - out, 3);
	assert_memory_equal(out, "PID", 3);
	free(text);
}

static void raw_bytes_of_a_damaged_file_are_escaped(void **state)
{
	assert_string_equal(with(text_put_json, "a\"b"), "a\\\"b");
	assert_string_equal(with(text_put_json, "a\\b"), "a\\\\134b");
	assert_string_equal(with(text_put_json, "a\x01"
						"b\xff"),
			    "a\\\\001b\\\\377");
	assert_string_equal(with(text_put_json, "\xc3"), "\\\\303");
	assert_string_equal(with(text_put_json, "12345678\x1f"), "12345678\\\\037");
}

static void csv_has_quotes_where_they_are_needed(void **state)
{
	assert_string_equal(with(text_put_csv, "train.py"), "train.py");
	assert_string_equal(with(text_put_csv, "a,b"), "\"a,b\"");
	assert_string_equal(with(text_put_csv, "12345678,"), "\"12345678,\"");
	assert_string_equal(with(text_put_csv, "a\\042b"), "\"a\"\"b\"");
	assert_string_equal(with(text_put_csv, "a\\012b"), "\"a\nb\"");
	assert_string_equal(with(text_put_csv, "\\377"), "\"\\377\"");
}

static void csv_runs_no_formula(void **state)
{
	static const char *const formulas[] = { "=1+1",
						"+1",
						"-bash",
						"@x",
						"'",
						("\xef\xbc\x9d"
						 "1") };

	for (size_t i = 0; i < sizeof(formulas) / sizeof(formulas[0]); i++) {
		const char *out = with(text_put_csv, formulas[i]);

		assert_memory_equal(out, "\"'", 2);
		assert_memory_equal(out + 2, formulas[i], strlen(formulas[i]));
	}
}

static void whole_numbers_are_those_of_json(void **state)
{
	static const char *const are[] = { "0", "7", "12345678", "123456789", "18446744073709551615" };
	static const char *const are_not[] = { "",    "-",         "+1",        "01",   "00", "1.0",
					       "1e3", "12345678x", "x12345678", "0x10", "1 " };

	for (size_t i = 0; i < sizeof(are) / sizeof(are[0]); i++) {
		assert_true(text_is_uint(field(are[i])));
		assert_true(text_is_int(field(are[i])));
		assert_true(text_is_number(field(are[i])));
	}
	for (size_t i = 0; i < sizeof(are_not) / sizeof(are_not[0]); i++)
		assert_false(text_is_uint(field(are_not[i])));
	assert_true(text_is_int(field("-512")));
	assert_false(text_is_uint(field("-512")));
	assert_false(text_is_int(field("--1")));
	assert_false(text_is_int(field("-")));
}

static void numbers_of_tools_may_have_fractions(void **state)
{
	static const char *const are[] = { "0.00", "-1.5", "12.25e3", "1E-9" };
	static const char *const are_not[] = { ".5", "5.", "1e", "1e+", "inf", "nan", "00.5", "1.5.2", "0x1p3", "5 %" };

	for (size_t i = 0; i < sizeof(are) / sizeof(are[0]); i++)
		assert_true(text_is_number(field(are[i])));
	for (size_t i = 0; i < sizeof(are_not) / sizeof(are_not[0]); i++)
		assert_false(text_is_number(field(are_not[i])));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_strings_are_valid_and_lose_no_byte),
		cmocka_unit_test(a_text_may_end_where_its_memory_does),
		cmocka_unit_test(raw_bytes_of_a_damaged_file_are_escaped),
		cmocka_unit_test(csv_has_quotes_where_they_are_needed),
		cmocka_unit_test(csv_runs_no_formula),
		cmocka_unit_test(whole_numbers_are_those_of_json),
		cmocka_unit_test(numbers_of_tools_may_have_fractions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
