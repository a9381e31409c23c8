/* SPDX-License-Identifier: BSD-2-Clause */
/* See trace.h: process 10 starts ranks that live for one second, and waits for the end of the first one, 20. */
#include "report/path/ranks.h"

#include "trace.h"

#define LIFE (1000 * MS)

static void put_rank(unsigned int pid, const char *name)
{
	put_process(pid, 10, name, 0, LIFE);
}

/* Two ranks, and of each the name. */
static void put_two(const char *first, const char *second)
{
	put_root(10, "torchrun", LIFE);
	put_rank(20, first);
	put_rank(30, second);
	put_wait(.pid = 10, .from = MS, .to = LIFE, .call = "wait4", .by = "exit", .by_pid = 20);
}

/* In each of ten steps of 100 ms PID waits from 50 on for BY, until TO. */
static void put_steps(unsigned int pid, unsigned int by, uint64_t to)
{
	for (uint64_t at = 0; at < LIFE; at += 100 * MS)
		put_wait(.pid = pid, .from = at + 50 * MS, .to = at + to, .by = "thread", .by_pid = by);
}

static void expect_slow(const struct report *r, unsigned int pid, uint64_t waited_ns)
{
	assert_int_equal(r->path->slow_rank.pid, pid);
	assert_int_equal(r->path->slow_rank.waited_ns, waited_ns);
}

static void a_rank_that_the_other_waits_for_is_slow(void **state)
{
	struct report *r;

	put_two("python", "python");
	put_steps(20, 30, 90 * MS);
	r = path_loaded();
	expect_slow(r, 30, 400 * MS);
	expect_part(r, "cpu", "python", NULL, 999 * MS);
	for (uint32_t i = 0; i < r->path->root[0].sums.n; i++)
		if (r->path->root[0].sums.v[i].leaf.rank)
			assert_int_equal(r->path->root[0].sums.v[i].ns, 400 * MS);
	report_free(r);
}

/* What the slow one started is a part of it: it waits for its loader. */
static void the_loader_of_a_slow_rank_belongs_to_it(void **state)
{
	struct report *r;

	put_two("python", "python");
	put_process(31, 30, "loader", 0, LIFE);
	put_steps(20, 30, 90 * MS);
	put_steps(30, 31, 89 * MS);
	r = path_loaded();
	expect_slow(r, 30, 400 * MS);
	expect_part(r, "cpu", "loader", NULL, 390 * MS);
	assert_true(part_of(r, "cpu", "loader", NULL).leaf.rank);
	assert_int_equal(part_of(r, "cpu", "loader", NULL).leaf.role, PATH_WORKER);
	report_free(r);
}

/* In turn, and for as long. */
static void ranks_that_wait_alike_are_none(void **state)
{
	struct report *r;

	put_two("python", "python");
	for (unsigned int i = 0; i < 10; i++)
		put_wait(.pid = i % 2 ? 20 : 30, .from = (100 * i + 50) * MS, .to = (100 * i + 90) * MS, .by = "thread",
			 .by_pid = i % 2 ? 30 : 20);
	r = path_loaded();
	expect_slow(r, 0, 0);
	report_free(r);
}

/* For 10 % of its life. */
static void a_short_wait_makes_no_rank_slow(void **state)
{
	struct report *r;

	put_two("python", "python");
	put_steps(20, 30, 60 * MS);
	r = path_loaded();
	expect_slow(r, 0, 0);
	report_free(r);
}

/* 20 waits for 40, which is late, and 30 waits for 20. */
static void in_a_ring_the_late_one_is_slow(void **state)
{
	struct report *r;

	put_two("python", "python");
	put_rank(40, "python");
	put_steps(20, 40, 90 * MS);
	put_steps(30, 20, 92 * MS);
	r = path_loaded();
	expect_slow(r, 40, 400 * MS);
	report_free(r);
}

/* What one makes, the other takes from a pipe. */
static void the_parts_of_a_pipeline_are_no_ranks(void **state)
{
	struct report *r;

	put_two("python", "python");
	put(FILES, 0, "1\t0:15\t7\tfifo\tpipefs\t0\tlive\tpipe:[7]");
	for (uint64_t at = 0; at < LIFE; at += 100 * MS)
		put_wait(.pid = 20, .from = at + 50 * MS, .to = at + 90 * MS, .call = "read", .by = "thread",
			 .by_pid = 30, .fid = 1, .file = "pipe:[7]");
	r = path_loaded();
	expect_slow(r, 0, 0);
	report_free(r);
}

