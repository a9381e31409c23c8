/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/manifest_read.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"

static struct manifest_facts m;

static int parse(const char *text)
{
	return manifest_parse(&m, text);
}

static int read_in(const char *dir)
{
	autoclose int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	return manifest_read_at(&m, fd);
}

static void reads_a_manifest(void **state)
{
	assert_int_equal(read_in("tests/golden/trace-small"), 0);
	assert_string_equal(m.tool, "dltraced");
	assert_string_equal(m.host, "node1");
	assert_string_equal(m.kernel, "Linux 6.1.0-18-amd64 x86_64");
	assert_string_equal(m.cmdline, "dltraced start --workload 'python train.py'");
	assert_string_equal(m.argv, "/bin/sh -c 'python train.py'");
	assert_true(m.complete);
	assert_true(m.has_status);
	assert_int_equal(m.status, 3 << 8);
	assert_int_equal(m.workload_pid, 100);
	assert_int_equal(m.end_ns - m.start_ns, 2500000000);
	assert_int_equal(m.n_probes, 8);
	assert_int_equal(manifest_probe(&m, "vfs_rw")->lost, 2);
	assert_int_equal(manifest_probe(&m, "bio")->rows, 7);
	assert_null(manifest_probe(&m, "nvlink"));
	assert_int_equal(m.n_collectors, 2);
	assert_string_equal(m.collectors[1].state, "not found");
}

static void none_in_the_folder(void **state)
{
	assert_int_equal(read_in("tests/golden/trace-cut"), -ENOENT);
	assert_int_equal(m.n_probes, 0);
}

static void escapes_are_decoded(void **state)
{
	assert_int_equal(parse("{\"host\":\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e4\\u20AC\\ud83d\\ude00z\"}"), 0);
	assert_string_equal(m.host, "a\"\\/\b\f\n\r\t\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z");
	/* characters that a C string cannot hold, and halves of pairs */
	assert_int_equal(parse("{\"host\":\"\\u0000\\ud800x\\udc00\"}"), 0);
	assert_string_equal(m.host, "\xef\xbf\xbd\xef\xbf\xbdx\xef\xbf\xbd");
}

static void words_are_quoted_for_a_shell(void **state)
{
	assert_int_equal(parse("{\"cmdline\":[\"a\",\"\",\"b c\",\"it's\",\"--x=1,2\"]}"), 0);
	assert_string_equal(m.cmdline, "a '' 'b c' 'it'\\''s' --x=1,2");
}

/* A program chooses its name: it may end with a comma, and be where the list is full. */
static void names_are_listed_once(void **state)
{
	char text[1024] =
		"{\"job\":{\"processes\":[{\"comm\":\"sh\"},{\"comm\":\"a,\"},{\"comm\":\"sh\"},{\"comm\":\"a,\"},{\"comm\":\"\"},{\"comm\":\"s\"}";
	char *end = strchr(text, '\0');

	assert_int_equal(parse(text), -EBADMSG); /* cut off */
	assert_string_equal(m.left_comms, "sh, a,, s");
	for (unsigned int i = 0; i < 12; i++)
		end += sprintf(end, ",{\"comm\":\"name-%02u-of-15,\"}", i);
	strcpy(end, "]}}");
	assert_int_equal(parse(text), 0);
	assert_int_equal(strlen(m.left_comms), sizeof(m.left_comms) - 1);
	assert_int_equal(strncmp(m.left_comms, "sh, a,, s, name-00-of-15,, name-01-of-15,, ", 43), 0);
}

static void unknown_members_and_odd_kinds_are_passed_over(void **state)
{
	assert_int_equal(parse(" { \"x\" : { \"host\" : \"no\" } , \"y\" : [ [ ] , { } , 1e5 , null ] ,"
			       "\"host\":7,\"complete\":\"true\",\"schema\":-1,\"workload\":null,"
			       "\"probes\":{\"name\":\"a\"},\"probes[].name\":\"b\",\"kernel\":\"k\"}\n"),
			 0);
	assert_string_equal(m.host, "");
	assert_false(m.complete);
	assert_false(m.has_status);
	assert_int_equal(m.schema, 0);
	assert_int_equal(m.n_probes, 0);
	assert_string_equal(m.kernel, "k");
}

