/* SPDX-License-Identifier: BSD-2-Clause */
/* See trace.h: process 10 is the root, of one second. */
#include "report/path/waits.h"

#include "trace.h"

/* The root waits for Python's lock in turns of 5 ms with RAN between them, until thread 11 gives it up at 520. */
static struct report *turns(uint64_t ran, const char *call)
{
	uint64_t at = 100 * MS;

	put_root(10, "python", 1000 * MS);
	put_event(0, "thread", 10, 11, 1, "python", NULL);
	for (unsigned int i = 0; i < 20; i++, at += 5 * MS + ran)
		put_wait(.pid = 10, .from = at, .to = at + 5 * MS, .call = "futex", .by = "timer");
	put_wait(.pid = 10, .from = at, .to = at + 5 * MS, .call = call, .by = "thread", .by_pid = 10, .by_tid = 11);
	return path_loaded();
}

static void a_wait_that_begins_again_at_once_is_one_wait(void **state)
{
	struct report *r = turns(MS / 100, "futex");

	expect_part(r, "cpu", "python'", NULL, 105 * MS);
	expect_part(r, "timeout", "python", NULL, 0);
	expect_part(r, "cpu", "python", NULL, 895 * MS);
	report_free(r);
}

/* A thread that works between its timeouts has other things to do. */
static void a_wait_after_some_work_is_another_one(void **state)
{
	struct report *r = turns(3 * MS, "futex");

	expect_part(r, "timeout", "python", "futex", 100 * MS);
	expect_part(r, "cpu", "python'", NULL, 5 * MS);
	report_free(r);
}

static void a_wait_in_another_call_is_another_one(void **state)
{
	struct report *r = turns(MS / 100, "read");

	/* the timeouts are a poll, and thread 11 works meanwhile */
	expect_part(r, "cpu", "python'", NULL, 105 * MS);
	expect_part(r, "timeout", "python", NULL, 0);
	report_free(r);
}

/* A time in the queue between two turns makes no difference. */
static void a_lost_cpu_between_two_turns(void **state)
{
	struct report *r;

	put_root(10, "python", 1000 * MS);
	put_process(20, 1, "other", 0, 1000 * MS);
	put_wait(.pid = 10, .from = 100 * MS, .to = 105 * MS, .call = "futex", .by = "timer");
	put_wait(.pid = 10, .from = 105 * MS, .to = 115 * MS, .runq = 10 * MS, .call = "-", .state = "runq");
	put_wait(.pid = 10, .from = 115 * MS, .to = 120 * MS, .call = "futex", .by = "thread", .by_pid = 20);
	r = path_loaded();
	expect_part(r, "cpu", "other", NULL, 10 * MS);
	expect_part(r, "runq", "python", NULL, 10 * MS);
	report_free(r);
}

/* Rows come late now and then. */
static void rows_may_be_in_any_order(void **state)
{
	struct report *r;

	put_root(10, "a", 1000 * MS);
	put_wait(.pid = 10, .from = 500 * MS, .to = 600 * MS, .call = "nanosleep", .by = "timer");
	put_wait(.pid = 10, .from = 100 * MS, .to = 200 * MS, .by = "net", .peer = "10.0.0.5:80");
	put_wait(.pid = 10, .from = 300 * MS, .to = 400 * MS, .by = "thread", .by_pid = 77, .by_comm = "cron");
	r = path_loaded();
	expect_part(r, "sleep", "a", NULL, 100 * MS);
	expect_part(r, "network", "a", "10.0.0.5:80", 100 * MS);
	expect_part(r, "outside", "a", "cron", 100 * MS);
	expect_part(r, "cpu", "a", NULL, 700 * MS);
	report_free(r);
}

/* Of two waits at a time, which no thread can have, the earlier one counts. */
static void waits_that_overlap_count_once(void **state)
{
	struct report *r;

	put_root(10, "a", 1000 * MS);
	put_wait(.pid = 10, .from = 100 * MS, .to = 500 * MS, .call = "nanosleep", .by = "timer");
	put_wait(.pid = 10, .from = 200 * MS, .to = 600 * MS, .by = "net", .peer = "10.0.0.5:80");
	r = path_loaded();
	expect_part(r, "sleep", "a", NULL, 400 * MS);
	expect_part(r, "network", "a", NULL, 100 * MS);
	expect_part(r, "cpu", "a", NULL, 500 * MS);
	report_free(r);
}

static void a_terminal_is_known_by_its_path(void **state)
{
	struct report *r;

	put_root(10, "a", 1000 * MS);
	put(FILES, 0, "1\t0:5\t3\tchr\tdevpts\t0\tok\t/dev/pts/0");
	put(FILES, 0, "2\t0:5\t4\tchr\tdevtmpfs\t0\tok\t/dev/nvidia0");
	put_wait(.pid = 10, .from = 100 * MS, .to = 200 * MS, .by = "kernel", .by_comm = "kworker/u8:1", .fid = 1,
		 .file = "0");
	put_wait(.pid = 10, .from = 300 * MS, .to = 400 * MS, .call = "ioctl", .by = "interrupt", .fid = 2,
		 .file = "nvidia0");
	put_wait(.pid = 10, .from = 500 * MS, .to = 600 * MS, .by = "kernel", .by_comm = "kworker/u8:1", .fid = 3,
		 .file = "x");
	r = path_loaded();
	expect_part(r, "terminal", "a", NULL, 100 * MS);
	expect_part(r, "device", "a", "nvidia#", 100 * MS);
	expect_part(r, "kernel", "a", "kworker/u8:1", 100 * MS);
	report_free(r);
}

/* A signal that a thread of the job has sent is a wait for that thread. */
static void a_signal_has_a_sender(void **state)
{
	struct report *r;

	put_root(10, "a", 1000 * MS);
	put_process(20, 10, "b", 0, 1000 * MS);
	put_wait(.pid = 10, .from = 100 * MS, .to = 200 * MS, .call = "rt_sigtimedwait", .by = "signal", .by_pid = 20);
	put_wait(.pid = 10, .from = 300 * MS, .to = 400 * MS, .call = "rt_sigtimedwait", .by = "signal", .by_pid = 77,
		 .by_comm = "kill");
	put_wait(.pid = 10, .from = 500 * MS, .to = 600 * MS, .call = "pause", .by = "signal");
	r = path_loaded();
	expect_part(r, "cpu", "b", NULL, 100 * MS);
	expect_part(r, "signal", "a", "kill", 100 * MS);
	expect_part(r, "signal", "a", "-", 100 * MS);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(a_wait_that_begins_again_at_once_is_one_wait),
		IN_TREE(a_wait_after_some_work_is_another_one),
		IN_TREE(a_wait_in_another_call_is_another_one),
		IN_TREE(a_lost_cpu_between_two_turns),
		IN_TREE(rows_may_be_in_any_order),
		IN_TREE(waits_that_overlap_count_once),
		IN_TREE(a_terminal_is_known_by_its_path),
		IN_TREE(a_signal_has_a_sender),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
