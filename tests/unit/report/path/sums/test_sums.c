/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/sums/sums.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "report/path/cut.h"
#include "report/path/lives/rows.h"

static void pieces_with_the_same_leaf_are_one_part(void **state)
{
	const struct path_leaf cpu = { .kind = PATH_CPU, .process = 1 },
			       read = { .kind = PATH_DISK_READ, .process = 1 };
	struct path_sums sums = { .n = 0 };

	path_sums_init(&sums);
	path_sums_add(&sums, &cpu, 500, 600, PATH_FIRST);
	path_sums_add(&sums, &read, 100, 500, PATH_BEFORE);
	path_sums_add(&sums, &cpu, 50, 100, PATH_LATER);
	sums.chain = true;
	path_sums_add(&sums, &cpu, 0, 600, PATH_FIRST);
	assert_int_equal(path_sums_end(&sums), 0);
	assert_int_equal(sums.n, 2);
	assert_int_equal(sums.v[0].leaf.kind, PATH_DISK_READ);
	assert_int_equal(sums.v[0].ns, 400);
	assert_int_equal(sums.v[0].chain_ns, 0);
	assert_int_equal(sums.v[1].ns, 150);
	assert_int_equal(sums.v[1].chain_ns, 600);
	assert_int_equal(sums.v[1].when_ns[PATH_FIRST], 100);
	assert_int_equal(sums.v[1].when_ns[PATH_LATER], 50);
	assert_int_equal(sums.v[1].first_ns, 0);
	assert_int_equal(sums.v[1].last_ns, 600);
	path_sums_free(&sums);
}

/* More parts than there is room for are one that is not known: the sum stays whole. */
static void too_many_parts_are_one(void **state)
{
	struct path_sums sums = { .n = 0 };
	uint64_t ns = 0;

	path_sums_init(&sums);
	for (uint32_t i = 1; i < PATH_SUMS_MAX + 100; i++)
		path_sums_add(&sums, &(struct path_leaf){ .kind = PATH_CPU, .detail = i }, 0, 1, PATH_WHENS);
	assert_int_equal(path_sums_end(&sums), 0);
	assert_int_equal(sums.n, PATH_SUMS_MAX);
	assert_int_equal(sums.v[0].leaf.kind, PATH_UNKNOWN);
	for (uint32_t i = 0; i < sums.n; i++)
		ns += sums.v[i].ns;
	assert_int_equal(ns, PATH_SUMS_MAX + 99);
	path_sums_free(&sums);
}

static void a_cut_has_no_rest(void **state)
{
	static const uint64_t amounts[] = { 1, 0, 3, UINT64_MAX / 4, 7, 1 };
	struct path_cut cut = { 1000, 2000, 0, 0 };
	uint64_t last_ns = cut.begin_ns;

	for (unsigned int i = 0; i < ARRAY_SIZE(amounts); i++)
		cut.whole += amounts[i];
	for (unsigned int i = 0; i < ARRAY_SIZE(amounts); i++) {
		const uint64_t end_ns = path_cut_next(&cut, amounts[i]);

		assert_in_range(end_ns, last_ns, 2000);
		last_ns = end_ns;
	}
	assert_int_equal(last_ns, 2000);
}

static void a_cut_is_in_proportion(void **state)
{
	struct path_cut cut = { 1000, 2000, 4, 0 };

	assert_int_equal(path_cut_next(&cut, 1), 1250);
	assert_int_equal(path_cut_next(&cut, 0), 1250);
	assert_int_equal(path_cut_next(&cut, 2), 1750);
	assert_int_equal(path_cut_next(&cut, 1), 2000);
}

static void rows_come_together_by_life_and_time(void **state)
{
	static const struct path_row rows[] = { { 5, 2 }, { 1, 0 }, { 3, 2 }, { 9, 1 }, { 4, 2 }, { 2, 0 } };
	static const struct path_row sorted[] = { { 1, 0 }, { 2, 0 }, { 9, 1 }, { 3, 2 }, { 4, 2 }, { 5, 2 } };
	struct path_row *v = calloc(ARRAY_SIZE(rows), sizeof(*v));
	struct path_range *ranges;

	assert_non_null(v);
	memcpy(v, rows, sizeof(rows));
	ranges = path_rows_sort(&v, ARRAY_SIZE(rows), sizeof(*v), 4);
	assert_non_null(ranges);
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(v[i].life, sorted[i].life);
		assert_int_equal(v[i].at_ns, sorted[i].at_ns);
	}
	assert_int_equal(ranges[2].first, 3);
	assert_int_equal(ranges[2].n, 3);
	assert_int_equal(ranges[3].n, 0);
	free(ranges);
	free(v);
}

static void no_rows_have_empty_ranges(void **state)
{
	struct path_row *v = NULL;
	struct path_range *ranges = path_rows_sort(&v, 0, sizeof(*v), 2);

	assert_non_null(ranges);
	assert_int_equal(ranges[1].n, 0);
	free(ranges);
	free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_with_the_same_leaf_are_one_part),
		cmocka_unit_test(too_many_parts_are_one),
		cmocka_unit_test(a_cut_has_no_rest),
		cmocka_unit_test(a_cut_is_in_proportion),
		cmocka_unit_test(rows_come_together_by_life_and_time),
		cmocka_unit_test(no_rows_have_empty_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
