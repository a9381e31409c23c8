/* SPDX-License-Identifier: BSD-2-Clause */
/* report/show/timeline/timeline_json.c: a report's timeline at times of which rows are missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/util.h"
#include "report/phases/phases.h"
#include "report/report.h"
#include "report/scan/model.h"
#include "report/show/timeline/timeline_json.h"

#define BIN TIMELINE_FIRST_BIN_NS
#define BEGIN 1000000000ULL

static struct report r;

static int set_up(void **state)
{
	r = (struct report){ .dir = "t", .timeline = timeline_new(BEGIN) };
	r.present[REPORT_VFS_RW] = r.present[REPORT_OPEN] = true;
	/* eight bins: reads in the first two and the last two, an open in the last */
	for (unsigned int bin = 0; bin < 8; bin++)
		if (bin < 2 || bin > 5)
			timeline_add(r.timeline, TIMELINE_READ_BYTES, BEGIN + bin * BIN, 7);
	timeline_add(r.timeline, TIMELINE_OPENS, BEGIN + 8 * BIN - 1, 1);
	return r.timeline ? 0 : -1;
}

static int tear_down(void **state)
{
	timeline_free(r.timeline);
	gaps_free(&r.gaps);
	return 0;
}

/* Expects the values of PANEL's series NAME, a letter each: 0, null (n) or more (x). */
static void expect(const char *panel, const char *name, const char *wanted)
{
	autofree char *of_panel = util_fmt("\"panel\": \"%s\"", panel), *of_name = util_fmt("\"name\": \"%s\"", name);
	struct json j = { 0 };
	char got[64] = "";
	const char *p;
	size_t n = 0;

	json_object(&j, NULL);
	report_timeline_json(&r, &j);
	json_end(&j);
	assert_int_equal(j.error, 0);
	p = strstr(j.buf, of_panel);
	assert_non_null(p);
	p = strstr(p, of_name);
	assert_non_null(p);
	p = strchr(p, '[');
	while (p && *p != ']' && n < sizeof(got) - 1) {
		p += strspn(p, "[, \n\t");
		got[n++] = *p == 'n' ? 'n' : strtod(p, NULL) > 0 ? 'x' : '0';
		p += strcspn(p, ",]");
	}
	json_free(&j);
	assert_string_equal(got, wanted);
}

static void without_a_gap_no_row_is_zero(void **state)
{
	expect("vfs", "read", "xx0000xx");
	expect("vfs", "write", "00000000");
	expect("calls", "open", "0000000x");
}

static void dropped_time_is_unknown_and_not_zero(void **state)
{
	gaps_add(&r.gaps, GAP_LOST, "vfs_rw", BEGIN + BIN + 5, BEGIN + 6 * BIN + 5, "vfs_rw: rows are missing");
	expect("vfs", "read", "xxnnnnxx");
	expect("vfs", "write", "0nnnnnn0");
	expect("calls", "open", "0000000x");
}

/* The files of lost rows are not known. */
static void lost_rows_may_be_of_any_file(void **state)
{
	gaps_add(&r.gaps, GAP_LOST, NULL, BEGIN + 3 * BIN, BEGIN + 3 * BIN + 5, "rows are missing");
	gaps_add(&r.gaps, GAP_LOST, NULL, 0, 0, "nobody knows when");
	expect("vfs", "read", "xx0n00xx");
	expect("calls", "open", "000n000x");
}

