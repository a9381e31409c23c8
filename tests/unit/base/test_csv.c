/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/csv.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"
#include "tree.h"

static int dir(void)
{
	int fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/* Returns what a field of a trace becomes. */
static char *written(const char *field)
{
	autoclose int fd = dir();
	struct csv c;
	char *text, *copy;

	assert_int_equal(csv_open(&c, fd, "t.csv"), 0);
	csv_text(&c, field);
	csv_end(&c);
	assert_int_equal(csv_close(&c), 0);
	text = tree_get("t.csv");
	assert_int_equal(text[strlen(text) - 1], '\n');
	copy = strndup(text, strlen(text) - 1);
	free(text);
	return copy;
}

static void texts_are_unescaped_and_quoted(void **state)
{
	static const struct {
		const char *field, *want;
	} cases[] = {
		{ "python3", "python3" },
		{ "-", "" },
		{ "a\\040b", "a b" },
		{ "\\040a", "\" a\"" },
		{ "a,b", "\"a,b\"" },
		{ "a;b", "\"a;b\"" },
		{ "say\\042hi\\042", "\"say\"\"hi\"\"\"" },
		{ "two\\012lines", "\"two\nlines\"" },
		{ "\xc3\xa4", "\xc3\xa4" },
		{ "a\\134b", "a\\b" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		autofree char *text = written(cases[i].field);

		assert_string_equal(text, cases[i].want);
	}
}

static void what_a_spreadsheet_takes_for_a_formula_begins_with_an_apostrophe(void **state)
{
	static const struct {
		const char *field, *want;
	} cases[] = {
		{ "=1+1", "'=1+1" },
		{ "+1", "'+1" },
		{ "-x", "'-x" },
		{ "\\055", "'-" },
		{ "@SUM(A1)", "'@SUM(A1)" },
		{ "\\011=1", "\"'\t=1\"" },
		{ "\\012=1", "\"'\n=1\"" },
		{ "\\015=1", "\"'\r=1\"" },
		{ "\xef\xbc\x9d"
		  "1",
		  "'\xef\xbc\x9d"
		  "1" },
		{ "=cmd|'/C\\040calc'!A0,1", "\"'=cmd|'/C calc'!A0,1\"" },
		{ "'quoted", "''quoted" }, /* otherwise the name's own quote would be removed */
		{ "a=1", "a=1" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		autofree char *text = written(cases[i].field);

		assert_string_equal(text, cases[i].want);
	}
}

/* One such byte would make pandas refuse the file, or control the terminal that shows it. */
static void bytes_that_are_no_text_stay_escaped(void **state)
{
	static const struct {
		const char *field, *want;
	} cases[] = {
		{ "\\033[2J", "\\033[2J" },       { "\\000", "\\000" },
		{ "\\377\\376", "\\377\\376" },   { "\\302", "\\302" },
		{ "\\302\\233m", "\\302\\233m" }, { "\\177", "\\177" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		autofree char *text = written(cases[i].field);

		assert_string_equal(text, cases[i].want);
	}
}

static void numbers_lose_nothing(void **state)
{
	autoclose int fd = dir();
	struct csv c;

	assert_int_equal(csv_open(&c, fd, "n.csv"), 0);
	csv_number(&c, "%" PRIu64, UINT64_MAX);
	csv_seconds(&c, false, 1000000001);
	csv_seconds(&c, true, 1500000000);
	csv_number(&c, "%.6f", 1.0 / 3);
	csv_number(&c, "%s", "");
	csv_number(&c, "%.6f", 0.0);
	csv_end(&c);
	assert_int_equal(csv_close(&c), 0);
	autofree char *text = tree_get("n.csv");
	assert_string_equal(text, "18446744073709551615,1.000000001,-1.500000000,0.333333,,0.000000\n");
}

static void takes_the_place_of_a_file_and_of_nothing_else(void **state)
{
	autoclose int fd = dir();
	struct csv c;

	assert_int_equal(csv_open(&c, fd, "f.csv"), 0);
	csv_text(&c, "longer");
	csv_end(&c);
	assert_int_equal(csv_close(&c), 0);
	assert_int_equal(csv_open(&c, fd, "f.csv"), 0);
	csv_text(&c, "h");
	csv_end(&c);
	assert_int_equal(csv_close(&c), 0);
	autofree char *text = tree_get("f.csv");
	assert_string_equal(text, "h\n");
	assert_int_equal(symlinkat("f.csv", fd, "link.csv"), 0);
	assert_int_equal(csv_open(&c, fd, "link.csv"), -ELOOP);
	assert_int_equal(mkfifoat(fd, "fifo.csv", 0600), 0);
	assert_int_equal(csv_open(&c, fd, "fifo.csv"), -ENXIO);
	assert_int_equal(mkdirat(fd, "dir.csv", 0700), 0);
	assert_int_equal(csv_open(&c, fd, "dir.csv"), -EISDIR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_that_are_no_text_stay_escaped),
		cmocka_unit_test(numbers_lose_nothing),
		cmocka_unit_test(takes_the_place_of_a_file_and_of_nothing_else),
		cmocka_unit_test(texts_are_unescaped_and_quoted),
		cmocka_unit_test(what_a_spreadsheet_takes_for_a_formula_begins_with_an_apostrophe),
	};

	return cmocka_run_group_tests(tests, tree_make, tree_remove);
}
