/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums of regions by name, compared with a clock that knows which regions there are at each instant. */
#include "report/phases/region_sums.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"

static struct region_sums sums;

static int make(void **state)
{
	memset(&sums, 0, sizeof(sums));
	region_sums_init(&sums);
	return 0;
}

static int drop(void **state)
{
	region_sums_free(&sums);
	return 0;
}

static void ends(uint64_t tid, const char *cat, const char *name, uint64_t begin, uint64_t end, int64_t bytes)
{
	region_sums_take(&sums, &(struct step_region){ .cat = cat,
						       .cat_len = (uint32_t)strlen(cat),
						       .name = name,
						       .name_len = (uint32_t)strlen(name),
						       .pid = tid / 10,
						       .tid = tid,
						       .begin_ns = begin,
						       .end_ns = end,
						       .epoch = -1,
						       .number = -1,
						       .bytes = bytes });
}

static const struct region_sum *sum_of(const char *cat, const char *name)
{
	for (uint32_t i = 0; i < sums.n; i++)
		if (!strcmp(sums.v[i].cat, cat) && !strcmp(sums.v[i].name, name))
			return &sums.v[i];
	fail_msg("no %s.%s", cat, name);
	return NULL;
}

static void a_region_s_own_time_is_without_those_within_it(void **state)
{
	const struct region_sum *sum;

	ends(70, "reader", "open", 110, 120, -1);
	ends(71, "reader", "open", 112, 118, -1); /* another thread's */
	ends(80, "reader", "open", 300, 301, -1); /* another process's */
	ends(70, "reader", "read", 105, 130, 4096);
	ends(70, "reader", "read", 135, 150, 0);
	ends(70, "app", "batch", 100, 160, -1);
	ends(70, "app", "main", 90, 400, -1);
	region_sums_end(&sums);
	assert_int_equal(sums.n, 4);
	sum = sum_of("reader", "open");
	assert_int_equal(sum->n, 3);
	assert_int_equal(sum->processes, 2);
	assert_int_equal(sum->total_ns, 10 + 6 + 1);
	assert_int_equal(sum->own_ns, 17);
	assert_int_equal(sum->covered_ns, 10 + 1);
	assert_int_equal(sum->with_bytes, 0);
	assert_int_equal(sum->min_ns, 1);
	assert_int_equal(sum->p50_ns, 6);
	assert_int_equal(sum->max_ns, 10);
	sum = sum_of("reader", "read");
	assert_int_equal(sum->own_ns, 15 + 15);
	assert_int_equal(sum->bytes, 4096);
	assert_int_equal(sum->with_bytes, 2);
	sum = sum_of("app", "batch");
	assert_int_equal(sum->own_ns, 60 - 25 - 15);
	assert_int_equal(sum->nested_ns, 25 + 15);
	assert_int_equal(sum_of("app", "main")->own_ns, 310 - 60);
}

static void categories_count_without_case(void **state)
{
	ends(70, "Compute", "step", 110, 120, -1);
	ends(70, "COMPUTE", "step", 120, 130, -1);
	ends(70, "compute", "Step", 130, 140, -1);
	ends(70, "comput", "estep", 140, 150, -1); /* the near miss */
	region_sums_end(&sums);
	assert_int_equal(sums.n, 3);
	assert_int_equal(sum_of("Compute", "step")->n, 2);
}

/* Lanes of a thread overlap: none is within another. */
static void lanes_are_apart(void **state)
{
	const struct step_region region = { .cat = "a", .cat_len = 1, .name = "b", .name_len = 1, .bytes = -1 };

	for (unsigned int lane = 1; lane <= 2; lane++) {
		struct step_region of = region;

		of.lane = lane;
		of.begin_ns = 100 - lane;
		of.end_ns = 200 + lane;
		region_sums_take(&sums, &of);
	}
	region_sums_end(&sums);
	assert_int_equal(sums.v[0].own_ns, 102 + 104);
	assert_int_equal(sums.v[0].covered_ns, 104);
}

