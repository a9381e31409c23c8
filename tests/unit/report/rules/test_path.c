/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers by what ended each wait, each with a job that is nearly so: see ../path/trace.h for the traces. */
#include <string.h>

#include "../path/trace.h"
#include "report/rules/rules.h"
#include "report/why/why.h"

#define LIFE (2000 * MS)

/* A job of 2 s whose first process waits for NS, as W says but for the times; then it computes. */
static struct report *waits_for(uint64_t ns, struct put_wait w)
{
	put_root(10, "python", LIFE);
	put_workload(10, LIFE);
	put(SCHED, LIFE, "10\t10\tpython\ttarget\t0\t-\t%llu\t1\t0\t%llu\t0\t-\t-\t-\t-\t-\t-\t-", LIFE,
	    (unsigned long long)(LIFE - ns));
	w.from = 100 * MS;
	w.to = 100 * MS + ns;
	w.pid = 10;
	put_wait_row(&w);
	return path_loaded();
}

static const struct finding *answer(const struct report *r)
{
	return &r->why->rules->bottleneck;
}

static bool has_evidence(const struct report *r, const char *text)
{
	for (unsigned int i = 0; i < answer(r)->n; i++)
		if (strstr(answer(r)->evidence[i], text))
			return true;
	return false;
}

/* Expects the answer CODE by the path with SHARE percent, and TEXT in what is said of it; frees R. */
static void expect_answer(struct report *r, const char *code, int share, const char *text)
{
	assert_string_equal(answer(r)->rule->code, code);
	assert_true(answer(r)->by_path);
	assert_int_equal((int)(100 * answer(r)->share + 0.5), share);
	if (!has_evidence(r, text))
		fail_msg("no evidence has %s", text);
	report_free(r);
}

static void expect_not(struct report *r, const char *code)
{
	assert_string_not_equal(answer(r)->rule->code, code);
	report_free(r);
}

#define NET .call = "recvfrom", .by = "net", .peer = "10.0.0.5:9000"
static void a_server_has_its_name(void **state)
{
	expect_answer(waits_for(1200 * MS, (struct put_wait){ NET }), "network-read", 60, "10.0.0.5:9000");
}

/* On the same machine, too, where the server's own thread ends the wait. */
static void a_server_beside_the_job_has_its_address(void **state)
{
	expect_answer(waits_for(1200 * MS, (struct put_wait){ .call = "recvfrom",
							      .by = "thread",
							      .by_pid = 77,
							      .by_comm = "server",
							      .peer = "127.0.0.1:9000" }),
		      "network-read", 60, "127.0.0.1:9000");
}

static void a_few_packets_are_no_cause(void **state)
{
	expect_not(waits_for(200 * MS, (struct put_wait){ NET }), "network-read");
}

#define QUOTA .call = "-", .state = "throttled", .runq = 1000 * MS
static void a_quota_is_no_contention(void **state)
{
	expect_answer(waits_for(1000 * MS, (struct put_wait){ QUOTA }), "cpu-quota", 50, "CPU quota");
}

static void a_thread_that_loses_its_cpu_has_no_quota(void **state)
{
	expect_not(waits_for(1000 * MS, (struct put_wait){ .call = "-", .state = "runq", .runq = 1000 * MS }),
		   "cpu-quota");
}

static void a_stopped_job_does_not_wait_for_others(void **state)
{
	expect_answer(waits_for(1400 * MS,
				(struct put_wait){ .call = "stopped", .by = "thread", .by_pid = 77, .by_comm = "sh" }),
		      "stopped", 70, "stopped by a signal");
}

static void a_short_stop_is_no_cause(void **state)
{
	expect_not(waits_for(300 * MS, (struct put_wait){ .call = "stopped", .by = "thread", .by_pid = 77 }),
		   "stopped");
}

#define OF_OTHERS .by = "thread", .by_pid = 77, .by_comm = "holder"
static void a_lock_of_others_has_its_holder(void **state)
{
	expect_answer(waits_for(1000 * MS, (struct put_wait){ .call = "flock", OF_OTHERS }), "lock-wait", 50, "holder");
}

