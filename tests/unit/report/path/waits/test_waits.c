/* SPDX-License-Identifier: BSD-2-Clause */
/* See trace.h: process 10 is the root, of one second. */
#include "report/path/waits/waits.h"

#include "../trace.h"

/* The root waits 20 times for LENGTH until a timeout, with RAN between them; then thread 11 ends a wait in CALL. */
static struct report *turns(uint64_t length, uint64_t ran, const char *call)
{
	uint64_t at = 100 * MS;

	put_root(10, "python", 1000 * MS);
	put_event(0, "thread", 10, 11, 1, "python", NULL);
	for (unsigned int i = 0; i < 20; i++, at += length + ran)
		put_wait(.pid = 10, .from = at, .to = at + length, .call = "futex", .by = "timer");
	put_wait(.pid = 10, .from = at, .to = at + 5 * MS, .call = call, .by = "thread", .by_pid = 10, .by_tid = 11);
	return path_loaded();
}

static void a_wait_that_begins_again_at_once_is_one_wait(void **state)
{
	struct report *r = turns(5 * MS, MS / 100, "futex");

	expect_part(r, "cpu", "python'", NULL, 105 * MS);
	expect_part(r, "timeout", "python", NULL, 0);
	expect_part(r, "cpu", "python", NULL, 895 * MS);
	report_free(r);
}

/* A thread that works between its timeouts has other things to do. */
static void a_wait_after_some_work_is_another_one(void **state)
{
	struct report *r = turns(8 * MS, 3 * MS, "futex");

	expect_part(r, "timeout", "python", "futex", 160 * MS);
	expect_part(r, "cpu", "python'", NULL, 5 * MS);
	report_free(r);
}

/* Many turns of 5 ms are for Python's lock also where it comes so soon after them that this wait has no row. */
static void work_between_turns_of_5_ms_is_done_with_the_lock(void **state)
{
	struct report *r = turns(5 * MS, 3 * MS, "futex");

	expect_part(r, "timeout", "python", NULL, 0);
	expect_part(r, "cpu", "python'", NULL, 105 * MS);
	report_free(r);
}

static void a_wait_in_another_call_is_another_one(void **state)
{
	struct report *r = turns(5 * MS, MS / 100, "read");

	/* the timeouts are a poll, and thread 11 works meanwhile */
	expect_part(r, "cpu", "python'", NULL, 105 * MS);
	expect_part(r, "timeout", "python", NULL, 0);
	report_free(r);
}

