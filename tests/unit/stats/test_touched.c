/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/touched.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"

#define K 1024ULL

static void add(struct touched *t, uint64_t at, uint64_t bytes, uint64_t part, uint32_t when)
{
	touched_add(t, &(struct touched_add){ .space = 7, .at = at, .bytes = bytes, .touched = part, .when = when });
}

static struct touched_sum sum_of(const struct touched *t, uint64_t at, uint64_t bytes, uint32_t from)
{
	struct touched_sum sum = { 0 };

	touched_sum(t, 7, at, bytes, from, &sum);
	return sum;
}

static void pages_count_once(void **state)
{
	struct touched_sum other = { 0 };
	struct touched t;

	touched_init(&t, 100);
	add(&t, 0x10000, 128 * K, 128 * K, 5);
	add(&t, 0x20000, 8 * K, 8 * K, 6);
	add(&t, 0x20000, 8 * K, 8 * K, 6); /* at the same time: no second one */
	assert_int_equal(sum_of(&t, 0, 1 << 20, 0).bytes, 128 * K);
	assert_int_equal(sum_of(&t, 0, 1 << 20, 0).once, 120 * K);
	/* from an instant on */
	assert_int_equal(sum_of(&t, 0, 1 << 20, 6).bytes, 8 * K);
	assert_int_equal(sum_of(&t, 0, 1 << 20, 6).once, 8 * K);
	assert_int_equal(sum_of(&t, 0, 1 << 20, 7).bytes, 0);
	/* bytes of a part of a page */
	assert_int_equal(sum_of(&t, 0x10000 + 100, 5000, 0).bytes, 5000);
	assert_int_equal(sum_of(&t, 0x2ffff, 100, 0).bytes, 1);
	assert_int_equal(t.blocks.n, 2);
	/* another space has nothing, whether each block of it is looked up or each block that there is */
	touched_sum(&t, 8, 0x10000, 64 * K, 0, &other);
	touched_sum(&t, 8, 0, TOUCHED_END, 0, &other);
	assert_int_equal(other.bytes, 0);
	touched_free(&t);
}

/* The first pages of each block stand for any of them: a union is never too large. */
static void parts_are_at_least_the_largest(void **state)
{
	struct touched t;

	touched_init(&t, 100);
	add(&t, 0, 256 * K, 64 * K, 1);
	add(&t, 0, 256 * K, 128 * K, 2);
	add(&t, 0, 64 * K, 16 * K, 3);
	assert_int_equal(sum_of(&t, 0, 256 * K, 0).bytes, 128 * K);
	for (uint64_t i = 0; i < 4; i++)
		assert_int_equal(sum_of(&t, i * 64 * K, 64 * K, 0).bytes, 32 * K);
	/* one page of 2 MiB */
	add(&t, 1 << 21, 2 << 20, 4 * K, 4);
	assert_int_equal(sum_of(&t, 1 << 21, 2 << 20, 0).bytes, 4 * K);
	touched_free(&t);
}

static void writes_are_apart(void **state)
{
	struct touched t;

	touched_init(&t, 100);
	touched_add(&t, &(struct touched_add){ .space = 7,
					       .at = 0,
					       .bytes = 64 * K,
					       .touched = 64 * K,
					       .written = 12 * K,
					       .when = 1,
					       .tag = 9 });
	touched_add(&t, &(struct touched_add){
				.space = 7, .at = 64 * K, .bytes = 8, .touched = 8, .written = 8, .when = 1 });
	assert_int_equal(sum_of(&t, 0, 64 * K, 0).written, 12 * K);
	assert_int_equal(sum_of(&t, 64 * K, 64 * K, 0).written, 4 * K);
	assert_int_equal(((struct touched_block *)table_at(&t.blocks, 0))->tag, 9);
	assert_int_equal(touched_space(&t, 1), 7);
	assert_int_equal(touched_at(&t, 1), 64 * K);
	touched_free(&t);
}

static void what_has_no_room_is_counted(void **state)
{
	struct touched t;

	touched_init(&t, 2);
	add(&t, 0, 256 * K, 256 * K, 1);
	assert_int_equal(sum_of(&t, 0, 256 * K, 0).bytes, 128 * K);
	assert_int_equal(t.left_out, 128 * K);
	/* hostile rows */
	add(&t, UINT64_MAX - 10, 100, 100, 1);
	add(&t, 1 << 20, 1ULL << 57, 1ULL << 57, 1);
	add(&t, 1 << 20, UINT64_MAX, UINT64_MAX, 1);
	assert_int_equal(sum_of(&t, 0, UINT64_MAX, 0).bytes, 128 * K);
	assert_int_equal(sum_of(&t, UINT64_MAX, UINT64_MAX, 0).bytes, 0);
	touched_free(&t);
}

/* Any rows of whole pages, against a byte for each page. */
static void sums_are_those_of_a_map_of_pages(void **state)
{
	enum { PAGES = 1024 };
	uint32_t last[PAGES] = { 0 }, before[PAGES] = { 0 };
	struct touched t;

	srand(1);
	touched_init(&t, 1000);
	for (uint32_t when = 1; when < 200; when++) {
		const uint64_t first = (uint64_t)rand() % PAGES, n = 1 + (uint64_t)rand() % (PAGES - first);

		add(&t, first * 4 * K, n * 4 * K, n * 4 * K, when);
		for (uint64_t i = first; i < first + n; i++) {
			before[i] = last[i];
			last[i] = when;
		}
		if (rand() % 3 == 0 && when > 3) {
			const uint64_t at = (uint64_t)rand() % PAGES, many = 1 + (uint64_t)rand() % (PAGES - at);
			const uint32_t from = (uint32_t)rand() % when;
			const struct touched_sum sum = sum_of(&t, at * 4 * K, many * 4 * K, from);
			uint64_t bytes = 0, once = 0;

			for (uint64_t i = at; i < at + many; i++) {
				const bool any = last[i] && last[i] >= from;

				bytes += any ? 4 * K : 0;
				once += any && (!before[i] || before[i] < from) ? 4 * K : 0;
			}
			assert_int_equal(sum.bytes, bytes);
			assert_int_equal(sum.once, once);
		}
	}
	touched_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_count_once),
		cmocka_unit_test(parts_are_at_least_the_largest),
		cmocka_unit_test(writes_are_apart),
		cmocka_unit_test(what_has_no_room_is_counted),
		cmocka_unit_test(sums_are_those_of_a_map_of_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
