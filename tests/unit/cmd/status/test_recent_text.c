/* SPDX-License-Identifier: BSD-2-Clause */
/* What another process sends as the last seconds of a job, as text: it may be anything. */
#include "cmd/status/recent_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"

/* Reads LINE, and returns what is printed of it, to be freed. */
static char *printed(const char *line, unsigned int lines)
{
	struct recent_text recent;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	unsigned int n = 0;

	assert_non_null(out);
	assert_int_equal(recent_text_read(&recent, line), lines);
	recent_text(&recent, out);
	assert_int_equal(fclose(out), 0);
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		n++;
	assert_int_equal(n, lines);
	return text;
}

static void parts_have_a_line_each(void **state)
{
	autofree char *text =
		printed("{\"root\": 7, \"comm\": \"a\\\\040b\", \"end_ns\": 1, \"wall_ns\": 2500000000, \"parts\": ["
			"{\"kind\": \"network\", \"what\": \"waiting for the network\", \"who\": \"x's thread\","
			"\"detail\": \"10.0.0.5:80\", \"ns\": 2000000000, \"role\": \"worker\"},"
			"{\"kind\": \"cpu\", \"what\": \"on a CPU\", \"who\": \"x\", \"detail\": null,"
			"\"ns\": 250000000, \"role\": \"own\", \"inferred\": true},"
			"{\"kind\": \"other\", \"what\": \"other\", \"ns\": 250000000}]}",
			5);

	assert_non_null(strstr(text, "\nwhere 2.5 s of process 7 (a\\040b) went, until "));
	assert_non_null(strstr(text, "\n  80.0 %  waiting for the network: 10.0.0.5:80 (x's thread, a worker)\n"));
	assert_non_null(strstr(text, "\n  10.0 %  on a CPU (x; inferred)\n  10.0 %  other\n"));
}

static void each_wait_of_a_hang_has_a_line(void **state)
{
	autofree char *text = printed(
		"{\"root\": 7, \"wall_ns\": 100, \"parts\": [{\"what\": \"p\", \"ns\": 100}], \"hang\": {\"since_ns\": 1,"
		"\"text\": \"process 7 (a) waits in read of a pipe for process 8 (b), which is stopped\"}}",
		5);

	assert_non_null(strstr(text, "\n 100.0 %  p\nit hangs, for "));
	assert_non_null(
		strstr(text, " s: process 7 (a) waits in read of a pipe for process 8 (b),\n  which is stopped\n"));
}

static void more_parts_than_there_are_places_are_left_out(void **state)
{
	autofree char *line = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&line, &len);

	fputs("{\"wall_ns\": 100, \"parts\": [", out);
	for (unsigned int i = 0; i < 50; i++)
		fprintf(out, "%s{\"what\": \"p%u\", \"ns\": 2}", i ? "," : "", i);
	fputs("]}", out);
	assert_int_equal(fclose(out), 0);
	free(printed(line, 2 + RECENT_PARTS_MAX));
}

static void nothing_is_printed_of_what_is_not_known(void **state)
{
	static const char *const lines[] = { NULL,
					     "",
					     "null",
					     "{}",
					     "[1]",
					     "{\"parts\": [{\"what\": \"x\"}]}",
					     "{\"wall_ns\": 9, \"parts\": []}",
					     "{\"wall_ns\": 9, \"parts\": [{\"what\": \"x\"" };

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		free(printed(lines[i], 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_wait_of_a_hang_has_a_line),
		cmocka_unit_test(more_parts_than_there_are_places_are_left_out),
		cmocka_unit_test(nothing_is_printed_of_what_is_not_known),
		cmocka_unit_test(parts_have_a_line_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
