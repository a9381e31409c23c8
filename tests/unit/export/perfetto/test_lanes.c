/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/perfetto/lanes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/util.h"

struct slice {
	uint64_t begin, end;
	uint32_t lane;
};

static int by_end(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;

	return x->end < y->end ? -1 : x->end > y->end;
}

static uint64_t random_below(uint64_t *seed, uint64_t n)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (*seed >> 33) % n;
}

/* Returns how many of the N slices are open at a time, at most. */
static unsigned int depth(const struct slice *v, unsigned int n)
{
	unsigned int most = 0;

	for (unsigned int i = 0; i < n; i++) {
		unsigned int open = 0;

		for (unsigned int k = 0; k < n; k++)
			open += v[k].begin <= v[i].begin && v[k].end > v[i].begin;
		most = MAX(most, open);
	}
	return most;
}

static void requests_take_as_many_lanes_as_overlap_at_most(void **state)
{
	uint64_t seed = 1;

	for (unsigned int round = 0; round < 50; round++) {
		struct slice v[200];
		struct lanes l = { 0 };

		for (unsigned int i = 0; i < ARRAY_SIZE(v); i++) {
			v[i].begin = random_below(&seed, 10000);
			v[i].end = v[i].begin + 1 + random_below(&seed, 1 + random_below(&seed, 2000));
		}
		qsort(v, ARRAY_SIZE(v), sizeof(v[0]), by_end);
		for (unsigned int i = 0; i < ARRAY_SIZE(v); i++)
			v[i].lane = lanes_put(&l, v[i].begin, v[i].end);
		for (unsigned int i = 0; i < ARRAY_SIZE(v); i++)
			for (unsigned int k = 0; k < i; k++)
				assert_true(v[i].lane != v[k].lane || v[k].end <= v[i].begin || v[i].end <= v[k].begin);
		assert_int_equal(l.n, depth(v, ARRAY_SIZE(v)));
		lanes_free(&l);
	}
}

static void one_after_the_other_is_one_lane(void **state)
{
	struct lanes l = { 0 };

	for (uint64_t i = 0; i < 10000; i++)
		assert_int_equal(lanes_nest(&l, 10 * i, 10 * i + 10), 0);
	lanes_free(&l);
}

static void slices_nest_as_a_whole(void **state)
{
	struct lanes l = { 0 };

	assert_int_equal(lanes_nest(&l, 10, 20), 0);
	assert_int_equal(lanes_nest(&l, 20, 30), 0);
	assert_int_equal(lanes_nest(&l, 20, 30), 0); /* an equal one, like the second row of a sendfile */
	assert_int_equal(lanes_nest(&l, 5, 30), 0); /* around all of them */
	assert_int_equal(lanes_nest(&l, 25, 40), 1); /* begins within one and ends after it */
	assert_int_equal(lanes_nest(&l, 5, 45), 1); /* begins with that one, and would look like it were within */
	assert_int_equal(lanes_nest(&l, 4, 50), 0);
	assert_int_equal(lanes_nest(&l, 50, 50), 0);
	assert_int_equal(lanes_nest(&l, 50, 60), 0);
	assert_int_equal(lanes_nest(&l, 1, 55),
			 1); /* too late for the first lane: it ends before the last slice there */
	lanes_free(&l);
}

/* As a viewer pairs begins and ends by time. */
static void any_slices_keep_their_lengths(void **state)
{
	uint64_t seed = 7;

	for (unsigned int round = 0; round < 200; round++) {
		struct slice v[60];
		struct lanes l = { 0 };

		for (unsigned int i = 0; i < ARRAY_SIZE(v); i++) {
			v[i].begin = random_below(&seed, 100);
			v[i].end = v[i].begin + random_below(&seed, 1 + random_below(&seed, 40));
		}
		qsort(v, ARRAY_SIZE(v), sizeof(v[0]), by_end);
		for (unsigned int i = 0; i < ARRAY_SIZE(v); i++)
			v[i].lane = lanes_nest(&l, v[i].begin, v[i].end);
		for (uint32_t lane = 0; lane < l.n; lane++) {
			unsigned int stack[ARRAY_SIZE(v)], n = 0;

			for (uint64_t ns = 0; ns < 200; ns++)
				for (unsigned int i = 0; i < ARRAY_SIZE(v); i++) {
					if (v[i].lane != lane)
						continue;
					if (v[i].begin == ns)
						stack[n++] = i;
					if (v[i].end == ns) {
						assert_true(n > 0);
						n--;
						assert_int_equal(v[stack[n]].begin, v[i].begin);
						assert_int_equal(v[stack[n]].end, v[i].end);
					}
				}
			assert_int_equal(n, 0);
		}
		lanes_free(&l);
	}
}

static void what_is_far_back_takes_bounded_memory(void **state)
{
	struct lanes l = { 0 };

	for (uint64_t i = 0; i < 100000; i++)
		assert_int_equal(lanes_nest(&l, 100 + 10 * i, 105 + 10 * i), 0);
	assert_true(l.v[0].room <= 4096);
	assert_int_equal(lanes_nest(&l, 50, 2000000), 0); /* around all */
	assert_int_equal(lanes_nest(&l, 100, 2000001), 1); /* not within it: within the one before */
	lanes_free(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_take_as_many_lanes_as_overlap_at_most),
		cmocka_unit_test(one_after_the_other_is_one_lane),
		cmocka_unit_test(slices_nest_as_a_whole),
		cmocka_unit_test(any_slices_keep_their_lengths),
		cmocka_unit_test(what_is_far_back_takes_bounded_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
