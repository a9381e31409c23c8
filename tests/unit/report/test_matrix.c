/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/matrix.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"
#include "report/show/svg/matrix.h"

#define HEAD                                                                                                                 \
	"ORDER\tPROGRAM\tMODE\tREP\tDRY\tMEM\tCPU\tSTATUS\tLOST\tWALL_NS\tUSER_NS\tSYSTEM_NS\tMAX_RSS_BYTES\tMINOR_FAULTS\t" \
	"MAJOR_FAULTS\tVOLUNTARY_SWITCHES\tINVOLUNTARY_SWITCHES\tSEED\tCOMMAND\n"

static struct matrix m;

static int parse(const char *text)
{
	char *copy = strdup(text);

	assert_non_null(copy);
	return matrix_parse(&m, copy);
}

/* Appends a row whose wall time is WALL, in a mode on the CPUs of node CPU. */
static void add(char **text, const char *program, const char *mode, unsigned int rep, const char *cpu, int status,
		uint64_t wall)
{
	char *more = util_fmt("%s1\t%s\t%s\t%u\t%s\t-\t%s\t%d\t0\t%llu\t5\t0\t4096\t1\t0\t2\t3\t9\tcmd %s\n",
			      *text ? *text : HEAD, program, mode, rep, strstr(mode, "dry") ? "yes" : "no", cpu, status,
			      (unsigned long long)wall, program);

	assert_non_null(more);
	free(*text);
	*text = more;
}

static const struct matrix_mode *mode_of(const char *program, const char *mode)
{
	for (uint32_t i = 0; i < m.n_modes; i++)
		if (!strcmp(m.mode[i].program, program) && !strcmp(m.mode[i].mode, mode))
			return &m.mode[i];
	fail_msg("no mode %s.%s", program, mode);
	return NULL;
}

static const struct matrix_sum *wall_of(const char *program, const char *mode)
{
	return &mode_of(program, mode)->sum[USAGE_WALL_NS];
}

static void is_near(double v, double wanted)
{
	assert_true(fabs(v - wanted) < 1e-9);
}

static void is_overhead(const struct matrix_sum *s, unsigned int pairs, double overhead, double low, double high,
			double confidence)
{
	assert_int_equal(s->pairs, pairs);
	is_near(s->overhead, overhead);
	is_near(s->low, low);
	is_near(s->high, high);
	is_near(s->confidence, confidence);
}

static void sums_are_of_the_runs_that_count(void **state)
{
	autofree char *text = NULL;
	static const uint64_t wall[] = { 40, 10, 30, 20 };
	const struct matrix_mode *dry;

	for (unsigned int i = 0; i < 4; i++)
		add(&text, "p", "dry", i + 1, "-", 0, wall[i]);
	add(&text, "p", "dry", 5, "-", 1, 1000);
	add(&text, "p", "once", 1, "-", 0, 7);
	add(&text, "p", "fails", 1, "-", 9, 7);
	assert_int_equal(parse(text), 0);
	assert_int_equal(m.n_runs, 7);
	assert_int_equal(m.left_out, 2);
	dry = mode_of("p", "dry");
	assert_int_equal(dry->runs, 5);
	assert_int_equal(dry->counted, 4);
	assert_int_equal(dry->sum[USAGE_WALL_NS].median, 25);
	assert_int_equal(dry->sum[USAGE_WALL_NS].min, 10);
	assert_int_equal(dry->sum[USAGE_WALL_NS].max, 40);
	assert_int_equal(dry->sum[USAGE_WALL_NS].mean, 25);
	assert_int_equal(dry->sum[USAGE_WALL_NS].stdev, 13); /* sqrt(500 / 3) */
	assert_int_equal(dry->sum[USAGE_WALL_NS].pairs, 0);
	assert_int_equal(mode_of("p", "once")->counted, 1);
	assert_int_equal(mode_of("p", "once")->many, 0);
	assert_int_equal(wall_of("p", "once")->median, 7);
	assert_int_equal(mode_of("p", "fails")->counted, 0);
	matrix_free(&m);
}

/* Dry runs that differ by more than tracing costs: medians of both sides would not show it, pairs do. */
static void overhead_is_by_pairs(void **state)
{
	autofree char *text = NULL;

	for (unsigned int rep = 1; rep <= 3; rep++) {
		add(&text, "p", "dry", rep, "-", 0, 1000 * rep);
		add(&text, "p", "all", rep, "-", 0, 1000 * rep + 100 * rep * rep); /* +10, +20, +30 % */
	}
	add(&text, "p", "all", 4, "-", 0, 5000); /* without a pair */
	add(&text, "p", "dry", 5, "-", 2, 5000); /* one that does not count */
	add(&text, "p", "all", 5, "-", 0, 5000);
	add(&text, "other", "all", 1, "-", 0, 5000);
	assert_int_equal(parse(text), 0);
	is_overhead(wall_of("p", "all"), 3, 0.2, 0.1, 0.3, 0.75);
	assert_int_equal(wall_of("other", "all")->pairs, 0);
	/* what was 0 in the dry run has no ratio */
	assert_int_equal(mode_of("p", "all")->sum[USAGE_SYSTEM_NS].pairs, 0);
	matrix_free(&m);
}

