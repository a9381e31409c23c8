/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/memory/allocs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../../tree.h"
#include "report/report.h"

#define HEAD \
	"# dltraced alloc 1\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tFUNC\tADDR\tSIZE\tOLD_ADDR\tOLD_SIZE\tLIFE_NS\tALLOC_TID\tSITE\tOLD_SITE\n"
#define MS "000000" /* of a number of ms, in ns */
#define AT(ms) "10000000" ms MS "\t2026-11-21T01:02:03." ms "000000Z\t"
#define SITES "# dltraced sites 1\nTIMESTAMP\tTIME\tFIRST_PID\tSITE\tKIND\tFRAMES\tBUILD_ID\n"
#define SITE_ROW "1000000001\t-\t10\t"
#define MANIFEST                                                                                                                   \
	"{\"tool\":\"dltraced\",\"schema\":1,\"complete\":true,\"alloc\":{\"min_bytes\":100,\"small_calls\":7,\"small_bytes\":80," \
	"\"uncovered_processes\":2},\"probes\":[]}"

static struct report *loaded(void)
{
	struct report *r = NULL;

	assert_int_equal(report_load(&r, tree, &(struct report_options){ .timed = true }), 0);
	return r;
}

static const struct report_alloc_row *row_of(const struct report_alloc_rows *rows, uint64_t id)
{
	for (unsigned int i = 0; i < rows->n; i++)
		if (rows->row[i].id == id && !rows->row[i].others)
			return &rows->row[i];
	fail_msg("no row of %llu", (unsigned long long)id);
	return NULL;
}

/* Two threads of process 10, one of process 20; the numbers are added up by hand. */
static const char *const example = HEAD AT("001") "10\t10\ta\tmalloc\t0x1000\t1000\t-\t-\t-\t-\t2\t-\n" AT(
	"002") "10\t11\ta\tmalloc\t0x2000\t3000\t-\t-\t-\t-\t3\t-\n" AT("004") "10\t11\ta\tfree\t0x1000\t1000\t-\t-\t3" MS
									       "\t10\t2\t-\n" /* short, by another
												 thread */
	AT("005") "20\t20\tb\tmalloc\t0x1000\t5000\t-\t-\t-\t-\t3\t-\n" AT(
		"030") "10\t10\ta\trealloc\t0x3000\t4000\t0x2000\t3000\t28" MS
		       "\t11\t2\t3\n" /* likewise, and the peak */
	AT("040") "10\t10\ta\trealloc\t0x3000\t-\t0x3000\t4000\t10" MS "\t10\t-\t2\n" /* below the threshold */
	AT("041") "10\t10\ta\tmalloc\t0\t999999999999\t-\t-\t-\t-\t2\t-\n" /* fails */
	AT("042") "10\t10\ta\tfree\t0x9000\t-\t-\t-\t-\t-\t-\t-\n" AT(
		"043") "20\t20\tb\tfree\t0x5000\t700\t-\t-\t50" MS "\t20\t3\t-\n" /* in use before the first row */
	AT("044") "20\t20\tb\trealloc\t0\t888888888888\t0x1000\t5000\t-\t-\t2\t3\n" /* fails: the block stays */
	AT("050") "20\t20\tb\tend\t0x1000\t5000\t-\t-\t45" MS "\t20\t3\t-\n";