static void what_came_before_a_cut_is_kept(void **state)
{
	static const char text[] = "{\"host\":\"node1\",\"probes\":[{\"name\":\"bio\",\"lost\":12},"
				   "{\"name\":\"open\",\"lost\":34}],\"kernel\":\"6.1\\n\"}";

	assert_int_equal(parse(text), 0);
	for (size_t len = 0; len + 1 < sizeof(text) - 1; len++) {
		autofree char *cut = strndup(text, len);

		assert_int_equal(manifest_parse(&m, cut), -EBADMSG);
		if (len >= strlen("{\"host\":\"node1\""))
			assert_string_equal(m.host, "node1");
	}
	assert_int_equal(m.n_probes, 2);
	assert_int_equal(m.probes[1].lost, 34);
}

static void too_many_and_too_long_are_cut(void **state)
{
	static char text[64 * 1024];
	size_t len = (size_t)sprintf(text, "{\"probes\":[");

	for (int i = 0; i < MANIFEST_PROBES_MAX + 5; i++)
		len += (size_t)sprintf(text + len, "%s{\"name\":\"p%d\"}", i ? "," : "", i);
	len += (size_t)sprintf(text + len, "],\"cmdline\":[\"%0*d\",\"%0*d\"],\"host\":\"%0*d\"}", 3000, 1, 3000, 2,
			       3000, 3);
	assert_int_equal(manifest_parse(&m, text), 0);
	assert_int_equal(m.n_probes, MANIFEST_PROBES_MAX);
	assert_string_equal(m.probes[MANIFEST_PROBES_MAX - 1].name, "p63");
	assert_int_equal(strlen(m.cmdline), sizeof(m.cmdline) - 1);
	assert_int_equal(strlen(m.host), sizeof(m.host) - 1);
}

static void is_narrowed_to_a_window(void **state)
{
	static const char text[] =
		"{\"start\":{\"monotonic_ns\":1000000000,\"utc\":\"2026-11-22T00:00:00.000000000Z\"},"
		"\"end\":{\"monotonic_ns\":9000000000,\"utc\":\"2026-11-22T00:00:08.000000000Z\"}}";
	static const struct {
		struct window w;
		uint64_t start_ns, end_ns, cut_ns;
		const char *start, *end;
		int res;
	} cases[] = {
		{ { 0, 0 }, 1000000000, 9000000000, 0, "00.000000000Z", "08.000000000Z", 0 },
		{ { 2000000000, 3500000000 }, 2000000000, 3500000000, 2000000000, "01.000000000Z", "02.500000000Z", 0 },
		{ { 0, UINT64_MAX }, 1000000000, 9000000000, 1000000000, "00.000000000Z", "08.000000000Z", 0 },
		{ { 9000000000, UINT64_MAX },
		  9000000000,
		  9000000000,
		  9000000000,
		  "00.000000000Z",
		  "08.000000000Z",
		  -ERANGE },
		{ { 1, 1000000000 }, 1000000000, 1000000000, 1000000000, "00.000000000Z", "08.000000000Z", -ERANGE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(manifest_parse(&m, text), 0);
		assert_int_equal(manifest_narrow(&m, &cases[i].w), cases[i].res);
		assert_int_equal(m.start_ns, cases[i].start_ns);
		assert_int_equal(m.end_ns, cases[i].end_ns);
		assert_int_equal(m.cut_begin_ns, cases[i].cut_ns);
		assert_string_equal(m.start_utc + strlen("2026-11-22T00:00:"), cases[i].start);
		assert_string_equal(m.end_utc + strlen("2026-11-22T00:00:"), cases[i].end);
	}
}

static void deep_nesting_ends(void **state)
{
	autofree char *text = calloc(1, 100001);

	memset(text, '[', 100000);
	assert_int_equal(manifest_parse(&m, text), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deep_nesting_ends),
		cmocka_unit_test(escapes_are_decoded),
		cmocka_unit_test(is_narrowed_to_a_window),
		cmocka_unit_test(names_are_listed_once),
		cmocka_unit_test(none_in_the_folder),
		cmocka_unit_test(reads_a_manifest),
		cmocka_unit_test(too_many_and_too_long_are_cut),
		cmocka_unit_test(unknown_members_and_odd_kinds_are_passed_over),
		cmocka_unit_test(what_came_before_a_cut_is_kept),
		cmocka_unit_test(words_are_quoted_for_a_shell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