static void processes_of_two_names_are_no_ranks(void **state)
{
	struct report *r;

	put_two("python", "server");
	put_steps(20, 30, 90 * MS);
	r = path_loaded();
	expect_slow(r, 0, 0);
	report_free(r);
}

/* Each has a shell of its own. */
static void processes_of_two_parents_are_no_ranks(void **state)
{
	struct report *r;

	put_two("sh", "bash");
	put_process(21, 20, "python", 0, LIFE);
	put_process(31, 30, "python", 0, LIFE);
	put_steps(21, 31, 90 * MS);
	r = path_loaded();
	expect_slow(r, 0, 0);
	report_free(r);
}

/* The trainer waits for both. */
static void workers_are_no_ranks(void **state)
{
	struct report *r;

	put_root(10, "python", LIFE);
	put_rank(20, "loader");
	put_rank(30, "loader");
	put_steps(20, 30, 90 * MS);
	for (unsigned int i = 0; i < 10; i++)
		put_wait(.pid = 10, .from = 100 * i * MS, .to = (100 * i + 95) * MS, .by = "thread",
			 .by_pid = i % 2 ? 20 : 30);
	r = path_loaded();
	expect_slow(r, 0, 0);
	report_free(r);
}

/* One that ended early is a helper: a check before the training. */
static void a_process_of_a_short_life_is_no_rank(void **state)
{
	struct report *r;

	put_root(10, "torchrun", LIFE);
	put_rank(20, "python");
	put_process(30, 10, "python", 0, 190 * MS);
	put_wait(.pid = 10, .from = MS, .to = LIFE, .call = "wait4", .by = "exit", .by_pid = 20);
	put_wait(.pid = 20, .from = 10 * MS, .to = 180 * MS, .by = "thread", .by_pid = 30);
	r = path_loaded();
	expect_slow(r, 0, 0);
	report_free(r);
}

/* The trace was attached to two jobs: that of the longer one is what counts. */
static void each_root_has_its_own_ranks(void **state)
{
	struct report *r;

	put_two("python", "python");
	put_steps(20, 30, 90 * MS);
	put_event(0, "exec", 50, 50, 1, "cron", NULL);
	put_event(900 * MS, "exit", 50, 50, 1, "cron", "0");
	r = path_loaded();
	assert_int_equal(r->path->n, 2);
	assert_int_equal(r->path->root[0].pid, 10);
	expect_slow(r, 30, 400 * MS);
	report_free(r);
}

/* The ranks are those of the shorter job. */
static void ranks_of_another_root_do_not_count(void **state)
{
	struct report *r;

	put_event(0, "exec", 50, 50, 1, "long", NULL);
	put_event(LIFE, "exit", 50, 50, 1, "long", "0");
	put_event(0, "exec", 60, 60, 1, "torchrun", NULL);
	put_event(900 * MS, "exit", 60, 60, 1, "torchrun", "0");
	put_process(70, 60, "python", 0, 900 * MS);
	put_process(80, 60, "python", 0, 900 * MS);
	put_wait(.pid = 70, .from = 50 * MS, .to = 850 * MS, .by = "thread", .by_pid = 80);
	r = path_loaded();
	assert_int_equal(r->path->n, 2);
	assert_int_equal(r->path->root[0].pid, 50);
	expect_slow(r, 0, 0);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(a_rank_that_the_other_waits_for_is_slow),
		IN_TREE(the_loader_of_a_slow_rank_belongs_to_it),
		IN_TREE(ranks_that_wait_alike_are_none),
		IN_TREE(a_short_wait_makes_no_rank_slow),
		IN_TREE(in_a_ring_the_late_one_is_slow),
		IN_TREE(the_parts_of_a_pipeline_are_no_ranks),
		IN_TREE(processes_of_two_names_are_no_ranks),
		IN_TREE(processes_of_two_parents_are_no_ranks),
		IN_TREE(workers_are_no_ranks),
		IN_TREE(a_process_of_a_short_life_is_no_rank),
		IN_TREE(each_root_has_its_own_ranks),
		IN_TREE(ranks_of_another_root_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
