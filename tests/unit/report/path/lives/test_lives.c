/* SPDX-License-Identifier: BSD-2-Clause */
/* See trace.h: process 10 is the root, of one second. */
#include "report/path/lives/lives.h"

#include "../trace.h"

/* TID 20 is a process that ends at 300, and from 500 on a thread of the root. */
static void a_number_that_is_used_again_is_another_thread(void **state)
{
	struct report *r;

	put_root(10, "a", 1000 * MS);
	put_process(20, 10, "b", 0, 300 * MS);
	put_event(500 * MS, "thread", 10, 20, 1, "a", NULL);
	put_wait(.pid = 20, .from = 100 * MS, .to = 200 * MS, .call = "pread64", .state = "disk", .by = "disk",
		 .fid = 1, .file = "first");
	put_wait(.pid = 10, .from = 100 * MS, .to = 250 * MS, .by = "thread", .by_pid = 20);
	put_wait(.pid = 10, .tid = 20, .from = 600 * MS, .to = 700 * MS, .call = "pread64", .state = "disk",
		 .by = "disk", .fid = 1, .file = "second");
	put_wait(.pid = 10, .from = 600 * MS, .to = 750 * MS, .by = "thread", .by_pid = 10, .by_tid = 20);
	r = path_loaded();
	expect_part(r, "disk-read", "b", "first", 100 * MS);
	expect_part(r, "cpu", "b", NULL, 50 * MS);
	expect_part(r, "disk-read", "a'", "second", 100 * MS);
	expect_part(r, "cpu", "a'", NULL, 50 * MS);
	report_free(r);
}

/* Process 20 has ended, and a process that is not of the job has its number now. */
static void a_number_of_the_job_may_be_outside_later(void **state)
{
	struct report *r;

	put_root(10, "a", 3000 * MS);
	put_process(20, 10, "b", 0, 300 * MS);
	put_wait(.pid = 10, .from = 1500 * MS, .to = 1600 * MS, .by = "thread", .by_pid = 20, .by_comm = "cron");
	r = path_loaded();
	expect_part(r, "outside", "a", "cron", 100 * MS);
	report_free(r);
}

/* A thread that executes a program goes on under the number of the first thread, which has ended. */
static void a_thread_that_executes_takes_over_the_number(void **state)
{
	struct report *r;

	put_event(0, "exec", 10, 10, 1, "a", NULL);
	put_event(1, "thread", 10, 11, 1, "a", NULL);
	put_event(400 * MS, "exit", 10, 10, 1, "a", NULL);
	put_event(400 * MS, "exec", 10, 10, 1, "b", NULL);
	put_event(1000 * MS, "exit", 10, 10, 1, "b", "0");
	put_wait(.pid = 10, .from = 500 * MS, .to = 600 * MS, .call = "nanosleep", .by = "timer");
	r = path_loaded();
	expect_part(r, "cpu", "b", NULL, 900 * MS);
	expect_part(r, "sleep", "b", NULL, 100 * MS);
	report_free(r);
}

/* The root's first thread ends before its others: the rest is the end of it. */
static void a_process_lasts_as_long_as_its_last_thread(void **state)
{
	struct report *r;

	put_event(0, "exec", 10, 10, 1, "a", NULL);
	put_event(1, "thread", 10, 11, 1, "a", NULL);
	put_event(400 * MS, "exit", 10, 10, 1, "a", NULL);
	put_event(1000 * MS, "exit", 10, 11, 1, "a", "0");
	put_wait(.pid = 10, .from = 100 * MS, .to = 200 * MS, .call = "nanosleep", .by = "timer");
	r = path_loaded();
	assert_int_equal(wall_of(r), 1000 * MS);
	expect_part(r, "ending", "a", NULL, 600 * MS);
	report_free(r);
}

/* Without a row of a thread in pids.out its waits count nowhere, and a note says so. */
static void rows_of_threads_that_are_not_known(void **state)
{
	struct report *r;
	bool noted = false;

	put_root(10, "a", 1000 * MS);
	put_wait(.pid = 99, .from = 100 * MS, .to = 200 * MS, .by = "thread", .by_pid = 10);
	put_wait(.pid = 10, .from = 100 * MS, .to = 200 * MS, .by = "thread", .by_pid = 99, .by_comm = "x");
	r = path_loaded();
	expect_part(r, "outside", "a", "x", 100 * MS);
	for (unsigned int i = 0; i < r->n_notes; i++)
		noted |= strcmp(r->notes[i], "waits: 1 row is of threads that pids.out lacks, and left out") == 0;
	assert_true(noted);
	report_free(r);
}

static void events_that_no_kernel_has_do_no_harm(void **state)
{
	struct report *r;

	put_root(10, "a", 1000 * MS);
	put_event(5, "fork", 20, 20, 20, "own-parent", NULL);
	put_event(5, "fork", 20, 20, 20, "own-parent", NULL);
	put_event(6, "exit", 20, 20, 20, "x", "0");
	put_event(7, "exit", 20, 20, 20, "x", "0");
	put_event(8, "snapshot", 30, 31, 40, "x", NULL);
	put_event(8, "snapshot", 40, 40, 30, "x", NULL);
	put_event(9, "left", 50, 50, 30, "x", NULL);
	put_event(9, "rename", 60, 61, 0, "x", NULL);
	put_event(9, "dance", 70, 70, 0, "x", NULL);
	put(PIDS, 9, "4294967295\t4294967295\t1\tx\tfork\t-\t1\t0\t/\t-\t-");
	put_wait(.pid = 10, .from = 100 * MS, .to = 200 * MS, .by = "thread", .by_pid = 30, .by_tid = 31);
	r = path_loaded();
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(a_number_that_is_used_again_is_another_thread),
		IN_TREE(a_number_of_the_job_may_be_outside_later),
		IN_TREE(a_thread_that_executes_takes_over_the_number),
		IN_TREE(a_process_lasts_as_long_as_its_last_thread),
		IN_TREE(rows_of_threads_that_are_not_known),
		IN_TREE(events_that_no_kernel_has_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
