/* SPDX-License-Identifier: BSD-2-Clause */
#include "check/check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"

static struct check check;

static char *printed(unsigned int width, bool colour)
{
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	check_print(&check, f, width, colour);
	assert_int_equal(fclose(f), 0);
	return text;
}

static int clear(void **state)
{
	check = (struct check){ .root = "" };
	return 0;
}

static void table_is_aligned_and_wrapped(void **state)
{
	autofree char *text = NULL;

	check_put(&check, "BTF", CHECK_OK, "/sys/kernel/btf/vmlinux");
	check_put(&check, "ring buffer", CHECK_FAIL, "one of 64.0 MiB cannot be made: Invalid argument");
	check_remedy(&check, "boot a kernel that has BPF ring buffers: 5.8 or newer");
	text = printed(60, false);
	assert_string_equal(text, "NEED         STATE   FOUND -> WHAT TO DO\n"
				  "BTF          ok      /sys/kernel/btf/vmlinux\n"
				  "ring buffer  fail    one of 64.0 MiB cannot be made: Invalid\n"
				  "                     argument\n"
				  "                     -> boot a kernel that has BPF ring\n"
				  "                        buffers: 5.8 or newer\n");
}

/* The last line is a sentence, and no row. */
static void the_verdict_comes_last(void **state)
{
	autofree char *text = NULL;

	check_put(&check, "BTF", CHECK_OK, "x");
	check_put(&check, CHECK_VERDICT, CHECK_OK, "This machine can be traced, by tp_btf\n.");
	text = printed(60, false);
	assert_string_equal(
		text,
		"NEED  STATE   FOUND -> WHAT TO DO\nBTF   ok      x\nThis machine can be traced, by tp_btf\\012.\n");
}

/* Names of folders and the output of tools come from others. */
static void nothing_steers_the_terminal(void **state)
{
	autofree char *text = NULL;

	check_put(&check, "space", CHECK_OK, "a\033[31m\nb\tc\x9b\xff\xe2\x80\xae\xc3\xa4");
	text = printed(100, false);
	assert_string_equal(strchr(text, '\n'),
			    "\nspace  ok      a\\033[31m\\012b\\011c\\233\\377\\342\\200\\256\xc3\xa4\n");
}

static void no_line_is_longer_than_the_width(void **state)
{
	char word[300];

	for (unsigned int seed = 0; seed < 500; seed++) {
		autofree char *text = NULL;
		unsigned int width = 60 + seed % 41;

		srand(seed);
		/* blanks, letters, controls, cut characters */
		for (size_t i = 0; i < sizeof(word) - 1; i++)
			word[i] = " abc\001\xc3\xa4 \xe2"[rand() % 9];
		word[sizeof(word) - 1] = '\0';
		clear(NULL);
		check_put(&check, "need", CHECK_NOTE, "%s", word);
		check_remedy(&check, "%s", word + seed % 200);
		text = printed(width, false);
		for (char *line = text; *line; line = strchrnul(line, '\n') + 1) {
			unsigned int columns = 0;

			for (char *p = line; *p != '\n'; p++)
				columns += (*p & 0xc0) != 0x80;
			assert_true(columns <= width);
		}
	}
}

static void colours_are_of_the_state_alone(void **state)
{
	autofree char *text = NULL;

	check_put(&check, "BTF", CHECK_OK, "x");
	text = printed(100, true);
	assert_string_equal(strchr(text, '\n'), "\nBTF   \033[32mok      \033[0mx\n");
}

static void json_is_an_array_of_rows(void **state)
{
	autofree char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	check_put(&check, "BTF", CHECK_MISSING, "a\"\n");
	check_remedy(&check, "do");
	check_put(&check, "x", CHECK_OK, "%s", "");
	assert_int_equal(check_print_json(&check, f), 0);
	assert_int_equal(fclose(f), 0);
	assert_string_equal(text, "[\n  {\n    \"need\": \"BTF\",\n    \"state\": \"missing\",\n"
				  "    \"found\": \"a\\\"\\u000a\",\n    \"remedy\": \"do\"\n  },\n"
				  "  {\n    \"need\": \"x\",\n    \"state\": \"ok\",\n"
				  "    \"found\": \"\",\n    \"remedy\": null\n  }\n]\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(colours_are_of_the_state_alone, clear),
		cmocka_unit_test_setup(json_is_an_array_of_rows, clear),
		cmocka_unit_test_setup(no_line_is_longer_than_the_width, clear),
		cmocka_unit_test_setup(nothing_steers_the_terminal, clear),
		cmocka_unit_test_setup(the_verdict_comes_last, clear),
		cmocka_unit_test_setup(table_is_aligned_and_wrapped, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
