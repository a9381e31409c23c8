/* SPDX-License-Identifier: BSD-2-Clause */
/* The path as the root saw it: see trace.h. Process 10 is the root, mostly of one second. */
#include "report/path/walk.h"

#include "trace.h"

/* Two threads hand over: while the first one waits for the second, the second one computes and reads. */
static void a_wait_for_a_thread_is_what_that_thread_did(void **state)
{
	struct report *r;

	put_root(10, "python", 1000 * MS);
	put_event(0, "thread", 10, 11, 1, "python", NULL);
	/* 11 computes, but for a read from 300 to 500 */
	put_wait(.pid = 10, .tid = 11, .from = 300 * MS, .to = 510 * MS, .runq = 10 * MS, .call = "pread64",
		 .state = "disk", .by = "disk", .fid = 2, .file = "a.bin");
	/* 10 waits from 100 to 800, and gets a CPU at 850 */
	put_wait(.pid = 10, .from = 100 * MS, .to = 850 * MS, .runq = 50 * MS, .call = "futex", .by = "thread",
		 .by_pid = 10, .by_tid = 11);
	r = path_loaded();
	assert_int_equal(wall_of(r), 1000 * MS);
	expect_part(r, "cpu", "python", NULL, 250 * MS);
	expect_part(r, "cpu", "python'", NULL, 490 * MS);
	expect_part(r, "disk-read", "python'", "a.bin", 200 * MS);
	expect_part(r, "runq", "python'", NULL, 10 * MS);
	expect_part(r, "runq", "python", NULL, 50 * MS);
	report_free(r);
}

/* The shell starts the trainer and waits for its end; what comes after is the end of the trainer's process. */
static void a_shell_waits_for_its_child(void **state)
{
	struct report *r;

	put_root(10, "sh", 1000 * MS);
	put_event(100 * MS, "fork", 20, 20, 10, "sh", NULL);
	put_event(120 * MS, "exec", 20, 20, 10, "python", NULL);
	put_event(900 * MS, "exit", 20, 20, 10, "python", "0");
	put_wait(.pid = 20, .from = 200 * MS, .to = 600 * MS, .call = "fdatasync", .state = "blocked", .by = "kernel",
		 .by_comm = "jbd2/vda-8", .fid = 3, .file = "log");
	put_wait(.pid = 10, .from = 50 * MS, .to = 950 * MS, .call = "wait4", .by = "exit", .by_pid = 20);
	r = path_loaded();
	/* it is woken by a child that was not there yet for 50 ms: there must have been another one */
	expect_part(r, "unborn", "python", NULL, 50 * MS);
	expect_part(r, "cpu", "sh", NULL, 100 * MS);
	expect_part(r, "cpu", "python", NULL, 400 * MS);
	expect_part(r, "disk-sync", "python", "log", 400 * MS);
	expect_part(r, "ending", "python", NULL, 50 * MS);
	report_free(r);
}

/* Ten samples of the loader are one part, and only the time counts in which the trainer waited for them. */
static void a_trainer_waits_for_a_loader_that_reads(void **state)
{
	struct report *r;
	char file[32];

	put_root(10, "python", 1000 * MS);
	put_event(0, "fork", 20, 20, 10, "python", NULL);
	put_event(1, "rename", 20, 20, 10, "pt_data_worker", NULL);
	for (unsigned int i = 0; i < 10; i++) {
		snprintf(file, sizeof(file), "sample_%u.jpg", 9 + i);
		put_wait(.pid = 20, .from = (100 * i + 10) * MS, .to = (100 * i + 70) * MS, .call = "openat",
			 .state = "disk", .by = "disk", .fid = 4, .file = file);
		put_wait(.pid = 10, .from = (100 * i + 30) * MS, .to = (100 * i + 80) * MS, .call = "poll",
			 .by = "thread", .by_pid = 20);
	}
	r = path_loaded();
	expect_part(r, "cpu", "python", NULL, 500 * MS);
	expect_part(r, "disk-metadata", "pt_data_worker", "sample_#.jpg", 400 * MS);
	expect_part(r, "cpu", "pt_data_worker", NULL, 100 * MS);
	report_free(r);
}