static void sums_are_those_of_an_example(void **state)
{
	const struct report_alloc_row *site2, *site3;
	const struct report_alloc_counts *n;
	const struct report_allocs *a;
	struct report *r;

	tree_put("manifest.json", MANIFEST);
	tree_put("alloc.out", example);
	tree_put("sites.out", SITES SITE_ROW "1\tmodule\t/nowhere/lib\\040x.so\taa\n" SITE_ROW
					     "2\tnative\t1+0x11;-+0x7f\t-\n" SITE_ROW "3\tnative\t9+0x12\t-\n");
	r = loaded();
	a = r->allocs;
	n = &r->alloc.n;
	assert_true(r->alloc.present);
	assert_int_equal(n->peak_bytes, 5000 + 4000 + 700);
	assert_int_equal(n->peak_blocks, 3);
	assert_int_equal(r->alloc.peak_ns, 10000000030000000);
	assert_string_equal(r->alloc.peak_time, "2026-11-21T01:02:03.030000000Z");
	assert_int_equal(n->blocks, 4);
	assert_int_equal(n->bytes, 1000 + 3000 + 5000 + 4000);
	assert_int_equal(n->short_blocks, 1);
	assert_int_equal(n->short_bytes, 1000);
	assert_int_equal(n->frees, 4);
	assert_int_equal(n->cross_frees, 2);
	assert_int_equal(n->left_blocks, 1);
	assert_int_equal(n->left_bytes, 5000);
	assert_int_equal(n->failed, 2);
	assert_int_equal(n->unknown_frees, 1);
	assert_int_equal(n->small_calls, 7);
	assert_int_equal(r->alloc.min_bytes, 100);

	site2 = row_of(&a->by_site[ALLOCS_BY_PEAK], 2);
	site3 = row_of(&a->by_site[ALLOCS_BY_PEAK], 3);
	assert_ptr_equal(site3, &a->by_site[ALLOCS_BY_PEAK].row[0]); /* it has more */
	assert_int_equal(a->by_site[ALLOCS_BY_PEAK].n, 2);
	assert_int_equal(report_alloc_level(&site2->sum, site2->sum.level.at_peak), 4000);
	assert_int_equal(report_alloc_level(&site3->sum, site3->sum.level.at_peak), 5000 + 700);
	assert_int_equal(report_alloc_level(&site3->sum, site3->sum.level.peak), 3000 + 5000 + 700);
	assert_int_equal(site2->sum.short_bytes, 1000);
	assert_string_equal(site2->stack, "lib\\040x.so+0x11 < 0x7f");
	assert_string_equal(site3->stack, "0x12"); /* a module without a row */
	assert_int_equal(a->by_site[ALLOCS_BY_LEFT].n, 1);
	assert_int_equal(a->by_site[ALLOCS_BY_LEFT].row[0].id, 3);
	assert_int_equal(
		report_alloc_level(&row_of(&a->by_process, 10)->sum, row_of(&a->by_process, 10)->sum.level.peak), 4000);
	assert_int_equal(
		report_alloc_level(&row_of(&a->by_process, 20)->sum, row_of(&a->by_process, 20)->sum.level.peak), 5700);
	assert_int_equal(row_of(&a->by_process, 10)->sum.failed, 1);
	assert_non_null(strstr(r->notes[0], "alloc: 2 processes ran without the library"));
	report_free(r);
}

/* PyTorch's functions are as malloc and free; what libc gives to a process that ran before the trace has no free there.
 */
static void blocks_without_frees_are_in_no_sum(void **state)
{
	struct report *r;

	tree_put("manifest.json", MANIFEST);
	tree_put(
		"alloc.out",
		HEAD AT("001") "10\t10\ta\tc10::alloc_cpu\t0x1000\t1000\t-\t-\t-\t-\t-\t-\n" AT("002") "10\t10\ta\tlibc:posix_memalign\t0x2000\t7000\t-\t-\t-\t-\t-\t-\n" AT(
			"003") "10\t10\ta\tlibc:posix_memalign\t0x2000\t9000\t-\t-\t-\t-\t-\t-\n" AT("004") "10\t10\ta\tc10::free_cpu\t0x1000\t1000\t-\t-\t3" MS
													    "\t10\t-\t-\n");
	r = loaded();
	assert_int_equal(r->alloc.n.blocks, 1);
	assert_int_equal(r->alloc.n.frees, 1);
	assert_int_equal(r->alloc.n.peak_bytes, 1000);
	assert_int_equal(r->alloc.n.left_blocks, 0);
	assert_non_null(strstr(r->notes[1], "alloc: 2 blocks of libc are in no sum"));
	report_free(r);
}

