/* SPDX-License-Identifier: BSD-2-Clause */
/* See trace.h: process 10 is the root, of one second, which sleeps for 20 ms from 100 to 500 again and again. */
#include "report/path/waits/tries.h"

#include "../trace.h"

static void put_sleeps(void)
{
	put_root(10, "python", 1000 * MS);
	for (uint64_t at = 100 * MS; at < 500 * MS; at += 20 * MS)
		put_wait(.pid = 10, .from = at, .to = at + 20 * MS, .call = "clock_nanosleep", .by = "timer");
}

/* The sums of the 200 ms before AT. */
static void put_tries(uint64_t at, unsigned int pid, const char *func, const char *request, unsigned int failed,
		      int error, const char *folder)
{
	put(META_SUMS, at, "%u\tpython\t%s\t%s\t200000000\t%u\t%u\t%d\t1000\t100\t%s", pid, func, request, failed + 1,
	    failed, error, folder);
}

static void pauses_between_tries_to_lock_a_file_wait_for_the_lock(void **state)
{
	struct report *r;

	put_sleeps();
	put_tries(300 * MS, 10, "fcntl", "F_SETLK", 10, EAGAIN, "/data/db");
	put_tries(500 * MS, 10, "fcntl", "F_SETLK", 10, EAGAIN, "/data/db");
	r = path_loaded();
	expect_part(r, "lock-tried", "python", "in /data/db", 400 * MS);
	report_free(r);
}

/* As far as it does anything; who sleeps with the lock has the wait left to it. */
static void what_the_holder_does_meanwhile_it_does_with_the_lock(void **state)
{
	struct report *r;

	put_sleeps();
	put_tries(500 * MS, 10, "flock", "-", 20, EAGAIN, "/data");
	put_process(20, 10, "holder", 0, 500 * MS);
	put_wait(.pid = 20, .from = 100 * MS, .to = 400 * MS, .call = "pread64", .state = "disk", .by = "disk",
		 .fid = 1, .file = "x");
	r = path_loaded();
	assert_true(part_of(r, "disk-read", "holder", "x").leaf.held);
	report_free(r);
}

static void pauses_between_looks_for_a_file_wait_for_it(void **state)
{
	struct report *r;

	put_sleeps();
	put_tries(300 * MS, 10, "newfstatat", "-", 10, ENOENT, "/data");
	put_tries(500 * MS, 10, "newfstatat", "-", 10, ENOENT, "/data");
	put_tries(500 * MS, 10, "readlink", "-", 4, ENOENT, "/etc");
	r = path_loaded();
	expect_part(r, "awaited", "python", "in /data (newfstatat: ENOENT)", 400 * MS);
	report_free(r);
}

/* A search along a path is over within an interval; one failure is chance; other errors and processes are no tries. */
static void what_fails_beside_the_pauses_is_not_waited_for(void **state)
{
	struct report *r;

	put_sleeps();
	put_tries(500 * MS, 10, "newfstatat", "-", 3000, ENOENT, "/usr/lib/python3");
	put_tries(300 * MS, 10, "fcntl", "F_SETLK", 2, EAGAIN, "/data/db");
	put_tries(300 * MS, 10, "fcntl", "F_GETLK", 9, EINVAL, "/data/db");
	put_tries(300 * MS, 11, "fcntl", "F_SETLK", 9, EAGAIN, "/data/db");
	r = path_loaded();
	expect_part(r, "poll", "python", "clock_nanosleep", 400 * MS);
	report_free(r);
}

/* What was tried before and after does not count. */
static void tries_at_another_time_are_not_these(void **state)
{
	struct report *r;

	put_sleeps();
	put_tries(100 * MS, 10, "flock", "-", 9, EAGAIN, "/data");
	put_tries(900 * MS, 10, "flock", "-", 9, EAGAIN, "/other");
	r = path_loaded();
	expect_part(r, "poll", "python", "clock_nanosleep", 400 * MS);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(pauses_between_tries_to_lock_a_file_wait_for_the_lock),
		IN_TREE(what_the_holder_does_meanwhile_it_does_with_the_lock),
		IN_TREE(pauses_between_looks_for_a_file_wait_for_it),
		IN_TREE(what_fails_beside_the_pauses_is_not_waited_for),
		IN_TREE(tries_at_another_time_are_not_these),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
