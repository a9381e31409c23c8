/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/fold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/util.h"

/* TEXT is written in pieces of PIECE bytes. */
static void becomes(const char *text, size_t piece, unsigned int width, const char *want)
{
	autofree char *got = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&got, &len), *fold = fold_open(out, width);

	assert_non_null(fold);
	for (size_t at = 0; text[at]; at++) {
		fputc(text[at], fold);
		if (at % piece == 0)
			fflush(fold);
	}
	fclose(fold);
	fclose(out);
	assert_string_equal(got, want);
}

static void lines_that_fit_stay(void **state)
{
	becomes("one\n  two  three\n\nfour\n", 100, 12, "one\n  two  three\n\nfour\n");
	becomes("exactly ten\n", 1, 11, "exactly ten\n");
}

static void longer_ones_break_at_blanks(void **state)
{
	becomes("one two three four\nfive\n", 3, 10, "one two\n    three\n    four\nfive\n");
	becomes("  one two three\n", 100, 10, "  one two\n    three\n");
}

static void words_that_fit_no_line_break_anywhere(void **state)
{
	becomes("abcdefghijklmnop\n", 5, 8, "abcdefgh\n    ijkl\n    mnop\n");
	becomes("      abcdefghij\n", 5, 8, "      ab\n    cdef\n    ghij\n");
}

static void characters_are_columns_and_are_not_split(void **state)
{
	becomes("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\n", 1, 8,
		"\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\n");
	becomes("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\n", 1, 8,
		"\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\n    \xc3\xbc\n");
}

static void a_line_without_an_end_comes_too(void **state)
{
	becomes("one two three", 2, 10, "one two\n    three\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_without_an_end_comes_too),
		cmocka_unit_test(characters_are_columns_and_are_not_split),
		cmocka_unit_test(lines_that_fit_stay),
		cmocka_unit_test(longer_ones_break_at_blanks),
		cmocka_unit_test(words_that_fit_no_line_break_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
