/* SPDX-License-Identifier: BSD-2-Clause */
/* See trace.h: process 10 is the root, of one second; sched.out has its sums of each half. */
#include "report/path/waits/shorts.h"

#include "../trace.h"

/* THROTTLED: `-', as in a trace without that column, or a number. */
static void put_cpu_row(unsigned int tid, uint64_t at, uint64_t run, uint64_t runq, const char *throttled)
{
	put(SCHED, at, "%u\t%u\tx\ttarget\t0\t-\t500000000\t9\t0\t%llu\t%llu\t-\t-\t-\t-\t-\t-\t-\t%s", tid, tid,
	    (unsigned long long)run, (unsigned long long)runq, throttled);
}

static void put_cpu(unsigned int tid, uint64_t at, uint64_t run, uint64_t runq)
{
	put_cpu_row(tid, at, run, runq, "-");
}

static void put_call(unsigned int tid, uint64_t at, const char *call, uint64_t disk, uint64_t sleep, const char *by)
{
	put(SCHED, at, "%u\t%u\tx\ttarget\t-\t%s\t500000000\t9\t-\t-\t-\t%llu\t0\t%llu\t9\t%s\t-", tid, tid, call,
	    (unsigned long long)disk, (unsigned long long)sleep, by);
}

/* In each half: 300 ms on a CPU, 50 in the queue, 100 of reads and 50 of sleeps, none of which lasted 1 ms. */
static void short_waits_share_the_time_between_rows(void **state)
{
	struct report *r;

	put_root(10, "a", 1000 * MS);
	for (unsigned int i = 1; i <= 2; i++) {
		put_cpu(10, i * 500 * MS, 300 * MS, 50 * MS);
		put_call(10, i * 500 * MS + 10, "pread64", 100 * MS, 0, "disk\t-\t-");
		put_call(10, i * 500 * MS + 20, "nanosleep", 0, 50 * MS, "timer\t-\t-");
	}
	put_wait(.pid = 99, .from = 0, .to = MS);
	r = path_loaded();
	expect_part(r, "cpu", "a", NULL, 600 * MS);
	expect_part(r, "runq", "a", NULL, 100 * MS);
	expect_part(r, "disk-read", "a", NULL, 200 * MS);
	expect_part(r, "sleep", "a", NULL, 100 * MS);
	report_free(r);
}

/* The sums have the waits that have rows, too: these are not counted twice. */
static void rows_are_taken_off_the_sums(void **state)
{
	struct report *r;

	put_root(10, "a", 500 * MS);
	put_wait(.pid = 10, .from = 100 * MS, .to = 310 * MS, .runq = 10 * MS, .call = "pread64", .state = "disk",
		 .by = "disk");
	put_wait(.pid = 10, .from = 400 * MS, .to = 440 * MS, .runq = 40 * MS, .call = "-", .state = "runq");
	/* 250 of the 500 ms have rows; of the other 250 ms 30 are short reads */
	put_cpu(10, 500 * MS, 220 * MS, 50 * MS);
	put_call(10, 500 * MS, "pread64", 230 * MS, 0, "disk\t-\t-");
	r = path_loaded();
	expect_part(r, "disk-read", "a", NULL, 230 * MS);
	expect_part(r, "cpu", "a", NULL, 220 * MS);
	expect_part(r, "runq", "a", NULL, 50 * MS);
	report_free(r);
}

static struct report *throttled(uint64_t row_ns, const char *sum)
{
	put_root(10, "a", 500 * MS);
	put_wait(.pid = 10, .from = 100 * MS, .to = 300 * MS, .runq = 200 * MS, .call = "-", .state = "throttled",
		 .throttled = row_ns);
	put_cpu_row(10, 500 * MS, 180 * MS, 320 * MS, sum);
	return path_loaded();
}

static void a_quota_is_a_part_of_the_sums(void **state)
{
	struct report *r = throttled(180 * MS, "240000000");

	expect_part(r, "cpu", "a", NULL, 180 * MS);
	expect_part(r, "throttled", "a", NULL, 240 * MS);
	expect_part(r, "runq", "a", NULL, 80 * MS);
	report_free(r);
}

static void without_that_column_rows_of_a_quota_have_it_all(void **state)
{
	struct report *r = throttled(0, "-");

	expect_part(r, "cpu", "a", NULL, 180 * MS);
	expect_part(r, "throttled", "a", NULL, 200 * MS);
	expect_part(r, "runq", "a", NULL, 120 * MS);
	report_free(r);
}

