/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/spans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"
#include "stats/cover.h"

#define TIMES 400

static void what_touches_becomes_one(void **state)
{
	struct spans s = { 0 };

	assert_int_equal(spans_add(&s, 10, 20), 0);
	assert_int_equal(spans_add(&s, 30, 40), 0);
	assert_int_equal(s.n, 2);
	spans_add(&s, 20, 25);
	assert_int_equal(s.n, 2);
	spans_add(&s, 5, 50); /* a long call that ends after the others, which are within it */
	assert_int_equal(s.n, 1);
	spans_add(&s, 60, 60);
	assert_int_equal(s.n, 1);
	spans_close(&s);
	assert_int_equal(s.total_ns, 45);
	spans_free(&s);
}

static void a_part_is_queried(void **state)
{
	struct spans s = { 0 };

	spans_add(&s, 10, 20);
	spans_add(&s, 30, 40);
	spans_close(&s);
	assert_int_equal(spans_within(&s, 0, 100), 20);
	assert_int_equal(spans_within(&s, 15, 35), 10);
	assert_int_equal(spans_within(&s, 20, 30), 0);
	assert_int_equal(spans_within(&s, 39, 41), 1);
	assert_int_equal(spans_within(&s, 0, 10), 0);
	assert_int_equal(spans_within(&s, 12, 12), 0);
	assert_int_equal(spans_within(&s, 14, 12), 0);
	spans_free(&s);
}

static void an_empty_set_has_nothing(void **state)
{
	struct spans s = { 0 };

	spans_close(&s);
	assert_int_equal(spans_within(&s, 0, UINT64_MAX), 0);
	spans_free(&s);
}

static void weights_count_in_part(void **state)
{
	struct spans s = { 0 };

	spans_append(&s, 0, 1000, 0.25);
	spans_append(&s, 500, 2000, 0.5); /* never before the last one */
	spans_close(&s);
	assert_int_equal(s.total_ns, 250 + 500);
	assert_int_equal(spans_within(&s, 900, 1100), 25 + 50);
	spans_free(&s);
}