static void stacks_of_python_are_lines(void **state)
{
	struct report *r;

	tree_put("manifest.json", MANIFEST);
	tree_put("alloc.out", HEAD AT("001") "10\t10\ta\tmalloc\t0x1000\t1000\t-\t-\t-\t-\t4\t-\n");
	tree_put("sites.out", SITES SITE_ROW "4\tpython\t/a/b/train.py:7:Net.forward;<string>:1:<module>\t-\n");
	r = loaded();
	assert_string_equal(r->allocs->by_site[ALLOCS_BY_PEAK].row[0].stack,
			    "train.py:7:Net.forward < <string>:1:<module>");
	report_free(r);
}

/* The level of a bin is the most in it; later ones have what was left. */
static void memory_in_use_is_a_series(void **state)
{
	struct report *r;
	int64_t most = 0;
	uint32_t last = 0;

	tree_put("manifest.json", MANIFEST);
	tree_put("alloc.out", example);
	r = loaded();
	for (uint32_t i = 0; i < TIMELINE_BINS; i++)
		if (r->timeline->in_use.any[i]) {
			most = MAX(most, r->timeline->in_use.max[i]);
			last = i;
		}
	assert_int_equal(most, 9000);
	assert_int_equal(r->timeline->in_use.last[last], -700);
	report_free(r);
}

/* The rows of the example by phases: what is in use at a begin counts as the least of its most. */
static void phases_have_their_own_allocations(void **state)
{
	static const struct {
		const char *from, *to;
		uint64_t most, last, blocks, bytes;
	} phases[] = {
		{ "000", "004", 4700, 4700, 2, 4000 }, { "004", "030", 8700, 8700, 1, 5000 },
		{ "030", "031", 9700, 9700, 1, 4000 }, { "031", "060", 9700, 0, 0, 0 },
		{ "060", "070", 0, 0, 0, 0 },
	};
	struct report *r;

	tree_put("manifest.json", MANIFEST);
	tree_put("alloc.out", example);
	r = loaded();
	for (size_t i = 0; i < ARRAY_SIZE(phases); i++) {
		const uint64_t base = 10000000000000000, ms = 1000000;
		struct report_alloc_span sum = { 0 };

		report_allocs_within(r->allocs, base + strtoull(phases[i].from, NULL, 10) * ms,
				     base + strtoull(phases[i].to, NULL, 10) * ms, &sum);
		assert_int_equal(report_alloc_level(&r->allocs->all, sum.most), phases[i].most);
		assert_int_equal(report_alloc_level(&r->allocs->all, sum.last), phases[i].last);
		assert_int_equal(sum.blocks, phases[i].blocks);
		assert_int_equal(sum.bytes, phases[i].bytes);
	}
	report_free(r);
}

/* Where there are more rows than room, spans have several, as many at the begin of the trace as at its end; none is
 * lost. */
static void spans_of_many_rows_add_up(void **state)
{
	const uint64_t rows = 20 * ALLOCS_SPANS_MAX + 1, tenth = rows / 10, few = 64; /* more than a span has */
	struct report_alloc_span sum = { 0 };
	autofree char *text = NULL;
	struct report *r;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fputs(HEAD, out);
	for (uint64_t i = 1; i <= rows; i++)
		fprintf(out, "%llu\t-\t1\t1\ta\tmalloc\t0x%llx\t10\t-\t-\t-\t-\t1\t-\n",
			(unsigned long long)(1000000000 + i), (unsigned long long)i * 16);
	fclose(out);
	tree_put("manifest.json", MANIFEST);
	tree_put("alloc.out", text);
	r = loaded();
	assert_true(r->allocs->n_spans <= ALLOCS_SPANS_MAX);
	report_allocs_within(r->allocs, 0, UINT64_MAX, &sum);
	assert_int_equal(sum.blocks, rows);
	assert_int_equal(sum.bytes, 10 * rows);
	assert_int_equal(sum.most, 10 * rows);
	for (uint64_t i = 0; i < 10; i++) {
		sum = (struct report_alloc_span){ 0 };
		report_allocs_within(r->allocs, 1000000000 + i * tenth, 1000000000 + (i + 1) * tenth, &sum);
		assert_in_range(sum.blocks, tenth - few, tenth + few);
		assert_in_range(sum.most, 10 * ((i + 1) * tenth - few), 10 * ((i + 1) * tenth + few));
	}
	report_free(r);
}

