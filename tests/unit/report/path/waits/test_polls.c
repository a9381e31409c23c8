/* SPDX-License-Identifier: BSD-2-Clause */
/* See trace.h: process 10 is the root, of one second, which looks every 2 ms from 100 to 500. */
#include "report/path/waits/polls.h"

#include "../trace.h"

static void put_polls(const char *call, uint64_t between)
{
	put_root(10, "python", 1000 * MS);
	for (uint64_t at = 100 * MS; at < 500 * MS; at += 2 * MS + between)
		put_wait(.pid = 10, .from = at, .to = at + 2 * MS, .call = call, .by = "timer");
}

/* The loader reads for 300 of these 400 ms, and computes for 100. */
static void put_loader(unsigned int parent)
{
	put_process(20, parent, "loader", 0, 500 * MS);
	put_wait(.pid = 20, .from = 100 * MS, .to = 400 * MS, .call = "pread64", .state = "disk", .by = "disk",
		 .fid = 1, .file = "x");
}

static void expect_near(uint64_t got, uint64_t want)
{
	if (got + 2 * MS < want || got > want + 2 * MS)
		fail_msg("%llu us and not %llu us", (unsigned long long)got / 1000, (unsigned long long)want / 1000);
}

static void a_poll_is_what_its_children_did_meanwhile(void **state)
{
	struct report *r;

	put_polls("clock_nanosleep", 0);
	put_loader(10);
	r = path_loaded();
	expect_near(part_of(r, "disk-read", "loader", "x").ns, 300 * MS);
	expect_near(part_of(r, "cpu", "loader", NULL).ns, 100 * MS);
	assert_true(part_of(r, "disk-read", "loader", "x").leaf.inferred);
	expect_part(r, "cpu", "python", NULL, 600 * MS);
	report_free(r);
}

/* Another thread of its own process, which does half of the time nothing. */
static void a_poll_is_as_much_as_the_others_did(void **state)
{
	struct report *r;

	put_polls("select", 0);
	put_event(0, "thread", 10, 11, 1, "python", NULL);
	for (uint64_t at = 100 * MS; at < 500 * MS; at += 20 * MS)
		put_wait(.pid = 10, .tid = 11, .from = at, .to = at + 10 * MS, .call = "futex", .by = "thread",
			 .by_pid = 10, .by_tid = 10);
	r = path_loaded();
	expect_near(part_of(r, "cpu", "python'", NULL).ns, 200 * MS);
	expect_near(part_of(r, "poll", "python", "select").ns, 200 * MS);
	assert_false(part_of(r, "poll", "python", "select").leaf.inferred);
	report_free(r);
}

/* A thread of the loader waits for clients meanwhile, as the store of a launcher does; the loader works until UNTIL. */
static struct report *polls_beside_a_server(uint64_t until)
{
	put_polls("clock_nanosleep", 0);
	put_process(20, 10, "loader", 0, 500 * MS);
	put_wait(.pid = 20, .from = until, .to = 500 * MS, .by = "thread", .by_pid = 10);
	put_event(0, "thread", 20, 21, 10, "store", NULL);
	put_wait(.pid = 20, .tid = 21, .from = 50 * MS, .to = 490 * MS, .call = "epoll_wait", .by = "net",
		 .peer = "127.0.0.1:5000");
	return path_loaded();
}

static void a_server_is_no_work_beside_work(void **state)
{
	struct report *r = polls_beside_a_server(495 * MS);

	expect_near(part_of(r, "cpu", "loader", NULL).ns, 390 * MS);
	expect_near(part_of(r, "network", "loader'", NULL).ns, 0);
	report_free(r);
}

static void a_server_beside_hardly_any_work_may_be_it(void **state)
{
	struct report *r = polls_beside_a_server(200 * MS);

	assert_true(part_of(r, "network", "loader'", "127.0.0.1:5000").ns > 200 * MS);
	report_free(r);
}

/* Two ranks of one name: the one computes, the other waits for it. */
static void ranks_of_one_name_are_apart(void **state)
{
	struct report *r;

	put_polls("clock_nanosleep", 0);
	put_launched(20, 10, "rank", 0, 500 * MS, 0);
	put_launched(30, 10, "rank", 0, 500 * MS, 1);
	put_region(20, 0, 500 * MS, "comm", "all_reduce");
	for (uint64_t at = 100 * MS; at < 500 * MS; at += 40 * MS)
		put_wait(.pid = 20, .from = at, .to = at + 36 * MS, .by = "thread", .by_pid = 30);
	r = path_loaded();
	for (uint32_t i = 0; i < r->path->root[0].sums.n; i++)
		if (r->path->root[0].sums.v[i].leaf.doing == PATH_TALKS)
			assert_true(r->path->root[0].sums.v[i].ns < 60 * MS);
	report_free(r);
}

/* What is not of its process, nor of its children, is none of its business. */
static void a_poll_is_not_what_a_stranger_did(void **state)
{
	struct report *r;

	put_polls("nanosleep", 0);
	put_loader(1);
	put_workload(10, 1000 * MS);
	r = path_loaded();
	expect_part(r, "poll", "python", "nanosleep", 400 * MS);
	report_free(r);
}

/* With work between them these are sleeps, and so is a single one. */
static void a_sleep_is_no_poll(void **state)
{
	struct report *r;

	put_polls("nanosleep", 18 * MS);
	put_loader(10);
	r = path_loaded();
	expect_part(r, "sleep", "python", NULL, 40 * MS);
	expect_part(r, "disk-read", "loader", NULL, 0);
	report_free(r);
}

/* A server that sleeps before each answer: 20 waits for it, and runs for a moment. */
static void a_thread_that_ends_waits_between_its_sleeps_does_not_poll(void **state)
{
	struct report *r;

	put_polls("clock_nanosleep", 0);
	put_process(20, 10, "client", 0, 1000 * MS);
	for (uint64_t at = 100 * MS; at < 500 * MS; at += 2 * MS)
		put_wait(.pid = 20, .from = at + MS / 2, .to = at + 2 * MS, .call = "recvfrom", .by = "thread",
			 .by_pid = 10);
	r = path_loaded();
	expect_part(r, "sleep", "python", NULL, 400 * MS);
	expect_part(r, "poll", "python", "clock_nanosleep", 0);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(a_poll_is_what_its_children_did_meanwhile),
		IN_TREE(a_poll_is_as_much_as_the_others_did),
		IN_TREE(a_server_is_no_work_beside_work),
		IN_TREE(a_server_beside_hardly_any_work_may_be_it),
		IN_TREE(ranks_of_one_name_are_apart),
		IN_TREE(a_poll_is_not_what_a_stranger_did),
		IN_TREE(a_sleep_is_no_poll),
		IN_TREE(a_thread_that_ends_waits_between_its_sleeps_does_not_poll),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