/* SplitMix64, Steele et al. 2014. */
static uint64_t draw(uint64_t *seed)
{
	uint64_t z = *seed += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static void any_order_gives_the_same_as_marking_each_instant(void **state)
{
	for (uint64_t round = 0; round < 200; round++) {
		uint64_t seed = round;
		bool marked[TIMES] = { false };
		struct spans s = { 0 };

		for (unsigned int i = 0; i < 40; i++) {
			uint64_t begin = draw(&seed) % TIMES, length = draw(&seed) % 20,
				 end = MIN(begin + length, TIMES);

			spans_add(&s, begin, end);
			for (uint64_t t = begin; t < end; t++)
				marked[t] = true;
		}
		spans_close(&s);
		for (size_t i = 1; i < s.n; i++)
			assert_true(s.v[i - 1].end_ns < s.v[i].begin_ns);
		for (unsigned int i = 0; i < 40; i++) {
			uint64_t begin = draw(&seed) % TIMES, length = draw(&seed) % 100,
				 end = MIN(begin + length, TIMES), n = 0;

			for (uint64_t t = begin; t < end; t++)
				n += marked[t];
			assert_int_equal(spans_within(&s, begin, end), n);
		}
		spans_free(&s);
	}
}

static void a_full_set_is_glued_and_says_by_how_much(void **state)
{
	struct spans s = { .max = 64 };

	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(spans_add(&s, i * 10000, i * 10000 + 4000), 0);
	spans_close(&s);
	assert_true(s.n <= 64);
	assert_true(s.glued_ns > 0);
	assert_int_equal(s.total_ns, 1000 * 4000 + s.glued_ns);
	spans_free(&s);
}

/* --- cover --------------------------------------------------------------------------------------- */

struct freed {
	uint64_t ns;
	bool marked[TIMES];
};

static void mark(void *ctx, uint64_t begin_ns, uint64_t end_ns)
{
	struct freed *f = ctx;

	assert_true(begin_ns < end_ns);
	for (uint64_t t = begin_ns; t < end_ns; t++) {
		assert_false(f->marked[t]);
		f->marked[t] = true;
	}
	f->ns += end_ns - begin_ns;
}

static void time_counts_once(void **state)
{
	struct cover *c = calloc(1, sizeof(*c));
	struct freed f = { 0 };

	cover_add(c, 10, 20, mark, &f);
	assert_int_equal(f.ns, 10);
	cover_add(c, 15, 30, mark, &f);
	assert_int_equal(f.ns, 20);
	cover_add(c, 40, 50, mark, &f);
	cover_add(c, 0, 60, mark, &f); /* around all of it */
	assert_int_equal(f.ns, 60);
	assert_int_equal(c->n, 1);
	cover_add(c, 20, 50, mark, &f);
	assert_int_equal(f.ns, 60);
	free(c);
}

static void any_order_covers_each_instant_once(void **state)
{
	for (uint64_t round = 0; round < 200; round++) {
		struct cover *c = calloc(1, sizeof(*c));
		struct freed f = { 0 };
		uint64_t seed = round, n = 0;
		bool wanted[TIMES] = { false };

		for (unsigned int i = 0; i < 60; i++) {
			uint64_t begin = draw(&seed) % TIMES, length = draw(&seed) % 30,
				 end = MIN(begin + length, TIMES);

			cover_add(c, begin, end, mark, &f);
			for (uint64_t t = begin; t < end; t++)
				wanted[t] = true;
		}
		for (uint64_t t = 0; t < TIMES; t++)
			n += wanted[t];
		assert_int_equal(f.ns, n);
		assert_memory_equal(wanted, f.marked, sizeof(wanted));
		free(c);
	}
}

static void nothing(void *ctx, uint64_t begin_ns, uint64_t end_ns)
{
	*(uint64_t *)ctx += end_ns - begin_ns;
}

static void spans_too_far_back_are_reported(void **state)
{
	struct cover *c = calloc(1, sizeof(*c));
	uint64_t ns = 0;

	for (uint64_t i = 1; i <= 10 * COVER_MAX; i++)
		cover_add(c, i * 10, i * 10 + 5, nothing, &ns);
	assert_true(c->n <= COVER_MAX);
	assert_int_equal(ns, 10 * COVER_MAX * 5);
	assert_int_equal(c->unsure_ns, 0);
	cover_add(c, 0, 10 * COVER_MAX * 10 + 5, nothing, &ns);
	assert_true(c->unsure_ns > 0);
	assert_int_equal(c->unsure_ns, c->floor_ns);
	free(c);
}

/* Compares with each single instant. */
static void what_is_in_both(void **state)
{
	for (uint64_t seed = 1; seed <= 50; seed++) {
		bool in[2][600] = { 0 };
		struct spans s[2] = { 0 };
		uint64_t at = seed;

		for (unsigned int k = 0; k < 2; k++) {
			for (uint64_t end = 0, len; end < 500;) {
				end += 1 + draw(&at) % 20;
				len = 1 + draw(&at) % 12;
				len = MIN(len, end);
				spans_add(&s[k], end - len, end);
				memset(&in[k][end - len], 1, len);
			}
			spans_close(&s[k]);
		}
		for (unsigned int q = 0; q < 40; q++) {
			uint64_t from = draw(&at) % 550, to = from + draw(&at) % 50, want = 0;

			for (uint64_t i = from; i < to; i++)
				want += in[0][i] && in[1][i];
			assert_int_equal(spans_both(&s[0], &s[1], from, to), want);
		}
		spans_free(&s[0]);
		spans_free(&s[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_touches_becomes_one),
		cmocka_unit_test(a_part_is_queried),
		cmocka_unit_test(an_empty_set_has_nothing),
		cmocka_unit_test(weights_count_in_part),
		cmocka_unit_test(any_order_gives_the_same_as_marking_each_instant),
		cmocka_unit_test(a_full_set_is_glued_and_says_by_how_much),
		cmocka_unit_test(time_counts_once),
		cmocka_unit_test(any_order_covers_each_instant_once),
		cmocka_unit_test(spans_too_far_back_are_reported),
		cmocka_unit_test(what_is_in_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
