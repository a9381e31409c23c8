/* SPDX-License-Identifier: BSD-2-Clause */
/* The time of jobs that do not train, by CPU scheduling: see ../job.h for the traces. */
#include "report/why/account.h"

#include "../job.h"

static void a_job_that_computes_is_bound_by_the_cpu(void **state)
{
	const struct account *a;
	struct report *r;

	put_alone("python", 19 * S);
	for (unsigned int i = 0; i < STEPS; i++) {
		/* 8 of 10 ms on a CPU, within the call */
		put_rw(100, step(i) + 10 * MS, 10 * MS, 'R', MiB, i * MiB, 0, 2);
		put_ran(100, i, 908 * MS, 30 * MS);
		put_slept(100, 100, i, "read", 2 * MS, 0);
		put_slept(100, 100, i, "clock_nanosleep", 0, 20 * MS);
		put_slept(100, 100, i, "fault", 40 * MS, 0);
		put_slept(100, 101, i, "poll", 0, S);
	}
	r = loaded();
	expect_near(is_bottleneck(r, "cpu-bound")->share, 0.9);
	a = account_of(r, 100);
	adds_up(a);
	expect_near(term(a, ACCOUNT_CPU), 0.9);
	expect_near(term(a, ACCOUNT_CACHE), 0.01);
	expect_near(term(a, ACCOUNT_RUNQ), 0.03);
	expect_near(term(a, ACCOUNT_FAULT), 0.04);
	expect_near(term(a, ACCOUNT_SLEEP), 0.02);
	report_free(r);
}

static void a_job_that_sleeps_is_idle(void **state)
{
	struct report *r;

	put_alone("sleep", MS);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_ran(100, i, 10 * MS, 0);
		put_slept(100, 100, i, "clock_nanosleep", 0, 990 * MS);
	}
	r = loaded();
	expect_near(is_bottleneck(r, "idle")->share, 0.99);
	adds_up(account_of(r, 100));
	report_free(r);
}

/*
 * It reads mapped tokens: no read has a row, but it waits for nothing else. Faults on pages that are already being read
 * have no rows either: where few faults have rows, the sums count.
 */
static void a_job_that_faults_in_mapped_files_waits_for_storage(void **state)
{
	const unsigned int with_rows[] = { 0, 1, STEPS };
	struct report *r;

	for (unsigned int n = 0; n < ARRAY_SIZE(with_rows); n++) {
		put_alone("python", 2 * S);
		put_rw(100, step(0) + 1000, 500, 'R', MiB, 0, 0, 2);
		put_map(100, step(0) + 1000);
		for (unsigned int i = 0; i < STEPS; i++) {
			put_ran(100, i, 100 * MS, 0);
			put_slept(100, 100, i, "fault", 900 * MS, 0);
			if (i < with_rows[n])
				put(FAULT, step(i) + 950 * MS,
				    "100\t100\tx\tuser\tfile\t%llu\t0x1000\t0x2000\t0\t4096\t1\tdata", N(900 * MS));
		}
		r = loaded();
		expect_near(is_bottleneck(r, "storage-read")->share, 0.9);
		expect_near(term(account_of(r, 100), ACCOUNT_FAULT), 0.9);
		expect_near(term(account_of(r, 100), ACCOUNT_CPU), 0.1);
		report_free(r);
	}
}

static void a_job_that_waits_for_a_server_waits_for_the_outside(void **state)
{
	struct report *r;

	put_alone("python", 2 * S);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_ran(100, i, 100 * MS, 0);
		put_slept(100, 100, i, "recvfrom", 0, 900 * MS);
	}
	r = loaded();
	expect_near(term(account_of(r, 100), ACCOUNT_OTHERS), 0.9);
	assert_string_equal(account_of(r, 100)->awaited, "the network, or a process outside the job");
	report_free(r);
}

/* The job waits for what its other processes do: one computes and reads. */
static void a_job_that_waits_for_its_children_waits_for_their_calls(void **state)
{
	struct report *r;

	put_alone("make", 9 * S);
	put_rw(100, step(0) + 1000, 500, 'R', MiB, 0, 0, 2);
	put(PIDS, BEGIN + 1, "300\t300\t100\tcat\texec\t-\t300\t0\t/\t-\tcat");
	put(PIDS, step(STEPS), "300\t300\t100\tcat\texit\t0\t300\t0\t/\t-\tutime=1000000000\\040stime=0");
	for (unsigned int i = 0; i < STEPS; i++) {
		put_ran(100, i, 450 * MS, 0);
		put_slept(100, 100, i, "wait4", 0, 550 * MS);
		put_ran(300, i, 100 * MS, 0);
		put_slept(300, 300, i, "read", 300 * MS, 0);
		put_slept(300, 300, i, "poll", 0, 600 * MS);
	}
	r = loaded();
	assert_string_equal(account_of(r, 100)->awaited, "process 300 (cat)");
	report_free(r);
}

/* Its main thread waits for its other threads, which read. */
static void a_job_that_reads_by_threads_waits_for_their_reads(void **state)
{
	const struct account *a;
	struct report *r;

	put_alone("python", 2 * S);
	put_rw(100, step(0) + 1000, 500, 'R', MiB, 0, 0, 2);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_ran(100, i, 300 * MS, 0);
		put_slept(100, 100, i, "futex", 0, 700 * MS);
		put_slept(100, 101, i, "fault", 350 * MS, 0);
		put_slept(100, 102, i, "fault", 350 * MS, 0);
	}
	r = loaded();
	a = account_of(r, 100);
	adds_up(a);
	expect_near(term(a, ACCOUNT_THREADS), 0.7);
	expect_near(term(a, ACCOUNT_OTHERS), 0);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(a_job_that_computes_is_bound_by_the_cpu),
		IN_TREE(a_job_that_sleeps_is_idle),
		IN_TREE(a_job_that_faults_in_mapped_files_waits_for_storage),
		IN_TREE(a_job_that_waits_for_a_server_waits_for_the_outside),
		IN_TREE(a_job_that_waits_for_its_children_waits_for_their_calls),
		IN_TREE(a_job_that_reads_by_threads_waits_for_their_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
