/* SPDX-License-Identifier: BSD-2-Clause */
/* Who waits for whom in a manifest: what is written is read again, and a damaged one has no more than there is room. */
#include "trace/open_waits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/util.h"

static struct open_waits waits, got;

static char *text_of(const struct open_waits *from)
{
	struct json json = { 0 };

	json_object(&json, NULL);
	open_waits_put(&json, from);
	json_end(&json);
	return json_text(&json);
}

static void what_is_written_is_read(void **state)
{
	autofree char *text = NULL, *again = NULL; /* what is behind a string's end differs */

	waits = (struct open_waits){ .n = 2 };
	waits.v[0] = (struct open_wait){ .pid = 10,
					 .tid = 11,
					 .since_ns = 12345678901,
					 .threads = 2,
					 .inode = 77,
					 .known = true,
					 .comm = "a \"b\"",
					 .call = "read",
					 .object = "pipe",
					 .n_ends = 2,
					 .ends = { { 20, 1, true, false, "x\ny" }, { 21, 3, false, true, "z" } } };
	waits.v[1] = (struct open_wait){ .pid = 20, .tid = 20, .threads = 1, .call = "wait4", .object = "child" };
	text = text_of(&waits);
	assert_int_equal(open_waits_parse(&got, text), 0);
	again = text_of(&got);
	assert_string_equal(again, text);
	assert_int_equal(got.n, 2);
	assert_int_equal(got.v[0].since_ns, 12345678901);
	assert_string_equal(got.v[0].comm, "a \"b\"");
	assert_int_equal(got.v[0].n_ends, 2);
	assert_string_equal(got.v[0].ends[0].comm, "x\ny");
	assert_string_equal(got.v[1].call, "wait4");
}

static void others_have_none(void **state)
{
	assert_int_equal(open_waits_parse(&got, "{\"tool\": \"dltraced\", \"open_waits\": null}"), 0);
	assert_int_equal(got.n, 0);
}

static void more_than_there_is_room_for_is_left_out(void **state)
{
	size_t len;
	autofree char *text = NULL;
	FILE *out = open_memstream(&text, &len);

	fputs("{\"open_waits\":[", out);
	for (unsigned int i = 0; i < OPEN_WAITS_MAX + 5; i++) {
		fprintf(out, "%s{\"pid\":%u,\"ends\":[", i ? "," : "", i + 1);
		for (unsigned int k = 0; k < OPEN_WAIT_ENDS_MAX + 2; k++)
			fprintf(out, "%s{\"pid\":%u}", k ? "," : "", k + 1);
		fputs("]}", out);
	}
	fputs("]}", out);
	fclose(out);
	assert_int_equal(open_waits_parse(&got, text), 0);
	assert_int_equal(got.n, OPEN_WAITS_MAX);
	assert_int_equal(got.v[OPEN_WAITS_MAX - 1].pid, OPEN_WAITS_MAX);
	assert_int_equal(got.v[0].n_ends, OPEN_WAIT_ENDS_MAX + 2);
	assert_int_equal(got.v[0].ends[OPEN_WAIT_ENDS_MAX - 1].pid, OPEN_WAIT_ENDS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(others_have_none),
		cmocka_unit_test(more_than_there_is_room_for_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
