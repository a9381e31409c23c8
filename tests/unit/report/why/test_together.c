/* SPDX-License-Identifier: BSD-2-Clause */
/* Several loaders: when none of them has work: see ../job.h for the traces. */
#include "report/why/why.h"

#include "../job.h"

static void one_loader_is_late_and_the_other_waits(void **state)
{
	struct report *r;

	put_job(0);
	put_waits(900 * MS);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_rw(101, step(i) + 890 * MS, 880 * MS, 'R', MiB, i * MiB, MiB, 2);
		put_work(101, i, 900 * MS);
		put_work(102, i, 50 * MS);
	}
	r = loaded();
	/* busy for 900 and 50 of 900 ms */
	expect_near(is_bottleneck(r, "straggler-worker")->measure, 0.85);
	assert_int_equal(r->why->straggler->pid, 101);
	report_free(r);
}

/* The loader reads from FROM to TO of the step, and hands over. It waits before and after that. */
static void put_read(unsigned int pid, unsigned int i, uint64_t from, uint64_t to)
{
	put_pipe(pid, step(i) + from - 10, from - 20, 'R');
	put_rw(pid, step(i) + to, to - from, 'R', MiB, i * MiB, MiB, 2);
	put_pipe(pid, step(i) + to + 10, 5, 'W');
	put_pipe(pid, step(i) + S - 10, S - 30 - to, 'R');
}

/* Both loaders read in each step, each from its FROM to its TO. */
static void put_both_read(uint64_t from1, uint64_t to1, uint64_t from2, uint64_t to2)
{
	for (unsigned int i = 0; i < STEPS; i++) {
		put_read(101, i, from1, to1);
		put_read(102, i, from2, to2);
	}
}

/* In a step of 1000 ms the loaders read in turn, for 450 ms each, and sleep for the rest of it. */
static void put_reads_in_turn(unsigned int i)
{
	for (unsigned int k = 0; k < 2; k++) {
		put_rw(101 + k, step(i) + (k + 1) * 450 * MS, 450 * MS, 'R', MiB, i * MiB, MiB, 2);
		put_slept(101 + k, 101 + k, i, "futex", 0, 550 * MS);
	}
}

/* The loader is a child of the trainer PARENT, from BORN to ENDS. */
static void put_loader(unsigned int pid, unsigned int parent, uint64_t born, uint64_t ends)
{
	put(PIDS, born, "%u\t%u\t%u\tpt_data_worker\tfork\t-\t%u\t0\t/\t-\t-", pid, pid, parent, pid);
	put(PIDS, ends, "%u\t%u\t%u\tpt_data_worker\texit\t0\t%u\t0\t/\t-\tutime=0\\040stime=0", pid, pid, parent, pid);
}

static double share_ready(const struct report *r)
{
	return r->why->blame_ns[WHY_QUEUE] / r->why->window_ns;
}

/* Expects STORAGE of the time for storage, READY for loaders that are ready, and nothing for a late one. */
static void expect_waits(const struct report *r, double storage, double ready)
{
	expect_near(r->why->blame_ns[WHY_DISK] / r->why->window_ns, storage);
	expect_near(share_ready(r), ready);
	expect_near(r->why->straggler_ns, 0);
}

/*
 * The trainer takes batches in order, and waits for 900 ms of each second: now for one loader, now for the other, while
 * the batch of the other one is ready. Each is busy for half of the waits, but one of them is at any time.
 */
static void loaders_that_are_late_in_turn_are_never_ready(void **state)
{
	struct report *r;

	put_job(0);
	put_waits(900 * MS);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_read(101 + i % 2, i, MS, 900 * MS);
		put_work(102 - i % 2, i, 30);
	}
	r = loaded();
	is_bottleneck(r, "storage-read");
	expect_waits(r, 0.899, 0.001);
	report_free(r);
}

/* One reads from 1 to 400 ms, and the other from 300 to 700: in the last 200 of 900 ms neither does. */
static void loaders_are_ready_when_none_is_busy(void **state)
{
	struct report *r;

	put_job(0);
	put_waits(900 * MS);
	put_both_read(MS, 400 * MS, 300 * MS, 700 * MS);
	r = loaded();
	is_bottleneck(r, "storage-read");
	expect_waits(r, 0.699, 0.201);
	report_free(r);
}

/* Both read at one time: for 200 of 900 ms. */
static void loaders_that_read_at_one_time_are_ready_at_one_time(void **state)
{
	const struct finding *b;
	struct report *r;

	put_job(0);
	put_waits(900 * MS);
	put_both_read(300 * MS, 500 * MS, 300 * MS, 500 * MS);
	r = loaded();
	b = is_bottleneck(r, "trainer-bound");
	expect_waits(r, 0.2, 0.7);
	expect_near(b->share, 0.8);
	report_free(r);
}

/* What a loader reads while nobody waits does not count: they read in the last 100 of the 400 ms, and go on. */
static void loaders_that_read_ahead_are_ready(void **state)
{
	struct report *r;

	put_job(0);
	put_waits(400 * MS);
	put_both_read(300 * MS, 900 * MS, 450 * MS, 900 * MS);
	r = loaded();
	expect_near(share_ready(r), 0.3);
	report_free(r);
}

/*
 * They wait in futex(2), which has no row: sched.out has how long they slept, but not when. They did not while they
 * read. In the other 100 of 1000 ms nobody did.
 */
static void loaders_that_read_in_turn_do_not_sleep_at_one_time(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_slept(100, 100, i, "poll", 0, S);
		put_reads_in_turn(i);
	}
	r = loaded();
	assert_int_equal(r->why->basis, WHY_BY_SUMS);
	is_bottleneck(r, "storage-read");
	expect_waits(r, 0.9, 0.1);
	report_free(r);
}