static void names_beyond_the_room_are_counted(void **state)
{
	char name[16];

	for (unsigned int i = 0; i < REGION_SUMS_MAX + 3; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		ends(70, "a", name, 100 + i, 101 + i, -1);
	}
	ends(70, "a", "n0", 10000, 10001, -1);
	region_sums_end(&sums);
	assert_int_equal(sums.n, REGION_SUMS_MAX);
	assert_int_equal(sums.left_out, 3);
	assert_int_equal(sum_of("a", "n0")->n, 2);
}

/* A thread with more regions than are kept apart, all of them within one, and half of them within another. */
static void regions_without_end_are_within_what_is_around_them(void **state)
{
	enum { N = 100000 };

	for (unsigned int i = 0; i < N; i++)
		ends(70, "a", "step", 1000 + 10 * i, 1007 + 10 * i, -1);
	ends(70, "a", "half", 1000 + 10 * (N / 2) - 1, 1000 + 10 * N, -1);
	ends(70, "a", "all", 999, 1001 + 10 * N, -1);
	region_sums_end(&sums);
	assert_int_equal(sum_of("a", "step")->own_ns, 7 * N);
	assert_int_equal(sum_of("a", "step")->covered_ns, 7 * N);
	assert_in_range(sum_of("a", "half")->own_ns, 3 * N / 2 - N / 20, 3 * N / 2 + N / 20);
	assert_in_range(sum_of("a", "all")->own_ns, 3 * N / 2 - N / 20, 3 * N / 2 + N / 20);
}

/* --- against a clock: regions of random trees ------------------------------------------------------------------ */

#define INSTANTS 3000
#define NAMES 4

static uint64_t clock_total[NAMES], clock_own[NAMES];
static bool clock_any[NAMES][INSTANTS];

/* A region of [BEGIN, END) with some within it, which end first; its own instants are those of none of them. */
static void tree(unsigned int *seed, uint64_t begin, uint64_t end, unsigned int depth)
{
	const unsigned int which = (unsigned int)rand_r(seed) % NAMES;
	const char *const names[NAMES] = { "n0", "n1", "n2", "n3" };
	uint64_t at = begin, own = end - begin;

	while (depth && at + 2 < end) {
		const uint64_t from = at + (uint64_t)rand_r(seed) % 20, to = from + 1 + (uint64_t)rand_r(seed) % 200;

		if (to > end)
			break;
		tree(seed, from, to, depth - 1);
		own -= to - from;
		at = to;
	}
	clock_total[which] += end - begin;
	clock_own[which] += own;
	for (uint64_t i = begin; i < end; i++)
		clock_any[which][i] = true;
	ends(70, "t", names[which], begin, end, -1);
}

static void trees_are_as_by_the_clock(void **state)
{
	for (unsigned int seed = 1; seed <= 50; seed++) {
		unsigned int random = seed;

		make(state);
		memset(clock_total, 0, sizeof(clock_total));
		memset(clock_own, 0, sizeof(clock_own));
		memset(clock_any, 0, sizeof(clock_any));
		tree(&random, 10, INSTANTS, 5);
		region_sums_end(&sums);
		for (unsigned int i = 0; i < sums.n; i++) {
			const struct region_sum *sum = &sums.v[i];
			const unsigned int which = (unsigned int)(sum->name[1] - '0');
			uint64_t covered = 0;

			for (unsigned int k = 0; k < INSTANTS; k++)
				covered += clock_any[which][k];
			assert_int_equal(sum->total_ns, clock_total[which]);
			assert_int_equal(sum->own_ns, clock_own[which]);
			assert_int_equal(sum->covered_ns, covered);
		}
		drop(state);
	}
	make(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, drop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_region_s_own_time_is_without_those_within_it),
		TEST(categories_count_without_case),
		TEST(lanes_are_apart),
		TEST(names_beyond_the_room_are_counted),
		TEST(regions_without_end_are_within_what_is_around_them),
		TEST(trees_are_as_by_the_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