/* While dltraced was stopped, the machine may have read something; a bin with rows has all of them. */
static void while_dltraced_did_not_run_what_is_empty_is_unknown(void **state)
{
	gaps_add(&r.gaps, GAP_STALLED, NULL, BEGIN + 5, BEGIN + 4 * BIN, "dltraced did not run");
	gaps_add(&r.gaps, GAP_STALLED, NULL, BEGIN + 10, BEGIN + 20 * BIN, "dltraced did not run");
	gaps_add(&r.gaps, GAP_STEP, NULL, BEGIN, BEGIN + 8 * BIN, "the clock of TIME was set");
	expect("vfs", "read", "xxnnnnxx");
	expect("vfs", "write", "00nnnn00");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* --- regions ---------------------------------------------------------------------------------------------------- */

/* N steps of 2 us from BEGIN + FROM on, half of each a fetch; from the 100th on, 10 us apart. */
static char *with_steps(uint64_t from_ns, unsigned int n)
{
	struct json j = { 0 };
	const char *regions;
	char *text;

	table_init(&r.procs, sizeof(struct report_proc), 16);
	r.phases = phases_new();
	assert_non_null(r.phases);
	for (unsigned int i = 0; i < n; i++) {
		uint64_t at = BEGIN + from_ns + 2000 * i + (i >= 100 ? 10000 * (i - 99) : 0);

		phase_steps_take(&r.phases->steps, &(struct step_region){ .cat = "dataloader",
									  .cat_len = 10,
									  .name = "fetch",
									  .name_len = 5,
									  .pid = 7,
									  .tid = 7,
									  .begin_ns = at,
									  .end_ns = at + 1000,
									  .epoch = 0,
									  .number = i });
		phase_steps_take(&r.phases->steps, &(struct step_region){ .cat = "compute",
									  .cat_len = 7,
									  .name = "step",
									  .name_len = 4,
									  .pid = 7,
									  .tid = 7,
									  .begin_ns = at + 1000,
									  .end_ns = at + 2000,
									  .epoch = 0,
									  .number = i });
	}
	phase_steps_end(&r.phases->steps);
	json_object(&j, NULL);
	report_timeline_json(&r, &j);
	json_end(&j);
	assert_int_equal(j.error, 0);
	regions = memmem(j.buf, j.len, "\"regions\"", strlen("\"regions\""));
	assert_non_null(regions);
	text = strndup(regions, j.len - (size_t)(regions - j.buf));
	json_free(&j);
	phases_free(r.phases);
	table_free(&r.procs);
	r.phases = NULL;
	return text;
}

static bool has(const char *text, const char *wanted)
{
	return strstr(text, wanted) || (print_message("no %s in %.300s\n", wanted, text), false);
}

static void regions_are_each_from_begin_to_end(void **state)
{
	autofree char *text = with_steps(500, 3);

	assert_true(has(text, "\"fetch\": [[500,1000],[2500,1000],[4500,1000]]"));
	assert_true(has(text, "\"compute\": [[1500,1000],[3500,1000],[5500,1000]]"));
	assert_true(has(text, "\"comm\": []"));
	assert_true(has(text, "\"closed_ns\": 0"));
}

/* 2100 fetches are too many: the first hundred, 1 us apart, become one. */
static void short_gaps_between_regions_are_closed(void **state)
{
	autofree char *text = with_steps(0, 2100);

	assert_true(has(text, "\"fetch\": [[0,199000],[210000,1000],[222000,1000],"));
	assert_true(has(text, "\"closed_ns\": 1024"));
}

static void steps_have_their_times(void **state)
{
	autofree char *text = with_steps(500, 3);

	assert_true(has(text, "\"steps\": [[500,2000,2000],[2500,2000,2000],[4500,2000,2000]]"));
	assert_true(has(text, "\"steps_joined\": 1"));
}

/* With more than 2048 steps, each pair becomes one of both lengths, with the time of the longer. */
static void many_steps_are_shown_with_their_longest_time(void **state)
{
	autofree char *text = with_steps(0, 2100);
	unsigned int pairs = 0;

	assert_true(has(text, "\"steps\": [[0,4000,2000],[4000,4000,2000],"));
	assert_true(has(text, "[196000,4000,2000],[200000,24000,12000],"));
	assert_true(has(text, "\"steps_joined\": 2"));
	for (const char *at = strstr(text, "\"steps\": ["); (at = strstr(at + 1, ",24000,12000]")); pairs++)
		;
	assert_int_equal(pairs, (2100 - 100) / 2);
}

/* --- single calls ------------------------------------------------------------------------------------------------ */

/* Adds N reads that end in BIN, 1 us apart, each 100 ns longer than the one before. */
static void reads(uint32_t bin, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		const uint64_t at_ns = BEGIN + bin * BIN + 100000 + 1000 * i;

		timeline_transfer(r.timeline, false, timeline_bin(r.timeline, at_ns), 1, 200 + 100 * i);
		timeline_event(r.timeline, TIMELINE_H_READ, timeline_bin(r.timeline, at_ns), at_ns, 200 + 100 * i, 7);
	}
}

static char *events(void)
{
	struct json j = { 0 };
	const char *from, *to;
	char *text;

	table_init(&r.procs, sizeof(struct report_proc), 16);
	json_object(&j, NULL);
	report_timeline_json(&r, &j);
	json_end(&j);
	assert_int_equal(j.error, 0);
	from = memmem(j.buf, j.len, "\"events\"", strlen("\"events\""));
	assert_non_null(from);
	to = strstr(from, "\"memory\"");
	assert_non_null(to);
	text = strndup(from, (size_t)(to - from));
	json_free(&j);
	table_free(&r.procs);
	return text;
}

static void few_calls_are_all_there(void **state)
{
	autofree char *text = NULL;

	reads(3, 2);
	text = events();
	assert_true(has(text, "\"name\": \"read\""));
	assert_true(has(text, "\"each\": 16"));
	assert_true(has(text, "\"rows\": [[3100700,300,7],[3099800,200,7]]"));
	assert_null(strstr(text, "write"));
}

/* 2048 bins of 16 are more than a page holds: 11 of each, which are the longest. */
static void of_many_calls_the_longest_of_each_bin_are_there(void **state)
{
	autofree char *text = NULL;
	unsigned int n = 0;

	for (uint32_t bin = 0; bin < TIMELINE_BINS; bin++)
		reads(bin, 20);
	text = events();
	assert_true(has(text, "\"each\": 11"));
	assert_true(has(text, ",2100,7]"));
	assert_true(has(text, ",1100,7]"));
	assert_null(strstr(text, ",1000,7]"));
	for (const char *at = text; (at = strstr(at, ",7]")); at++)
		n++;
	assert_int_equal(n, 11 * TIMELINE_BINS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_a_gap_no_row_is_zero),
		TEST(dropped_time_is_unknown_and_not_zero),
		TEST(lost_rows_may_be_of_any_file),
		TEST(while_dltraced_did_not_run_what_is_empty_is_unknown),
		TEST(regions_are_each_from_begin_to_end),
		TEST(short_gaps_between_regions_are_closed),
		TEST(steps_have_their_times),
		TEST(many_steps_are_shown_with_their_longest_time),
		TEST(few_calls_are_all_there),
		TEST(of_many_calls_the_longest_of_each_bin_are_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