/* Each epoch has loaders of its own: what is known of one says nothing about the other. */
static void each_generation_is_ready_by_itself(void **state)
{
	const uint64_t half = BEGIN + STEPS / 2 * S;
	struct report *r;

	put(PIDS, BEGIN, "100\t100\t1\tpython\texec\t-\t100\t0\t/\t-\tpython\\000train.py");
	for (unsigned int pid = 101; pid <= 104; pid++)
		put_loader(pid, 100, (pid < 103 ? BEGIN : half) + 1, pid < 103 ? half : BEGIN + STEPS * S);
	put(PIDS, BEGIN + STEPS * S, "100\t100\t1\tpython\texit\t0\t100\t0\t/\t-\tutime=0\\040stime=0");
	put_file(1, "fifo", "pipefs", 0, "pipe:[1]");
	put_file(2, "reg", "ext4", 64 * MiB, "/data/shard.tar");
	put_waits(900 * MS);
	for (unsigned int i = 0; i < STEPS; i++) {
		const unsigned int first = i < STEPS / 2 ? 101 : 103;

		/* the first two read in turn for all of the wait, the next two together for a third of it */
		if (first == 101) {
			put_read(101 + i % 2, i, MS, 900 * MS);
			put_work(102 - i % 2, i, 30);
		} else {
			put_read(103, i, MS, 300 * MS);
			put_read(104, i, MS, 300 * MS);
		}
	}
	r = loaded();
	assert_int_equal(r->why->loaders.n, 4);
	expect_waits(r, (0.899 + 0.299) / 2, (0.001 + 0.601) / 2);
	report_free(r);
}

/*
 * Of the waits by sched.out half are for the trainer's own threads: in these, as far as is known, a loader that reads
 * does so ahead. The busiest loader slept for 550 ms of a second, and all together for 100.
 */
static void waits_for_own_threads_are_for_no_loader(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_slept(100, 100, i, "poll", 0, 500 * MS);
		put_slept(100, 100, i, "futex", 0, 500 * MS);
		put(SCHED, step(i) + S, "100\t110\tx\ttarget\t0\t-\t%llu\t9\t0\t%llu\t0\t-\t-\t-\t-", N(S),
		    N(500 * MS));
		put_reads_in_turn(i);
	}
	r = loaded();
	assert_int_equal(r->why->basis, WHY_BY_SUMS);
	expect_near(share_ready(r), (0.55 + 0.1) / 2);
	report_free(r);
}

/* A GPU that is idle without any wait of its process: loaders that work ahead, in turn, are ready as long as each one
 * is. */
static void a_gpu_may_be_idle_while_loaders_work_ahead(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i <= STEPS; i++)
		put(GPU, step(i), "0\t100\tC\t25\t10\tpython");
	put_both_read(MS, 400 * MS, 400 * MS, 800 * MS);
	r = loaded();
	assert_int_equal(r->why->basis, WHY_BY_GPU);
	expect_near(share_ready(r), 0.75 * 0.6);
	is_bottleneck(r, "trainer-bound");
	report_free(r);
}

/*
 * With 64 trainers there is room for 2048 stretches of each one's loaders, and here are 3000: of 2 ms, in turn, with 1
 * ms between them. As the gaps that are closed are known, a third of the waits is still for nobody.
 */
static void loaders_with_too_many_stretches(void **state)
{
	struct report *r;

	for (unsigned int pid = 100; pid < 100 + 3 * WHY_TRAINERS_MAX; pid += 3) {
		put(PIDS, BEGIN, "%u\t%u\t1\tpython\texec\t-\t%u\t0\t/\t-\tpython\\000train.py", pid, pid, pid);
		for (unsigned int child = pid + 1; child <= pid + 2; child++) {
			put_loader(child, pid, BEGIN + 1, BEGIN + STEPS * S);
			put_pipe(child, BEGIN + 10, 5, 'R');
		}
	}
	put_file(1, "fifo", "pipefs", 0, "pipe:[1]");
	put_file(2, "reg", "ext4", 64 * MiB, "/data/shard.tar");
	put_waits(450 * MS);
	for (unsigned int i = 0; i < STEPS; i++)
		for (unsigned int k = 0; k < 150; k++) {
			const uint64_t begin = step(i) + k * 3 * MS;

			put_rw(101 + k % 2, begin + 2 * MS, 2 * MS - 100, 'R', 4096, k * 4096, 4096, 2);
			put_pipe(101 + k % 2, begin + 6 * MS, 4 * MS, 'R');
		}
	r = loaded();
	assert_int_equal(r->why->n_trainers, WHY_TRAINERS_MAX);
	assert_true(r->why->trainer[0].at_work.glued_ns > 0);
	expect_near(r->why->blame_ns[WHY_QUEUE] / r->why->waited_ns, 1 / 3.0);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(one_loader_is_late_and_the_other_waits),
		IN_TREE(loaders_that_are_late_in_turn_are_never_ready),
		IN_TREE(loaders_are_ready_when_none_is_busy),
		IN_TREE(loaders_that_read_at_one_time_are_ready_at_one_time),
		IN_TREE(loaders_that_read_ahead_are_ready),
		IN_TREE(loaders_that_read_in_turn_do_not_sleep_at_one_time),
		IN_TREE(each_generation_is_ready_by_itself),
		IN_TREE(waits_for_own_threads_are_for_no_loader),
		IN_TREE(a_gpu_may_be_idle_while_loaders_work_ahead),
		IN_TREE(loaders_with_too_many_stretches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
