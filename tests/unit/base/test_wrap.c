/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/wrap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/fmt.h"
#include "base/shell.h"
#include "base/util.h"

static void becomes(const char *text, unsigned int indent, unsigned int width, const char *want)
{
	autofree char *got = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&got, &len);

	wrap_from(out, indent, text, width);
	fclose(out);
	assert_string_equal(got, want);
}

static void lines_break_at_blanks(void **state)
{
	becomes("", 2, 10, "  \n");
	becomes("one two", 0, 7, "one two\n");
	becomes("one two", 0, 6, "one\ntwo\n");
	becomes("one two three", 2, 9, "  one two\n  three\n");
	becomes("one  two", 0, 80, "one two\n");
}

static void a_number_keeps_its_unit(void **state)
{
	becomes("it had (45.0 %) of it", 0, 13, "it had\n(45.0 %) of\nit\n");
	becomes("for 1.5 s, then", 0, 7, "for\n1.5 s,\nthen\n");
	becomes("of 3 sets", 0, 6, "of 3\nsets\n");
	becomes("a 5 MiB", 0, 4, "a 5\nMiB\n"); /* unless no line has room for both */
}

static void words_that_fit_no_line_are_cut(void **state)
{
	becomes("abcdefgh", 1, 5, " abcd\n efgh\n");
	becomes("a bcdefgh", 0, 4, "a\nbcde\nfgh\n");
	becomes("abcdefgh", 6, 4, "      abcd\n      efgh\n"); /* a line has some text, however narrow */
}

static void characters_are_columns_and_controls_are_escaped(void **state)
{
	becomes("\xc3\xa4\xc3\xa4 \xc3\xa4", 0, 4, "\xc3\xa4\xc3\xa4 \xc3\xa4\n");
	becomes("\033[2J", 0, 80, "\\033[2J\n");
}

static void a_shell_takes_words_as_they_are(void **state)
{
	char line[64] = "cat", small[8] = "cat";

	shell_append(line, sizeof(line), "plain/name-1");
	shell_append(line, sizeof(line), "it's");
	shell_append(line, sizeof(line), "");
	assert_string_equal(line, "cat plain/name-1 'it'\\''s' ''");
	shell_append(small, sizeof(small), "longer");
	assert_string_equal(small, "cat lon");
}

static void an_end_is_in_words(void **state)
{
	assert_string_equal(FMT_ENDED(W_EXITCODE(0, 0)), "ended with status 0");
	assert_string_equal(FMT_ENDED(W_EXITCODE(255, 0)), "ended with status 255");
	assert_string_equal(FMT_ENDED(9), "ended by SIGKILL");
	assert_string_equal(FMT_ENDED(11 | 0x80), "ended by SIGSEGV"); /* with a core */
	assert_string_equal(FMT_ENDED(64), "ended by signal 64");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_shell_takes_words_as_they_are),
		cmocka_unit_test(an_end_is_in_words),
		cmocka_unit_test(characters_are_columns_and_controls_are_escaped),
		cmocka_unit_test(a_number_keeps_its_unit),
		cmocka_unit_test(lines_break_at_blanks),
		cmocka_unit_test(words_that_fit_no_line_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