/* What has no row of its own is in the last one. */
static void others_are_one(void **state)
{
	autofree char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	const struct report_alloc_rows *rows;
	struct report *r;

	fputs(HEAD, out);
	for (unsigned int i = 1; i <= ALLOCS_SHOWN + 5; i++)
		fprintf(out, "10000000%03u" MS "\t-\t%u\t1\ta\tmalloc\t0x%x\t%u\t-\t-\t-\t-\t%u\t-\n", i, 100 + i,
			16 * i, i * 10, i);
	fclose(out);
	tree_put("manifest.json", MANIFEST);
	tree_put("alloc.out", text);
	r = loaded();
	rows = &r->allocs->by_site[ALLOCS_BY_PEAK];
	assert_int_equal(rows->n, ALLOCS_SHOWN + 1);
	assert_int_equal(rows->row[0].id, ALLOCS_SHOWN + 5);
	assert_true(rows->row[ALLOCS_SHOWN].others);
	assert_int_equal(rows->row[ALLOCS_SHOWN].sum.bytes, 10 + 20 + 30 + 40 + 50);
	assert_int_equal(report_alloc_level(&rows->row[ALLOCS_SHOWN].sum, rows->row[ALLOCS_SHOWN].sum.level.at_peak),
			 150);
	assert_null(rows->row[0].stack); /* there is no sites.out */
	assert_int_equal(r->allocs->by_process.n, ALLOCS_SHOWN + 1);
	assert_int_equal(r->allocs->by_site[ALLOCS_BY_LEFT].n, 0);
	report_free(r);
}

static void damaged_rows_are_left_out(void **state)
{
	struct report *r;

	tree_put("manifest.json", MANIFEST);
	tree_put(
		"alloc.out",
		HEAD AT("001") "10\t10\ta\tmalloc\t0x1000\t18446744073709551615\t-\t-\t-\t-\t2\t-\n" AT("002") "-\t10\ta\tmalloc\t0x1000\t10\t-\t-\t-\t-\t2\t-\n" AT(
			"003") "10\t10\ta\tfree\t0x1000\t10\t-\t-\t99999999999999999\t10\t2\t-\n" AT("004") "10\t10\ta\tmalloc\t0x1000\t10\t-\t-\t-\t-\t18446744073709551615\t-\n");
	r = loaded();
	assert_int_equal(r->alloc.n.bytes, 10);
	assert_int_equal(r->alloc.n.frees, 0);
	assert_string_equal(r->notes[0], "alloc.out: 3 rows could not be read and are left out");
	report_free(r);
}

static void without_the_file_there_is_nothing(void **state)
{
	struct report *r;

	tree_put("manifest.json", MANIFEST);
	r = loaded();
	assert_false(r->alloc.present);
	assert_int_equal(r->allocs->by_process.n, 0);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(sums_are_those_of_an_example),
		IN_TREE(blocks_without_frees_are_in_no_sum),
		IN_TREE(stacks_of_python_are_lines),
		IN_TREE(memory_in_use_is_a_series),
		IN_TREE(phases_have_their_own_allocations),
		IN_TREE(spans_of_many_rows_add_up),
		IN_TREE(others_are_one),
		IN_TREE(damaged_rows_are_left_out),
		IN_TREE(without_the_file_there_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