/* The kernel looks at each tick whether a lease is gone: the wait is its holder's, also of one whose end has no row. */
static void an_open_waits_for_the_holder_of_a_lease(void **state)
{
	struct report *r;

	put_root(10, "python", 1000 * MS);
	put_wait(.pid = 10, .from = 100 * MS, .to = 110 * MS, .call = "openat", .by = "timer");
	put_wait(.pid = 10, .from = 300 * MS, .to = 310 * MS, .call = "openat", .by = "timer");
	put_wait(.pid = 10, .from = 310 * MS, .to = 315 * MS, .call = "openat", .by = "thread", .by_pid = 99,
		 .by_comm = "smbd", .by_call = "fcntl");
	put_wait(.pid = 10, .from = 500 * MS, .to = 520 * MS, .call = "openat", .by = "timer");
	r = path_loaded();
	expect_part(r, "held", "python", "smbd", 25 * MS);
	expect_part(r, "timeout", "python", "openat", 20 * MS);
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

/* The root waits 20 times for NS, until PID's thread TID gives up what it waits for. */
static struct report *turns_of(uint64_t ns, unsigned int pid, unsigned int tid)
{
	put_root(10, "python", 1200 * MS);
	put_event(0, "thread", 10, 11, 1, "python", NULL);
	put_process(20, 10, "other", 0, 1200 * MS);
	for (unsigned int i = 0; i < 20; i++)
		put_wait(.pid = 10, .from = 100 * MS + i * ns, .to = 100 * MS + (i + 1) * ns, .call = "futex",
			 .by = i < 19 || !pid ? "timer" : "thread", .by_pid = i < 19 ? 0 : pid,
			 .by_tid = i < 19 ? 0 : tid);
	return path_loaded();
}

static void turns_of_5_ms_are_for_the_lock_of_python(void **state)
{
	struct report *r = turns_of(5 * MS, 10, 11);

	expect_part(r, "cpu", "python'", NULL, 100 * MS);
	assert_true(part_of(r, "cpu", "python'", NULL).leaf.gil);
	assert_false(part_of(r, "cpu", "python", NULL).leaf.gil);
	report_free(r);
}

/* The lock comes between two turns, after less than a row: a timer ends them all. */
static void turns_that_a_timer_ends_are_for_it_too(void **state)
{
	struct report *r = turns_of(5 * MS, 0, 0);

	assert_true(part_of(r, "cpu", "python'", NULL).leaf.gil);
	assert_true(part_of(r, "cpu", "python'", NULL).leaf.inferred);
	assert_false(part_of(r, "cpu", "other", NULL).leaf.gil);
	report_free(r);
}

/* They take a little longer than asked for, on a busy machine even more. */
static void turns_of_6_ms_are_for_it_too(void **state)
{
	struct report *r = turns_of(6 * MS, 10, 11);

	assert_true(part_of(r, "cpu", "python'", NULL).leaf.gil);
	report_free(r);
}

/* As with queue.get(timeout=0.05). */
static void turns_of_50_ms_are_not(void **state)
{
	struct report *r = turns_of(50 * MS, 10, 11);

	expect_part(r, "cpu", "python'", NULL, 1000 * MS);
	assert_false(part_of(r, "cpu", "python'", NULL).leaf.gil);
	report_free(r);
}

/* A process cannot have the lock of another one. */
static void turns_for_another_process_are_not(void **state)
{
	struct report *r = turns_of(5 * MS, 20, 20);

	expect_part(r, "cpu", "other", NULL, 100 * MS);
	assert_false(part_of(r, "cpu", "other", NULL).leaf.gil);
	report_free(r);
}

/* The last turn alone shows no lock: a condition may take as long. */
static void one_wait_of_5_ms_is_not(void **state)
{
	struct report *r;

	put_root(10, "python", 1000 * MS);
	put_event(0, "thread", 10, 11, 1, "python", NULL);
	put_wait(.pid = 10, .from = 100 * MS, .to = 105 * MS, .call = "futex", .by = "thread", .by_pid = 10,
		 .by_tid = 11);
	r = path_loaded();
	expect_part(r, "cpu", "python'", NULL, 5 * MS);
	assert_false(part_of(r, "cpu", "python'", NULL).leaf.gil);
	report_free(r);
}

/* FUSE: a process outside the job ends calls on names, and reads of regular files. */
static void a_call_that_a_process_outside_serves_is_storage(void **state)
{
	struct report *r;

	put_root(10, "a", 1000 * MS);
	put(FILES, 0, "1\t0:77\t1\treg\tfuse.sshfs\t1048576\tok\t/mnt/x.bin");
	put(FILES, 0, "2\t0:13\t1\tfifo\tpipefs\t0\tok\tpipe:[1]");
	put_wait(.pid = 10, .from = 100 * MS, .to = 200 * MS, .call = "newfstatat", .by = "thread", .by_pid = 77,
		 .by_comm = "sshfs");
	put_wait(.pid = 10, .from = 300 * MS, .to = 350 * MS, .call = "openat", .by = "thread", .by_pid = 77,
		 .by_comm = "sshfs");
	put_wait(.pid = 10, .from = 400 * MS, .to = 500 * MS, .call = "pread64", .by = "thread", .by_pid = 77,
		 .by_comm = "sshfs", .fid = 1, .file = "x.bin");
	put_wait(.pid = 10, .from = 600 * MS, .to = 700 * MS, .by = "thread", .by_pid = 77, .by_comm = "cat", .fid = 2,
		 .file = "pipe:[1]");
	put_wait(.pid = 10, .from = 800 * MS, .to = 900 * MS, .call = "poll", .by = "thread", .by_pid = 77,
		 .by_comm = "sshfs");
	r = path_loaded();
	expect_part(r, "disk-metadata", "a", "by sshfs", 150 * MS);
	expect_part(r, "disk-read", "a", "x.bin by sshfs", 100 * MS);
	expect_part(r, "outside", "a", "cat", 100 * MS);
	expect_part(r, "outside", "a", "sshfs", 100 * MS);
	report_free(r);
}

/* An open has no file yet: of a FIFO it waits for the other end. A job without FUSE has no other such opens. */
static void an_open_that_waits_for_the_other_end_is_no_storage(void **state)
{
	struct report *r;

	put_root(10, "a", 1000 * MS);
	put_file(1, "/data/x.bin");
	put_wait(.pid = 10, .from = 100 * MS, .to = 500 * MS, .call = "openat", .by = "thread", .by_pid = 77,
		 .by_comm = "cat");
	r = path_loaded();
	expect_part(r, "outside", "a", "cat", 400 * MS);
	expect_part(r, "disk-metadata", "a", NULL, 0);
	report_free(r);
}

/* A call on a name that a process of the job ends is what that process does. */
static void a_call_that_the_job_serves_is_followed(void **state)
{
	struct report *r;

	put_root(10, "a", 1000 * MS);
	put_process(20, 10, "fuse", 0, 1000 * MS);
	put_wait(.pid = 10, .from = 100 * MS, .to = 200 * MS, .call = "openat", .by = "thread", .by_pid = 20);
	r = path_loaded();
	expect_part(r, "cpu", "fuse", NULL, 100 * MS);
	expect_part(r, "disk-metadata", "a", NULL, 0);
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
	/* the last one has none, as of a timer: the process waits for its child */
	expect_part(r, "cpu", "b", NULL, 200 * MS);
	expect_part(r, "signal", "a", "kill", 100 * MS);
	report_free(r);
}

/* It waits for its child until the trace ends, or until timeout(1) ends both; without a child it waits for a signal. */
static void a_wait_that_nobody_ended_is_for_the_child(void **state)
{
	struct report *r;

	put_root(10, "a", 1000 * MS);
	put_process(20, 10, "b", 200 * MS, 1000 * MS);
	put_process(30, 10, "short", 300 * MS, 400 * MS);
	put_wait(.pid = 20, .from = 500 * MS, .to = 900 * MS, .state = "disk", .by = "disk", .fid = 1, .file = "x");
	put_wait(.pid = 10, .from = 10 * MS, .to = 110 * MS, .call = "pause", .by = "signal");
	put_wait(.pid = 10, .from = 300 * MS, .to = 1000 * MS, .call = "wait4", .by = "end");
	r = path_loaded();
	expect_part(r, "disk-read", "b", "x", 400 * MS);
	expect_part(r, "cpu", "b", NULL, 300 * MS);
	expect_part(r, "signal", "a", "-", 100 * MS);
	report_free(r);
}

/* Of two children that live as long, one reads and the other one waits for it: what they did is what it waited for. */
static void a_wait_that_nobody_ended_is_for_what_children_did(void **state)
{
	struct report *r;

	put_root(10, "sh", 1000 * MS);
	put_process(20, 10, "python", 0, 1000 * MS);
	put_process(30, 10, "tee", 0, 1000 * MS);
	put_wait(.pid = 20, .from = 0, .to = 1000 * MS, .state = "disk", .by = "disk", .fid = 1, .file = "x");
	put_wait(.pid = 30, .from = 0, .to = 1000 * MS, .call = "read", .by = "end");
	put_wait(.pid = 10, .from = 0, .to = 1000 * MS, .call = "wait4", .by = "end");
	r = path_loaded();
	expect_part(r, "disk-read", "python", "x", 1000 * MS);
	assert_true(part_of(r, "disk-read", "python", "x").leaf.inferred);
	report_free(r);
}

/* A signal that ends a read shows nothing of what would have been read: the sender is not what it waited for. */
static void a_signal_that_interrupts_is_no_answer(void **state)
{
	struct report *r;

	put_root(10, "timeout", 1000 * MS);
	put_process(20, 10, "python", 0, 1000 * MS);
	put_wait(.pid = 20, .from = 100 * MS, .to = 900 * MS, .call = "read", .by = "signal", .by_pid = 10);
	put_wait(.pid = 10, .from = 0, .to = 900 * MS, .call = "rt_sigsuspend", .by = "signal");
	r = path_loaded();
	expect_part(r, "unended", "python", "read", 800 * MS);
	report_free(r);
}

/* Nor is it what a sleep was for, where it waits for the sleeper itself. */
static void a_sleep_that_is_broken_off_is_a_sleep(void **state)
{
	struct report *r;

	put_root(10, "timeout", 1000 * MS);
	put_process(20, 10, "python", 0, 1000 * MS);
	put_wait(.pid = 20, .from = 100 * MS, .to = 900 * MS, .call = "clock_nanosleep", .by = "signal", .by_pid = 10);
	put_wait(.pid = 10, .from = 0, .to = 900 * MS, .call = "rt_sigsuspend", .by = "signal");
	put_wait(.pid = 10, .from = 900 * MS, .to = 1000 * MS, .call = "rt_sigsuspend", .by = "exit", .by_pid = 20);
	r = path_loaded();
	expect_part(r, "sleep", "python", "-", 800 * MS);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(an_open_waits_for_the_holder_of_a_lease),
		IN_TREE(a_wait_that_begins_again_at_once_is_one_wait),
		IN_TREE(a_wait_after_some_work_is_another_one),
		IN_TREE(work_between_turns_of_5_ms_is_done_with_the_lock),
		IN_TREE(a_wait_in_another_call_is_another_one),
		IN_TREE(a_lost_cpu_between_two_turns),
		IN_TREE(rows_may_be_in_any_order),
		IN_TREE(waits_that_overlap_count_once),
		IN_TREE(turns_of_5_ms_are_for_the_lock_of_python),
		IN_TREE(turns_that_a_timer_ends_are_for_it_too),
		IN_TREE(turns_of_6_ms_are_for_it_too),
		IN_TREE(turns_of_50_ms_are_not),
		IN_TREE(turns_for_another_process_are_not),
		IN_TREE(one_wait_of_5_ms_is_not),
		IN_TREE(a_call_that_a_process_outside_serves_is_storage),
		IN_TREE(an_open_that_waits_for_the_other_end_is_no_storage),
		IN_TREE(a_call_that_the_job_serves_is_followed),
		IN_TREE(a_terminal_is_known_by_its_path),
		IN_TREE(a_signal_has_a_sender),
		IN_TREE(a_wait_that_nobody_ended_is_for_the_child),
		IN_TREE(a_wait_that_nobody_ended_is_for_what_children_did),
		IN_TREE(a_signal_that_interrupts_is_no_answer),
		IN_TREE(a_sleep_that_is_broken_off_is_a_sleep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