static void threads_that_wait_for_each_other_are_shown(void **state)
{
	struct report *r;

	put_root(10, "a", 1000 * MS);
	put_process(20, 10, "b", 0, 1000 * MS);
	put_wait(.pid = 10, .from = 100 * MS, .to = 900 * MS, .by = "thread", .by_pid = 20);
	put_wait(.pid = 20, .from = 300 * MS, .to = 1000 * MS, .by = "thread", .by_pid = 10);
	r = path_loaded();
	expect_part(r, "cpu", "a", NULL, 200 * MS);
	expect_part(r, "cpu", "b", NULL, 200 * MS);
	expect_part(r, "cycle", "a", NULL, 600 * MS);
	report_free(r);
}

/* Nothing shows which thread of the process has created it. */
static void before_its_birth_a_thread_is_its_creator(void **state)
{
	struct report *r;

	put_root(10, "a", 1000 * MS);
	put_process(20, 10, "b", 0, 1000 * MS);
	put_event(500 * MS, "thread", 20, 21, 10, "b", NULL);
	put_wait(.pid = 20, .from = 100 * MS, .to = 300 * MS, .call = "connect", .by = "net", .peer = "10.0.0.5:9000");
	put_wait(.pid = 10, .from = 200 * MS, .to = 900 * MS, .by = "thread", .by_pid = 20, .by_tid = 21);
	r = path_loaded();
	expect_part(r, "network", "b", "10.0.0.5:9000", 100 * MS);
	expect_part(r, "cpu", "b", NULL, 200 * MS);
	expect_part(r, "cpu", "b'", NULL, 400 * MS);
	report_free(r);
}

static void off_the_cpu_without_a_wait(void **state)
{
	struct report *r;

	put_root(10, "a", 1000 * MS);
	put_wait(.pid = 10, .from = 100 * MS, .to = 200 * MS, .runq = 100 * MS, .call = "-", .state = "runq");
	put_wait(.pid = 10, .from = 300 * MS, .to = 500 * MS, .runq = 200 * MS, .call = "-", .state = "throttled");
	put_wait(.pid = 10, .from = 800 * MS, .to = 850 * MS, .runq = 50 * MS, .call = "-", .state = "throttled",
		 .throttled = 40 * MS);
	put_wait(.pid = 10, .from = 850 * MS, .to = 900 * MS, .runq = 30 * MS, .by = "timer", .throttled = 20 * MS);
	put_wait(.pid = 10, .from = 500 * MS, .to = 800 * MS, .runq = 1 * MS, .call = "stopped", .by = "signal",
		 .by_pid = 99, .by_comm = "bash");
	r = path_loaded();
	expect_part(r, "runq", "a", NULL, 121 * MS);
	expect_part(r, "throttled", "a", NULL, 260 * MS);
	expect_part(r, "stopped", "a", "bash", 299 * MS);
	expect_part(r, "timeout", "a", "read", 20 * MS);
	expect_part(r, "cpu", "a", NULL, 300 * MS);
	report_free(r);
}

/* The time under the lock is marked, that before is not; a futex is not known to be a lock. */
static void a_lock_that_is_held_is_marked(void **state)
{
	struct report *r;

	put_root(10, "a", 1000 * MS);
	put_process(20, 10, "b", 0, 1000 * MS);
	put_wait(.pid = 20, .from = 0, .to = 400 * MS, .call = "nanosleep", .by = "timer");
	put_wait(.pid = 10, .from = 100 * MS, .to = 400 * MS, .call = "flock", .by = "thread", .by_pid = 20);
	put_wait(.pid = 10, .from = 500 * MS, .to = 600 * MS, .call = "futex", .by = "thread", .by_pid = 20);
	r = path_loaded();
	expect_part(r, "sleep", "b", NULL, 300 * MS);
	assert_true(part_of(r, "sleep", "b", NULL).leaf.held);
	expect_part(r, "cpu", "b", NULL, 100 * MS);
	assert_false(part_of(r, "cpu", "b", NULL).leaf.held);
	report_free(r);
}