static void a_pipe_of_others_is_no_lock(void **state)
{
	expect_not(waits_for(1000 * MS, (struct put_wait){ .call = "read", OF_OTHERS }), "lock-wait");
}

/* The first process waits for a lock that its child holds while it sleeps. */
static void a_lock_of_a_child_is_a_lock(void **state)
{
	put_process(20, 10, "python", 50 * MS, 1500 * MS);
	put_wait(.pid = 20, .from = 90 * MS, .to = 1100 * MS, .call = "clock_nanosleep", .by = "timer");
	expect_answer(waits_for(1000 * MS, (struct put_wait){ .call = "fcntl", .by = "thread", .by_pid = 20 }),
		      "lock-wait", 50, "sleeping");
}

static void a_terminal_is_no_network(void **state)
{
	put(FILES, 0, "5\t0:24\t3\tchr\tdevpts\t0\tok\t/dev/pts/0");
	expect_answer(waits_for(1000 * MS, (struct put_wait){ .call = "read",
							      .by = "kernel",
							      .by_pid = 99,
							      .by_comm = "kworker",
							      .fid = 5,
							      .file = "0" }),
		      "terminal", 50, "terminal");
}

/* An event loop waits in epoll_wait while a thread of its own computes. */
static void a_loop_whose_thread_computes_is_bound_by_the_cpu(void **state)
{
	put_event(20 * MS, "thread", 10, 11, 1, "python", NULL);
	put(SCHED, LIFE, "10\t11\tpython\ttarget\t0\t-\t%llu\t1\t0\t1800000000\t0\t-\t-\t-\t-\t-\t-\t-", LIFE);
	put(SCHED, LIFE,
	    "10\t10\tpython\ttarget\t-\tepoll_wait\t%llu\t1\t-\t-\t-\t0\t0\t1700000000\t1700000000\tthread"
	    "\t10\t11",
	    LIFE);
	expect_answer(waits_for(1700 * MS,
				(struct put_wait){ .call = "epoll_wait", .by = "thread", .by_pid = 10, .by_tid = 11 }),
		      "cpu-bound", 100, "python's thread");
}

/* The same, but the thread asks a server. */
static void a_loop_whose_thread_waits_for_a_server_waits_for_it(void **state)
{
	put_event(20 * MS, "thread", 10, 11, 1, "python", NULL);
	put_wait(.pid = 10, .tid = 11, .from = 90 * MS, .to = 1750 * MS, NET);
	expect_answer(waits_for(1700 * MS,
				(struct put_wait){ .call = "epoll_wait", .by = "thread", .by_pid = 10, .by_tid = 11 }),
		      "network-read", 83, "10.0.0.5:9000");
}

/* The first process ends early: its children's time is most of the trace, and not on its path. */
static void a_first_process_that_ends_early_answers_nothing(void **state)
{
	struct report *r;

	put_root(10, "sh", 300 * MS);
	put_process(20, 10, "python", 50 * MS, LIFE);
	put_workload(10, LIFE);
	put_wait(.pid = 10, .from = 10 * MS, .to = 290 * MS, NET);
	r = path_loaded();
	assert_false(answer(r)->by_path);
	report_free(r);
}

#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, tree_make, tree_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(a_server_has_its_name),
		IN_TREE(a_server_beside_the_job_has_its_address),
		IN_TREE(a_few_packets_are_no_cause),
		IN_TREE(a_quota_is_no_contention),
		IN_TREE(a_thread_that_loses_its_cpu_has_no_quota),
		IN_TREE(a_stopped_job_does_not_wait_for_others),
		IN_TREE(a_short_stop_is_no_cause),
		IN_TREE(a_lock_of_others_has_its_holder),
		IN_TREE(a_pipe_of_others_is_no_lock),
		IN_TREE(a_lock_of_a_child_is_a_lock),
		IN_TREE(a_terminal_is_no_network),
		IN_TREE(a_loop_whose_thread_computes_is_bound_by_the_cpu),
		IN_TREE(a_loop_whose_thread_waits_for_a_server_waits_for_it),
		IN_TREE(a_first_process_that_ends_early_answers_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
