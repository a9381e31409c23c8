/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of two threads, 1 and 2, which cut the times between their waits. Times are in ns here. */
#include "report/path/cuts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/util.h"

#define LIVES 3
#define A 7 /* names of files */
#define B 8
#define C 9

/* A time between two waits; its piece has the number of those before. */
static void put_time(struct path_cuts *cuts, uint32_t life, struct path_between between)
{
	const struct path_piece piece = { .life = life, .between = &between };

	assert_int_equal(path_cuts_add(cuts, &piece, cuts->n), 0);
}

/* The times of thread 1, or those of both, sorted. */
static struct path_cuts sorted(const struct path_between *first, unsigned int n, const struct path_between *second)
{
	struct path_cuts cuts = { .n = 0 };

	for (unsigned int i = 0; i < n; i++)
		put_time(&cuts, 1, first[i]);
	if (second)
		put_time(&cuts, 2, *second);
	assert_int_equal(path_cuts_sort(&cuts, LIVES), 0);
	return cuts;
}

#define TIMES(...) \
	sorted((struct path_between[]){ __VA_ARGS__ }, ARRAY_SIZE(((struct path_between[]){ __VA_ARGS__ })), NULL)

/* Expects CPU_NS of a time from 0 to 1000 to be cut into these parts. */
static void expect_parts(const struct path_cuts *cuts, uint64_t cpu_ns, uint64_t read, uint64_t write, uint64_t meta)
{
	uint64_t ns[PATH_CUT_KINDS];

	path_cut_parts(&cuts->v[0], cpu_ns, ns);
	assert_int_equal(ns[PATH_CUT_READ], read);
	assert_int_equal(ns[PATH_CUT_WRITE], write);
	assert_int_equal(ns[PATH_CUT_METADATA], meta);
}

/* --- which time a call is in ------------------------------------------------------------------------------- */

