/* SPDX-License-Identifier: BSD-2-Clause */
/* Checkpoints of the main thread: see ../job.h for the traces. */
#include "report/why/why.h"

#include "../job.h"

/* It writes its data set, reads it for the rest of the time, and saves once; another process writes as much, at 15 s.
 */
static void what_a_job_writes_before_it_reads_is_no_checkpoint(void **state)
{
	struct report *r;

	put_alone("python", 10 * S);
	put(PIDS, BEGIN, "300\t300\t1\ttar\texec\t-\t300\t0\t/\t-\ttar");
	put(PIDS, BEGIN + STEPS * S, "300\t300\t1\ttar\texit\t0\t300\t0\t/\t-\tutime=1000\\040stime=0");
	for (unsigned int i = 0; i < 32; i++) {
		put_rw(100, step(1) + i * MS, MS, 'W', MiB, i * MiB, 0, 2);
		put_rw(100, step(10) + i * MS, MS, 'W', MiB, i * MiB, 0, 3);
		put_rw(300, step(15) + i * MS, MS, 'W', MiB, i * MiB, 0, 3);
	}
	for (unsigned int i = 0; i < 1600; i++)
		put_rw(100, step(4) + i * 10 * MS, MS, 'R', 65536, i * 65536, 0, 2);
	r = loaded_with(true);
	assert_int_equal(phases_count(r->phases, PHASE_CHECKPOINT), 1);
	assert_in_range(phases_get(r->phases, PHASE_CHECKPOINT, 0)->begin_ns, step(10) - 10 * MS, step(10) + 10 * MS);
	report_free(r);
}

/* While it saves, it does not train: a wait without a fetch. 500 ms of each step are a checkpoint, 50 of these a write.
 */
static void a_trainer_that_saves(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_region(100, i, "dataloader", "fetch", 0, 20 * MS);
		put_region(100, i, "checkpoint", "save", 100 * MS, 600 * MS);
		put_region(100, i, "compute", "step", 900 * MS, S);
		put_rw(100, step(i) + 200 * MS, 50 * MS, 'W', MiB, i * MiB, 0, 3);
		put_work(101, i, 20 * MS);
		put_work(102, i, 20 * MS);
	}
	put_rw(101, step(STEPS), 10, 'R', MiB, 0, 0, 2); /* the trace's end */
	r = loaded_with(true);
	assert_int_equal(r->why->basis, WHY_BY_REGIONS);
	expect_near(r->why->waited_ns / r->why->window_ns, 0.52);
	expect_near(found(r, "checkpoint-stall")->measure, 0.5);
	expect_near((double)r->why->epoch[0].waited_ns / (double)r->why->epoch[0].waitable_ns, 0.52);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(what_a_job_writes_before_it_reads_is_no_checkpoint),
		IN_TREE(a_trainer_that_saves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
