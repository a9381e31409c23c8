/* SPDX-License-Identifier: BSD-2-Clause */
/* See trace.h: process 10 is the root, of one second. */
#include "report/path/chain.h"

#include "trace.h"

/*
 * Ten batches of 100 ms. The loader, 20, reads for 90 of them, and hands over; the trainer computes for 60, and waits
 * for the next one for 40. What it waits for is the loader's, but the pace is that of the reads.
 */
static void a_stage_that_works_ahead_counts_whole(void **state)
{
	struct report *r;

	put_root(10, "python", 1000 * MS);
	put_process(20, 10, "loader", 0, 1000 * MS);
	for (uint64_t at = 0; at < 1000 * MS; at += 100 * MS) {
		put_wait(.pid = 20, .from = at + 5 * MS, .to = at + 95 * MS, .call = "pread64", .state = "disk",
			 .by = "disk", .fid = 1, .file = "x");
		put_wait(.pid = 10, .from = at + 56 * MS, .to = at + 96 * MS, .by = "thread", .by_pid = 20);
	}
	r = path_loaded();
	expect_part(r, "disk-read", "loader", "x", 390 * MS);
	expect_part(r, "cpu", "python", NULL, 600 * MS);
	expect_chain(r, "disk-read", "loader", "x", 900 * MS);
	/* after the last batch, and the loader before its first read and between two */
	expect_chain(r, "cpu", "python", NULL, 4 * MS);
	expect_chain(r, "cpu", "loader", NULL, 96 * MS);
	report_free(r);
}

/* Back from the child's birth it goes on with the process that has created it. */
static void a_thread_before_its_birth_is_its_creator(void **state)
{
	struct report *r;

	put_root(10, "sh", 1000 * MS);
	put_process(20, 10, "prep", 100 * MS, 400 * MS);
	put_process(30, 10, "train", 450 * MS, 900 * MS);
	put_wait(.pid = 10, .from = 100 * MS, .to = 410 * MS, .call = "wait4", .by = "exit", .by_pid = 20);
	put_wait(.pid = 10, .from = 450 * MS, .to = 900 * MS, .call = "wait4", .by = "exit", .by_pid = 30);
	r = path_loaded();
	expect_chain(r, "cpu", "train", NULL, 450 * MS);
	expect_chain(r, "cpu", "prep", NULL, 300 * MS);
	expect_chain(r, "ending", "prep", NULL, 10 * MS);
	expect_chain(r, "cpu", "sh", NULL, 240 * MS);
	report_free(r);
}

/* Two threads that end each other's wait in the same moment: a kernel has no such rows. */
static void a_circle_ends(void **state)
{
	struct report *r;

	put_root(10, "a", 1000 * MS);
	put_process(20, 10, "b", 0, 1000 * MS);
	put_wait(.pid = 10, .from = 100 * MS, .to = 500 * MS, .by = "thread", .by_pid = 20);
	put_wait(.pid = 20, .from = 200 * MS, .to = 500 * MS, .by = "thread", .by_pid = 10);
	r = path_loaded();
	expect_part(r, "cycle", "a", NULL, 300 * MS);
	assert_true(part_of(r, "cycle", "a", NULL).chain_ns + part_of(r, "cycle", "b", NULL).chain_ns >= 300 * MS);
	report_free(r);
}

/* In the middle of a wait that is not over, what the other one did counts as in the path. */
static void a_wait_that_had_not_ended(void **state)
{
	struct report *r;

	put_workload(10, 1000 * MS);
	put_root(10, "a", 600 * MS);
	put_process(20, 10, "b", 0, 1000 * MS);
	put_wait(.pid = 20, .from = 300 * MS, .to = 700 * MS, .by = "net", .peer = "[fe80::1]:80");
	put_wait(.pid = 10, .from = 100 * MS, .to = 800 * MS, .by = "thread", .by_pid = 20);
	r = path_loaded();
	expect_part(r, "network", "b", "[fe80::1]:80", 300 * MS);
	expect_chain(r, "network", "b", "[fe80::1]:80", 300 * MS);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(a_stage_that_works_ahead_counts_whole),
		IN_TREE(a_thread_before_its_birth_is_its_creator),
		IN_TREE(a_circle_ends),
		IN_TREE(a_wait_that_had_not_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