static void a_call_counts_where_it_meets_a_time(void **state)
{
	static const struct {
		uint64_t begin_ns, end_ns, ns;
	} cases[] = {
		{ 120, 150, 30 }, { 50, 110, 10 },   { 190, 300, 10 },
		{ 0, 1000, 100 }, { 100, 200, 100 }, { 0, 100, 0 }, /* it ends where the time begins */
		{ 200, 300, 0 },  { 300, 400, 0 },   { 150, 150, 0 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct path_cuts cuts = TIMES({ 100, 200 });

		path_cuts_call(&cuts, 1, cases[i].begin_ns, cases[i].end_ns, PATH_CUT_READ, A);
		assert_int_equal(cuts.v[0].of[PATH_CUT_READ].ns, cases[i].ns);
		assert_int_equal(cuts.v[0].of[PATH_CUT_WRITE].ns, 0);
		path_cuts_free(&cuts);
	}
}

/* A thread that waits within a call has two times that are in it. */
static void a_call_may_be_in_several_times(void **state)
{
	struct path_cuts cuts = TIMES({ 100, 200 }, { 300, 400 }, { 400, 500 });

	path_cuts_call(&cuts, 1, 150, 420, PATH_CUT_WRITE, A);
	assert_int_equal(cuts.v[0].of[PATH_CUT_WRITE].ns, 50);
	assert_int_equal(cuts.v[1].of[PATH_CUT_WRITE].ns, 100);
	assert_int_equal(cuts.v[2].of[PATH_CUT_WRITE].ns, 20);
	path_cuts_free(&cuts);
}

/* A chain comes from the end. The piece of each time stays with it. */
static void times_may_come_in_any_order(void **state)
{
	struct path_cuts cuts = TIMES({ 400, 500 }, { 100, 200 }, { 300, 400 });

	path_cuts_call(&cuts, 1, 350, 410, PATH_CUT_READ, A);
	assert_int_equal(cuts.v[0].piece, 1);
	assert_int_equal(cuts.v[0].of[PATH_CUT_READ].ns, 0);
	assert_int_equal(cuts.v[1].piece, 2);
	assert_int_equal(cuts.v[1].of[PATH_CUT_READ].ns, 50);
	assert_int_equal(cuts.v[2].piece, 0);
	assert_int_equal(cuts.v[2].of[PATH_CUT_READ].ns, 10);
	path_cuts_free(&cuts);
}

static void each_thread_has_its_own_calls(void **state)
{
	const struct path_between first = { 100, 200 }, second = { 150, 300 };
	struct path_cuts cuts = sorted(&first, 1, &second);

	path_cuts_call(&cuts, 2, 100, 200, PATH_CUT_READ, A);
	path_cuts_call(&cuts, 1, 190, 300, PATH_CUT_READ, B);
	path_cuts_call(&cuts, 0, 0, 1000, PATH_CUT_READ, C); /* of no thread */
	assert_int_equal(cuts.v[0].row.life, 1);
	assert_int_equal(cuts.v[0].of[PATH_CUT_READ].ns, 10);
	assert_int_equal(cuts.v[0].of[PATH_CUT_READ].name, B);
	assert_int_equal(cuts.v[1].row.life, 2);
	assert_int_equal(cuts.v[1].of[PATH_CUT_READ].ns, 50);
	assert_int_equal(cuts.v[1].of[PATH_CUT_READ].name, A);
	path_cuts_free(&cuts);
}

static void without_times_calls_do_no_harm(void **state)
{
	struct path_cuts cuts = sorted(NULL, 0, NULL);

	path_cuts_call(&cuts, 1, 0, 1000, PATH_CUT_READ, A);
	assert_int_equal(cuts.n, 0);
	path_cuts_free(&cuts);
}

/* --- parts -------------------------------------------------------------------------------------------------- */

static void time_in_calls_is_a_part_of_the_cpu_time(void **state)
{
	struct path_cuts cuts = TIMES({ 0, 1000 });

	expect_parts(&cuts, 1000, 0, 0, 0);
	path_cuts_call(&cuts, 1, 0, 300, PATH_CUT_READ, A);
	path_cuts_call(&cuts, 1, 300, 400, PATH_CUT_WRITE, A);
	path_cuts_call(&cuts, 1, 400, 600, PATH_CUT_METADATA, A);
	expect_parts(&cuts, 1000, 300, 100, 200);
	path_cuts_free(&cuts);
}

/* Of 500 ns in calls the thread waited for a disk for 300: it was on a CPU for 200 of them. */
static void waits_for_storage_are_taken_off(void **state)
{
	struct path_cuts cuts = TIMES({ 0, 1000, .storage_ns = 300 });

	path_cuts_call(&cuts, 1, 0, 400, PATH_CUT_READ, A);
	path_cuts_call(&cuts, 1, 400, 500, PATH_CUT_METADATA, A);
	expect_parts(&cuts, 700, 160, 0, 40);
	path_cuts_free(&cuts);
}

/* Waits for storage that no row of a call has. */
static void calls_that_only_waited_have_no_part(void **state)
{
	struct path_cuts cuts = TIMES({ 0, 1000, .storage_ns = 300 });

	path_cuts_call(&cuts, 1, 0, 200, PATH_CUT_READ, A);
	expect_parts(&cuts, 700, 0, 0, 0);
	path_cuts_free(&cuts);
}

/* A thread that could run for 250 of 1000 ns could so for a quarter of the 400 ns in calls, too. */
static void waits_for_a_cpu_are_taken_off(void **state)
{
	struct path_cuts cuts = TIMES({ 0, 1000, .ready_ns = 250 });

	path_cuts_call(&cuts, 1, 0, 400, PATH_CUT_READ, A);
	expect_parts(&cuts, 750, 300, 0, 0);
	path_cuts_free(&cuts);
}

/* Of 600 ns in calls 200 were waits for storage, of the rest a fifth in the queue. */
static void both_kinds_of_waits_are_taken_off(void **state)
{
	struct path_cuts cuts = TIMES({ 0, 1000, .storage_ns = 200, .ready_ns = 160 });

	path_cuts_call(&cuts, 1, 100, 700, PATH_CUT_READ, A);
	expect_parts(&cuts, 640, 320, 0, 0);
	path_cuts_free(&cuts);
}

/* The thread was in a pipe for most of the time: its calls cannot have had more of a CPU than it had. */
static void parts_are_the_cpu_time_at_most(void **state)
{
	struct path_cuts cuts = TIMES({ 0, 1000 });

	path_cuts_call(&cuts, 1, 0, 600, PATH_CUT_READ, A);
	path_cuts_call(&cuts, 1, 600, 1000, PATH_CUT_WRITE, A);
	expect_parts(&cuts, 100, 60, 40, 0);
	path_cuts_call(&cuts, 1, 0, 1000, PATH_CUT_METADATA, A); /* over the others: no kernel has that */
	expect_parts(&cuts, 100, 30, 20, 50);
	path_cuts_free(&cuts);
}

/* Returns a number below N: the same in each run. */
static uint64_t any(unsigned int n)
{
	static uint32_t v = 4711;

	v = v * 1664525U + 1013904223U;
	return (v >> 8) % n;
}

static void parts_at_random_are_the_cpu_time_at_most(void **state)
{
	for (unsigned int turn = 0; turn < 1000; turn++) {
		struct path_cuts cuts = TIMES({ 0, 1000, .storage_ns = any(1200), .ready_ns = any(1200) });
		const uint64_t cpu_ns = 1 + any(1000);
		uint64_t ns[PATH_CUT_KINDS], sum = 0;

		for (uint64_t calls = any(6); calls; calls--) {
			const uint64_t begin_ns = any(1200);

			path_cuts_call(&cuts, 1, begin_ns, begin_ns + any(400), (enum path_cut_kind)any(PATH_CUT_KINDS),
				       A);
		}
		path_cut_parts(&cuts.v[0], cpu_ns, ns);
		for (unsigned int i = 0; i < PATH_CUT_KINDS; i++)
			sum += ns[i];
		assert_true(sum <= cpu_ns);
		path_cuts_free(&cuts);
	}
}

/* --- names -------------------------------------------------------------------------------------------------- */

/* Calls one after the other; which file had more than half of their time in all. */
static void the_file_with_more_than_half_has_the_name(void **state)
{
	static const struct {
		struct {
			uint32_t name;
			uint64_t ns;
		} calls[6];
		uint32_t name;
	} cases[] = {
		{ { { A, 10 } }, A },
		{ { { A, 60 }, { B, 50 } }, A },
		{ { { B, 50 }, { A, 60 } }, A },
		{ { { B, 20 }, { C, 20 }, { A, 50 } }, A },
		{ { { A, 50 }, { B, 20 }, { C, 20 } }, A },
		{ { { B, 20 }, { A, 25 }, { C, 20 }, { A, 25 } }, A },
		{ { { A, 10 }, { B, 20 }, { A, 10 }, { C, 15 }, { A, 20 }, { A, 10 } }, A },
		{ { { A, 5 }, { A, 5 }, { A, 5 }, { B, 100 } }, B }, /* by time, and not by number */
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct path_cuts cuts = TIMES({ 0, 1000 });
		uint64_t at = 0;

		for (unsigned int call = 0; call < ARRAY_SIZE(cases[i].calls) && cases[i].calls[call].ns; call++) {
			path_cuts_call(&cuts, 1, at, at + cases[i].calls[call].ns, PATH_CUT_READ,
				       cases[i].calls[call].name);
			at += cases[i].calls[call].ns;
		}
		assert_int_equal(cuts.v[0].of[PATH_CUT_READ].name, cases[i].name);
		path_cuts_free(&cuts);
	}
}

static void each_kind_of_call_has_its_own_file(void **state)
{
	struct path_cuts cuts = TIMES({ 0, 1000 });

	path_cuts_call(&cuts, 1, 0, 500, PATH_CUT_READ, A);
	path_cuts_call(&cuts, 1, 500, 510, PATH_CUT_WRITE, B);
	path_cuts_call(&cuts, 1, 510, 520, PATH_CUT_METADATA, C);
	assert_int_equal(cuts.v[0].of[PATH_CUT_READ].name, A);
	assert_int_equal(cuts.v[0].of[PATH_CUT_WRITE].name, B);
	assert_int_equal(cuts.v[0].of[PATH_CUT_METADATA].name, C);
	path_cuts_free(&cuts);
}

/* A file that was in use outside of the time has no vote in it. */
static void only_what_is_in_the_time_votes(void **state)
{
	struct path_cuts cuts = TIMES({ 500, 1000 });

	path_cuts_call(&cuts, 1, 0, 510, PATH_CUT_READ, A);
	path_cuts_call(&cuts, 1, 510, 530, PATH_CUT_READ, B);
	assert_int_equal(cuts.v[0].of[PATH_CUT_READ].name, B);
	path_cuts_free(&cuts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_counts_where_it_meets_a_time),
		cmocka_unit_test(a_call_may_be_in_several_times),
		cmocka_unit_test(times_may_come_in_any_order),
		cmocka_unit_test(each_thread_has_its_own_calls),
		cmocka_unit_test(without_times_calls_do_no_harm),
		cmocka_unit_test(time_in_calls_is_a_part_of_the_cpu_time),
		cmocka_unit_test(waits_for_storage_are_taken_off),
		cmocka_unit_test(calls_that_only_waited_have_no_part),
		cmocka_unit_test(waits_for_a_cpu_are_taken_off),
		cmocka_unit_test(both_kinds_of_waits_are_taken_off),
		cmocka_unit_test(parts_are_the_cpu_time_at_most),
		cmocka_unit_test(parts_at_random_are_the_cpu_time_at_most),
		cmocka_unit_test(the_file_with_more_than_half_has_the_name),
		cmocka_unit_test(each_kind_of_call_has_its_own_file),
		cmocka_unit_test(only_what_is_in_the_time_votes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