/* Threads that wait in a row are followed so far, and no stack ends the program. */
static void a_long_row_of_waits_ends(void **state)
{
	struct report *r;

	put_root(10, "a", 1000 * MS);
	for (unsigned int i = 0; i < 300; i++) {
		put_event(i ? 1 : 0, i ? "thread" : "rename", 10, 10 + i, 1, "a", NULL);
		put_wait(.pid = 10, .tid = 10 + i, .from = 100 * MS, .to = 200 * MS, .by = "thread", .by_pid = 10,
			 .by_tid = 11 + i);
	}
	put_event(1, "thread", 10, 310, 1, "a", NULL);
	r = path_loaded();
	expect_part(r, "unknown", "a'", NULL, 100 * MS);
	report_free(r);
}

/* Rows that no kernel has written. The sums still add up, as path_loaded() asserts. */
static void damaged_rows_do_no_harm(void **state)
{
	static const char *const rows[] = {
		"10\t10\tx\tread\tsleep\t4611686018427387903\t4611686018427387903\tthread\t20\t20\tb\t-\t-\t-",
		"10\t10\tx\tread\tsleep\t18446744073709551615\t1\tthread\t20\t20\tb\t-\t-\t-",
		"10\t10\tx\tread\tsleep\t1000\t2000000000\ttimer\t-\t-\t-\t-\t-\t-",
		"10\t10\tx\tread\tsleep\t2000000000000000\t5\tthread\t10\t10\ta\t-\t-\t-",
		"20\t20\tx\tfutex\tsleep\t500000000\t5\tthread\t10\t10\ta\t-\t-\t-",
		"20\t20\tx\tfutex\tsleep\t400000000\t5\tthread\t4294967295\t4294967306\ta\t-\t99\tx",
		"20\t4294967316\tx\tfutex\tsleep\t400000000\t5\tthread\t1\t1\ta\t-\t18446744073709551615\t\\0",
		"20\t20\tx\tfutex\tsleep\t-\t5\tthread\t1\t1\ta\t-\t-\t\\0123\\",
		"20\t20\tx\t?\t?\t300000000\t?\t?\t?\t?\t?\t?\t?\t?",
		"20\t20\tx\t-\trunq\t300000000\t-\t-\t-\t-\t-\t-\t-\t-",
		"20\t20\tx",
	};
	struct report *r;

	put_root(10, "a", 1000 * MS);
	put_process(20, 10, "b", 0, 1000 * MS);
	for (unsigned int i = 0; i < 200; i++)
		put(WAITS, (i * 37 % 100) * 10 * MS, "%s", rows[i % ARRAY_SIZE(rows)]);
	r = path_loaded();
	assert_int_equal(wall_of(r), 1000 * MS);
	report_free(r);
}

/* Returns a number below N: the same in each run. */
static unsigned int any(unsigned int n)
{
	static uint32_t v = 4711;

	v = v * 1664525U + 1013904223U;
	return (v >> 8) % n;
}

