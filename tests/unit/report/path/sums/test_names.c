/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/sums/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct reader_field field(const char *text)
{
	return (struct reader_field){ text, strlen(text) };
}

static void a_text_has_one_number(void **state)
{
	struct path_names names = { .all = { 0 } };
	uint32_t a, b;

	path_names_init(&names);
	a = path_name(&names, field("python"));
	b = path_name(&names, field("pt_data_worker"));
	assert_int_not_equal(a, 0);
	assert_int_not_equal(a, b);
	assert_int_equal(path_name(&names, field("python")), a);
	assert_int_equal(path_name(&names, field("-")), 0);
	assert_string_equal(path_name_text(&names, b), "pt_data_worker");
	assert_null(path_name_text(&names, 0));
	assert_null(path_name_text(&names, 99));
	path_names_free(&names);
}

static void digits_make_no_difference(void **state)
{
	static const struct {
		const char *name, *pattern;
	} cases[] = {
		{ "sample_0001.jpg", "sample_#.jpg" },
		{ "7", "#" },
		{ "n01440764_10026.JPEG", "n#_#.JPEG" },
		{ "socket:[123]", "socket:[#]" },
		{ "a\\0401b", "a\\040#b" }, /* an escaped blank stays */
		{ "a\\12", "a\\#" },
		{ "a\\", "a\\" },
		{ "train.bin", "train.bin" },
	};
	struct path_names names = { .all = { 0 } };

	path_names_init(&names);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(path_name_text(&names, path_name_pattern(&names, field(cases[i].name))),
				    cases[i].pattern);
	assert_int_equal(path_name_pattern(&names, field("-")), 0);
	assert_int_equal(path_name_pattern(&names, field("")), 0);
	path_names_free(&names);
}

static void a_long_name_is_cut(void **state)
{
	struct path_names names = { .all = { 0 } };
	char text[2 * PATH_NAME_BYTES];

	memset(text, 'x', sizeof(text));
	path_names_init(&names);
	assert_int_equal(strlen(path_name_text(&names,
					       path_name_pattern(&names, (struct reader_field){ text, sizeof(text) }))),
			 PATH_NAME_BYTES);
	path_names_free(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_has_one_number),
		cmocka_unit_test(digits_make_no_difference),
		cmocka_unit_test(a_long_name_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
