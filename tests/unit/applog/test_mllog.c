/* SPDX-License-Identifier: BSD-2-Clause */
#include "applog/mllog.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"

#define START                                                                                             \
	":::MLLOG {\"namespace\": \"\", \"time_ms\": 1700000000123, \"event_type\": \"INTERVAL_START\", " \
	"\"key\": \"epoch_start\", \"value\": null, \"metadata\": {\"epoch_num\": 3}}"

/* The line ends where its memory does, so that ASan notices a read beyond it. */
static bool parse(struct mllog *m, const char *line, size_t len)
{
	autofree char *copy = malloc(len ? len : 1);

	memcpy(copy, line, len);
	return mllog_parse(m, copy, len);
}

static void lines_say_phase_event_and_time(void **state)
{
	static const struct {
		const char *line, *phase;
		enum mllog_event event;
		uint64_t time_ms;
	} cases[] = {
		{ START, "epoch", MLLOG_START, 1700000000123 },
		{ ":::MLLOG {\"event_type\":\"INTERVAL_END\",\"key\":\"run_stop\",\"time_ms\":5}", "run", MLLOG_END,
		  5 },
		{ ":::MLLOG { \"key\" : \"eval_end\" , \"event_type\" : \"INTERVAL_END\" }", "eval", MLLOG_END, 0 },
		{ ":::MLLOG {\"key\": \"seed\", \"event_type\": \"POINT_IN_TIME\", \"value\": 7}", "seed", MLLOG_POINT,
		  0 },
		{ ":::MLLOG {\"value\": {\"key\": \"x_start\", \"a\": [1, \"}\"]}, \"key\": \"init_start\","
		  "\"event_type\": \"INTERVAL_START\"}",
		  "init", MLLOG_START, 0 },
		{ ":::MLLOG {\"value\": \"say \\\"}\", \"key\": \"_start\", \"event_type\": \"INTERVAL_START\"} and more",
		  "_start", MLLOG_START, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct mllog m;

		assert_true(parse(&m, cases[i].line, strlen(cases[i].line)));
		assert_string_equal(m.phase, cases[i].phase);
		assert_int_equal(m.event, cases[i].event);
		assert_int_equal(m.time_ms, cases[i].time_ms);
		assert_int_equal(m.rank, -1);
	}
}

static void ranks_stand_before_the_line(void **state)
{
	static const struct {
		const char *prefix;
		int64_t rank;
	} cases[] = {
		{ "", -1 },
		{ "0: ", 0 },
		{ "12:", 12 },
		{ "[3] ", 3 },
		{ "[1,7]<stdout>:", 7 },
		{ "rank 2: ", 2 },
		{ "[rank5]: ", 5 },
		{ "2026-11-22 01:02:03 INFO ", -1 },
		{ "trainer-1 | ", -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		autofree char *line = util_fmt("%s" START, cases[i].prefix);
		struct mllog m;

		assert_true(parse(&m, line, strlen(line)));
		assert_int_equal(m.rank, cases[i].rank);
		assert_string_equal(m.phase, "epoch");
	}
}

/* A line cut off anywhere does not count; nor does one that only looks like it. */
static void what_is_not_whole_is_no_line(void **state)
{
	static const char *const none[] = {
		"",
		"loss 0.1",
		":::MLLOG",
		":::MLLOG {}",
		":::MLLOG []",
		":::MLLOG {\"key\"}",
		":::MLLOG {\"key\": \"}",
		":::MLLOG {\"key\": \"a_start\"",
		":::MLLOG {key: 1}",
		":::MLLOG {\"a\\",
		":::MLLOG {\"event_type\": 1}",
	};
	struct mllog m;

	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		assert_false(parse(&m, none[i], strlen(none[i])));
	for (size_t len = 0; len < strlen(START); len++)
		assert_false(parse(&m, START, len));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_say_phase_event_and_time),
		cmocka_unit_test(ranks_stand_before_the_line),
		cmocka_unit_test(what_is_not_whole_is_no_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