/* By the table of the sign test: of 9 the second and the eighth, of 20 the sixth and the fifteenth. */
static void the_interval_holds_95_percent(void **state)
{
	static const struct {
		unsigned int n, out;
		double confidence;
	} known[] = {
		{ 1, 0, 0 },         { 2, 0, 0.5 },       { 5, 0, 0.9375 },          { 6, 0, 0.96875 },
		{ 8, 0, 0.9921875 }, { 9, 1, 0.9609375 }, { 20, 5, 0.958610534668 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		autofree char *text = NULL;
		const unsigned int n = known[i].n;

		for (unsigned int rep = 1; rep <= n; rep++) {
			add(&text, "p", "dry", rep, "-", 0, 100);
			add(&text, "p", "all", rep, "-", 0, 100 + n + 1 - rep);
		}
		assert_int_equal(parse(text), 0);
		is_overhead(wall_of("p", "all"), n, (n + 1) / 200.0, (known[i].out + 1) / 100.0,
			    (n - known[i].out) / 100.0, known[i].confidence);
		matrix_free(&m);
	}
}

static void a_mode_is_compared_on_its_own_nodes(void **state)
{
	autofree char *text = NULL;

	add(&text, "p", "dry0", 1, "0", 0, 100);
	add(&text, "p", "dry1", 1, "1", 0, 200);
	add(&text, "p", "a_dry1", 1, "1", 0, 400); /* of two the first by name */
	add(&text, "p", "near", 1, "0", 0, 110);
	add(&text, "p", "far", 1, "1", 0, 200);
	add(&text, "p", "any", 1, "-", 0, 500);
	assert_int_equal(parse(text), 0);
	is_near(wall_of("p", "near")->overhead, 0.1);
	is_near(wall_of("p", "far")->overhead, -0.5);
	assert_int_equal(wall_of("p", "any")->pairs, 0);
	matrix_free(&m);
}

static void a_run_without_numbers_does_not_count(void **state)
{
	assert_int_equal(parse(HEAD "1\tp\tdry\t1\tyes\t-\t-\t0\t-\t-\t-\t-\t-\t-\t-\t-\t-\t9\tx\n"
				    "2\tp\tdry\t2\tyes\t-\t-\t0\t4\t1\t1\t1\t1\t1\t1\t1\t1\t9\tx\n"),
			 0);
	assert_int_equal(m.left_out, 2);
	assert_false(m.run[0].has[USAGE_WALL_NS]);
	assert_ptr_equal(matrix_find(&m, "p.dry.2"), &m.run[1]);
	assert_null(matrix_find(&m, "p.dry"));
	matrix_free(&m);
}

static void what_is_no_matrix_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"\n",
		"ORDER\tPROGRAM\n",
		HEAD "1\tp\n",
		HEAD "\n",
		HEAD "x\tp\tdry\t1\tyes\t-\t-\t0\t0\t1\t1\t1\t1\t1\t1\t1\t1\t9\tx\n",
		HEAD "1\tp\tdry\t1\tmaybe\t-\t-\t0\t0\t1\t1\t1\t1\t1\t1\t1\t1\t9\tx\n",
		HEAD "1\tp\tdry\t1\tyes\t-\t-\t0\t0\t-1\t1\t1\t1\t1\t1\t1\t1\t9\tx\n",
		HEAD "1\tp\tdry\t1\tyes\t-\t-\t0\t0\t99999999999999999999\t1\t1\t1\t1\t1\t1\t1\t9\tx\n",
		HEAD "1\tp\tdry\t1\tyes\t-\t-\t0\t0\t9223372036854775808\t1\t1\t1\t1\t1\t1\t1\t9\tx\n",
		HEAD "1\tp\tdry\t1\tyes\t-\t-\t0\t0\t1\t1\t1\t1\t1\t1\t1\t1\t9\tx\tmore\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(parse(bad[i]), -EBADMSG);
	/* no run yet; a row that is not whole */
	assert_int_equal(parse(HEAD), 0);
	assert_int_equal(m.n_runs, 0);
	matrix_free(&m);
	assert_int_equal(parse(HEAD "1\tp\tdry\t1\tyes\t-\t-\t0\t0\t1"), 0);
	assert_int_equal(m.n_runs, 0);
	matrix_free(&m);
}

static void names_cannot_add_to_the_picture(void **state)
{
	autofree char *text = NULL;
	char *svg = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&svg, &len);

	add(&text, "<script>&\"\033", "</text>", 1, "-", 0, 100);
	assert_int_equal(parse(text), 0);
	matrix_svg(&m, out);
	fclose(out);
	assert_null(strstr(svg, "<script"));
	assert_non_null(strstr(svg, "&lt;script>&amp;"));
	assert_null(strchr(svg, '\033'));
	assert_non_null(strstr(svg, ">&lt;/text></text>"));
	free(svg);
	matrix_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_of_the_runs_that_count),
		cmocka_unit_test(overhead_is_by_pairs),
		cmocka_unit_test(the_interval_holds_95_percent),
		cmocka_unit_test(a_mode_is_compared_on_its_own_nodes),
		cmocka_unit_test(a_run_without_numbers_does_not_count),
		cmocka_unit_test(what_is_no_matrix_is_refused),
		cmocka_unit_test(names_cannot_add_to_the_picture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
