/* SPDX-License-Identifier: BSD-2-Clause */
/* Slow reads of pages that another process fetches: see ../job.h for the traces. */
#include "report/why/why.h"

#include "../job.h"

/* Two that load by themselves from the same files: one fetches, and the other waits for the same pages. */
static void two_that_read_the_same_wait_for_the_same(void **state)
{
	struct report *r;

	for (unsigned int pid = 100; pid <= 200; pid += 100) {
		put(PIDS, BEGIN, "%u\t%u\t1\tpython\texec\t-\t%u\t0\t/\t-\tpython\\000train.py", pid, pid, pid);
		put(PIDS, BEGIN + STEPS * S, "%u\t%u\t1\tpython\texit\t0\t%u\t0\t/\t-\tutime=7000000000\\040stime=0",
		    pid, pid, pid);
	}
	put_file(2, "reg", "ext4", 64 * MiB, "/data/shard.tar");
	for (unsigned int i = 0; i < STEPS; i++) {
		const unsigned int first = 100, second = 200;

		/* ended before the other, which shows only then that it fetched */
		put_rw(first, step(i) + 690 * MS, 300 * MS, 'R', MiB, i * 2 * MiB, 0, 2);
		put_rw(second, step(i) + 700 * MS, 600 * MS, 'R', 2 * MiB, i * 2 * MiB, 2 * MiB, 2);
		/* and the pages that it had fetched in advance */
		put_rw(first, step(i) + 990 * MS, 300 * MS, 'R', MiB, (i * 2 + 1) * MiB, 0, 2);
	}
	r = loaded();
	assert_int_equal(r->why->n_trainers, 2);
	expect_near(is_bottleneck(r, "storage-read")->measure, since((100 + 390) * MS / 2, 0.6));
	report_free(r);
}

/* A read that nobody fetches for is slow by itself. */
static void a_slow_read_of_what_is_in_memory_is_no_disk(void **state)
{
	struct report *r;

	put_job(0);
	put_waits(800 * MS);
	put_file(4, "reg", "ext4", 64 * MiB, "/data/cold.tar");
	for (unsigned int i = 0; i < STEPS; i++) {
		put_rw(101, step(i) + 700 * MS, 690 * MS, 'R', MiB, i * MiB, 0, 2);
		put_rw(102, step(i) + 710 * MS, 700 * MS, 'R', MiB, i * MiB, MiB, 4);
		put_work(101, i, 800 * MS);
		put_work(102, i, 800 * MS);
	}
	r = loaded();
	expect_near(found(r, "decode-cpu")->measure, 0.69 / 2);
	expect_near(is_bottleneck(r, "storage-read")->measure, 0.7 / 2);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(two_that_read_the_same_wait_for_the_same),
		IN_TREE(a_slow_read_of_what_is_in_memory_is_no_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
