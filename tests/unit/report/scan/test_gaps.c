/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/scan/gaps.h"

#include <stddef.h>
#include <stdlib.h>

#include "report/report.h"
#include "report/scan/model.h"
#include "tree.h"

#define S NSEC_PER_SEC

static void clocks_show_sleep_and_standstill(void **state)
{
	static const struct {
		struct gap_clocks before, now;
		struct gap_between want;
	} cases[] = {
		{ { 0 }, { 10 * S, 100 * S, 10 * S }, { GAP_NONE, 0, 0 } }, /* the first reading */
		{ { 10 * S, 100 * S, 10 * S }, { 11 * S, 101 * S, 11 * S }, { GAP_NONE, 0, 0 } },
		{ { 10 * S, 100 * S, 10 * S }, { 11 * S, 106 * S, 16 * S }, { GAP_SUSPEND, 5 * S, 0 } },
		{ { 10 * S, 100 * S, 10 * S }, { 14 * S, 104 * S, 14 * S }, { GAP_STALLED, 4 * S, 0 } },
		{ { 10 * S, 100 * S, 10 * S }, { 11 * S, 98 * S, 11 * S }, { GAP_NONE, 0, -3 * (int64_t)S } },
		{ { 10 * S, 100 * S, 10 * S }, { 11 * S, 104 * S, 16 * S }, { GAP_SUSPEND, 5 * S, -2 * (int64_t)S } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct gap_between b = gaps_between(&cases[i].before, &cases[i].now);

		assert_int_equal(b.kind, cases[i].want.kind);
		assert_int_equal(b.ns, cases[i].want.ns);
		assert_int_equal(b.step_ns, cases[i].want.step_ns);
	}
}

static void they_are_in_order_and_bounded(void **state)
{
	struct gaps g = { 0 };

	for (uint64_t i = 0; i < GAPS_MAX + 7; i++)
		gaps_add(&g, GAP_LOST, NULL, 100000 - i, 100000 + i, "%0200d", 1);
	assert_int_equal(g.n, GAPS_MAX);
	assert_int_equal(g.more, 7);
	gaps_sort(&g);
	for (uint32_t i = 1; i < g.n; i++)
		assert_true(g.v[i - 1].begin_ns <= g.v[i].begin_ns);
	assert_int_equal(strlen(g.v[0].what), GAP_WHAT_MAX - 1);
	gaps_free(&g);
	assert_int_equal(g.n, 0);
}

#define MANIFEST                                                                                 \
	"{\"tool\": \"dltraced\", \"schema\": 1, \"start\": {\"monotonic_ns\": 1000000000000}, " \
	"\"probes\": [{\"name\": \"vfs_rw\", \"rows\": 9, \"dropped\": 6}]}"
#define RW                                                                                                                           \
	"# dltraced vfs_rw 1 segment=%u\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tRW\tFUNC\tLAT_NS\tREQUESTED\tRETURNED\tOFFSET\tDISK_BYTES" \
	"\tFD\tFLAGS\tFID\tFILE\n"
#define RW_ROW "%d000000000\t-\t1\t1\tx\tR\tread\t1\t1\t1\t0\t0\t3\t-\t-\t-\n"

/* A row at each of these seconds; below 0: a line that is not a row. */
#define AT(...)                \
	(const int[])          \
	{                      \
		__VA_ARGS__, 0 \
	}

static void put_segment(const char *name, unsigned int nr, const int *at_s)
{
	autofree char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fprintf(out, RW, nr);
	for (; *at_s; at_s++)
		fprintf(out, RW_ROW, *at_s);
	fclose(out);
	tree_put(name, text);
}

/* A set clock; segments 2 and 3 are missing; the rows that --keep dropped are those from the begin on. */
static void a_report_has_them(void **state)
{
	struct report *r;

	tree_put("manifest.json", MANIFEST);
	tree_put("time_align.out",
		 "# dltraced time_align 1\nTIMESTAMP\tTIME\tREALTIME_NS\tBOOTTIME_NS\tERROR_NS\tEVENT\n"
		 "1000000000000\t-\t1795334400000000000\t1000000000000\t1\tstart\n"
		 "1001000000000\t-\t1795334403500000000\t1001000000000\t1\tstep\n");
	put_segment("vfs_rw.000001.out", 1, AT(1002));
	put_segment("vfs_rw.000004.out", 4, AT(1005));
	put_segment("vfs_rw.out", 5, AT(1006));
	assert_int_equal(report_load(&r, tree, &(struct report_options){ .timed = true }), 0);
	assert_int_equal(r->gaps.n, 3);
	assert_string_equal(r->gaps.v[0].what, "vfs_rw: rows were dropped by --keep");
	assert_int_equal(r->gaps.v[0].begin_ns, 1000 * S);
	assert_int_equal(r->gaps.v[0].end_ns, 1002 * S);
	assert_string_equal(r->gaps.v[1].what, "the clock of TIME was set by +2.500000 s");
	assert_int_equal(r->gaps.v[1].begin_ns, 1001 * S);
	assert_string_equal(r->gaps.v[2].what, "vfs_rw: rows are missing");
	assert_int_equal(r->gaps.v[2].begin_ns, 1002 * S);
	assert_int_equal(r->gaps.v[2].end_ns, 1005 * S);
	report_free(r);
}

/* Rows in their segments may be in order of time or not. */
static void a_gap_is_from_the_last_row_before_to_the_first_behind(void **state)
{
	struct report *r;

	tree_put("manifest.json", MANIFEST);
	put_segment("vfs_rw.000001.out", 1, AT(-1, 1003, 1002, 1006, 1005, -1));
	put_segment("vfs_rw.000003.out", 3, AT(-1, 1009, 1008, 1012, 1011, -1));
	put_segment("vfs_rw.out", 4, AT(1001, 1004));
	assert_int_equal(report_load(&r, tree, &(struct report_options){ .timed = true }), 0);
	assert_int_equal(r->gaps.n, 2);
	assert_string_equal(r->gaps.v[0].what, "vfs_rw: rows were dropped by --keep");
	assert_int_equal(r->gaps.v[0].end_ns, 1003 * S);
	assert_string_equal(r->gaps.v[1].what, "vfs_rw: rows are missing");
	assert_int_equal(r->gaps.v[1].begin_ns, 1005 * S);
	assert_int_equal(r->gaps.v[1].end_ns, 1009 * S);
	/* the trace itself lasts from the earliest to the latest row */
	assert_int_equal(r->first_ns, 1001 * S);
	assert_int_equal(r->last_ns, 1012 * S);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clocks_show_sleep_and_standstill),
		cmocka_unit_test(they_are_in_order_and_bounded),
		IN_TREE(a_gap_is_from_the_last_row_before_to_the_first_behind),
		IN_TREE(a_report_has_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