/* A server on this machine answers: waits.out has its address, which makes it a peer, and sched.out does not. */
static void rows_of_a_peer_are_taken_off_the_sums(void **state)
{
	struct report *r;

	put_root(10, "a", 500 * MS);
	for (unsigned int i = 0; i < 4; i++)
		put_wait(.pid = 10, .from = (100 * i + 20) * MS, .to = (100 * i + 80) * MS, .call = "recvfrom",
			 .by = "thread", .by_pid = 99, .by_comm = "server", .peer = "127.0.0.1:80");
	put_cpu(10, 500 * MS, 260 * MS, 0);
	put_call(10, 500 * MS, "recvfrom", 0, 240 * MS, "thread\t99\t99");
	r = path_loaded();
	expect_part(r, "network", "a", "127.0.0.1:80", 240 * MS);
	expect_part(r, "cpu", "a", NULL, 260 * MS);
	report_free(r);
}

/* The waits ended on two CPUs, each of which has a row: one is longer than what the first row has. */
static void rows_of_several_cpus_are_one_sum(void **state)
{
	struct report *r;

	put_root(10, "a", 500 * MS);
	put_wait(.pid = 10, .from = 50 * MS, .to = 150 * MS, .call = "pread64", .state = "disk", .by = "disk");
	put_wait(.pid = 10, .from = 200 * MS, .to = 350 * MS, .call = "pread64", .state = "disk", .by = "disk");
	put_cpu(10, 500 * MS, 240 * MS, 0);
	put_call(10, 500 * MS, "pread64", 110 * MS, 0, "disk\t-\t-");
	put_call(10, 500 * MS, "pread64", 150 * MS, 0, "disk\t-\t-");
	r = path_loaded();
	expect_part(r, "disk-read", "a", NULL, 260 * MS);
	expect_part(r, "cpu", "a", NULL, 240 * MS);
	report_free(r);
}

/* Two processes hand over many times in a millisecond: each waits while the other one computes. */
static void short_waits_for_a_thread_are_what_it_did(void **state)
{
	struct report *r;

	put_root(10, "a", 500 * MS);
	put_process(20, 10, "b", 0, 500 * MS);
	put_cpu(10, 500 * MS, 200 * MS, 0);
	put_call(10, 500 * MS, "read", 0, 300 * MS, "thread\t20\t20");
	/* of the time that A waits for it, B computes for two thirds, and reads a disk for one third */
	put_cpu(20, 500 * MS, 200 * MS, 0);
	put_call(20, 500 * MS, "pread64", 100 * MS, 0, "disk\t-\t-");
	put_call(20, 500 * MS, "read", 0, 200 * MS, "thread\t10\t10");
	put_wait(.pid = 99, .from = 0, .to = MS);
	r = path_loaded();
	expect_part(r, "cpu", "a", NULL, 200 * MS);
	expect_part(r, "cpu", "b", NULL, 200 * MS);
	expect_part(r, "disk-read", "b", NULL, 100 * MS);
	report_free(r);
}

static void sums_of_several_threads_have_no_name(void **state)
{
	struct report *r;

	put_root(10, "a", 500 * MS);
	put_cpu(10, 500 * MS, 200 * MS, 0);
	put_call(10, 500 * MS, "futex", 0, 100 * MS, "thread\t-\t-");
	put_call(10, 500 * MS, "flock", 0, 200 * MS, "thread\t77\t77");
	put_wait(.pid = 99, .from = 0, .to = MS);
	r = path_loaded();
	expect_part(r, "cpu", "a", NULL, 200 * MS);
	expect_part(r, "several", "a", "futex", 100 * MS);
	expect_part(r, "lock", "a", NULL, 200 * MS);
	report_free(r);
}

/* Without sums all is on a CPU, also where those of others are known. */
static void without_sums_a_thread_is_on_a_cpu(void **state)
{
	struct report *r;

	put_root(10, "a", 500 * MS);
	put_process(20, 10, "b", 0, 500 * MS);
	put_cpu(20, 500 * MS, 1 * MS, 400 * MS);
	put_wait(.pid = 99, .from = 0, .to = MS);
	r = path_loaded();
	expect_part(r, "cpu", "a", NULL, 500 * MS);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(short_waits_share_the_time_between_rows),
		IN_TREE(rows_are_taken_off_the_sums),
		IN_TREE(rows_of_a_peer_are_taken_off_the_sums),
		IN_TREE(rows_of_several_cpus_are_one_sum),
		IN_TREE(short_waits_for_a_thread_are_what_it_did),
		IN_TREE(sums_of_several_threads_have_no_name),
		IN_TREE(without_sums_a_thread_is_on_a_cpu),
		IN_TREE(a_quota_is_a_part_of_the_sums),
		IN_TREE(without_that_column_rows_of_a_quota_have_it_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