static void rows_at_random_add_up(void **state)
{
	static const char *const calls[] = { "futex", "poll", "nanosleep", "flock", "read", "-", "stopped", "fault" };
	static const char *const states[] = { "sleep", "disk", "blocked", "runq", "throttled" };
	static const char *const bys[] = { "thread", "timer", "timer", "exit", "signal", "disk", "net", "end", "?" };
	for (unsigned int turn = 0; turn < 20; turn++) {
		struct report *r;

		for (unsigned int f = 0; f < TRACE_FILES; f++) {
			autofree char *path = tree_path(trace_names[f]);

			unlink(path);
		}
		put_root(10, "a", 1000 * MS);
		for (unsigned int i = 11; i < 20; i++)
			put_event(any(1000) * MS, i % 3 ? "thread" : "fork", i % 3 ? 10 : i, i, 10, "b", NULL);
		for (unsigned int i = 0; i < 400; i++) {
			const uint64_t to = any(1000000) * 1000ULL;
			const unsigned int tid = 10 + any(10), by = 10 + any(11);

			put_wait(.pid = tid % 3 ? 10 : tid, .tid = tid, .from = to - MIN(to, any(60) * MS), .to = to,
				 .runq = any(20) * MS, .call = calls[any(ARRAY_SIZE(calls))],
				 .state = states[any(ARRAY_SIZE(states))], .by = bys[any(ARRAY_SIZE(bys))],
				 .by_pid = by % 3 ? 10 : by, .by_tid = by);
		}
		for (unsigned int i = 0; i < 100; i++) {
			const unsigned int tid = 10 + any(10), by = 10 + any(11);

			put(SCHED, any(1000) * MS,
			    "%u\t%u\tx\ttarget\t-\t%s\t1000\t1\t-\t%u\t%u\t%u\t0\t%u\t9\t%s\t%u\t%u\t-", tid, tid,
			    calls[any(ARRAY_SIZE(calls))], any(1000000), any(1000000), any(1000000), any(1000000000),
			    bys[any(ARRAY_SIZE(bys))], by % 3 ? 10 : by, by);
		}
		r = path_loaded();
		report_free(r);
	}
}

/* Ten seconds of process 10, whose last sums are those of the first second. */
static void put_silent(void)
{
	put_event(0, "exec", 10, 10, 1, "python", NULL);
	put(SCHED, 1000 * MS, "10\t10\tpython\ttarget\t0\t-\t%llu\t1\t0\t%llu\t0\t0\t0\t0\t0\t-\t-\t-\t-", 1000 * MS,
	    1000 * MS);
	put(SCHED, 10000 * MS, "99\t99\tx\tkernel\t0\t-\t%llu\t1\t0\t%llu\t0\t0\t0\t0\t0\t-\t-\t-\t-", 1000 * MS, MS);
	put_wait(.pid = 99, .from = 0, .to = 10000 * MS);
}

/* A wait has no row until it ends: while a trace is written, a thread without rows does not compute, and nobody knows
 * why. */
static void what_is_behind_the_rows_of_a_running_trace_is_not_known(void **state)
{
	struct report *r;

	put_silent();
	r = path_loaded();
	expect_part(r, "cpu", "python", NULL, 1000 * MS);
	expect_part(r, "unknown", "python", NULL, 9000 * MS);
	expect_chain(r, "unknown", "python", NULL, 9000 * MS);
	report_free(r);
	/* rows are written once a second */
	put(SCHED, 8000 * MS, "10\t10\tpython\ttarget\t0\t-\t%llu\t1\t0\t%llu\t0\t0\t0\t0\t0\t-\t-\t-\t-", 7000 * MS,
	    7000 * MS);
	r = path_loaded();
	expect_part(r, "cpu", "python", NULL, 10000 * MS);
	report_free(r);
}

/* In a trace with its end, each wait has a row. */
static void what_is_behind_the_rows_of_a_whole_trace_is_time_on_a_cpu(void **state)
{
	struct report *r;

	put_silent();
	put_workload(10, 10000 * MS);
	r = path_loaded();
	expect_part(r, "cpu", "python", NULL, 10000 * MS);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(a_wait_for_a_thread_is_what_that_thread_did),
		IN_TREE(a_shell_waits_for_its_child),
		IN_TREE(a_trainer_waits_for_a_loader_that_reads),
		IN_TREE(threads_that_wait_for_each_other_are_shown),
		IN_TREE(before_its_birth_a_thread_is_its_creator),
		IN_TREE(off_the_cpu_without_a_wait),
		IN_TREE(a_lock_that_is_held_is_marked),
		IN_TREE(a_long_row_of_waits_ends),
		IN_TREE(damaged_rows_do_no_harm),
		IN_TREE(rows_at_random_add_up),
		IN_TREE(what_is_behind_the_rows_of_a_running_trace_is_not_known),
		IN_TREE(what_is_behind_the_rows_of_a_whole_trace_is_time_on_a_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
