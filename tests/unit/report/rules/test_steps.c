/* SPDX-License-Identifier: BSD-2-Clause */
/* Steps, by the regions of the job: see ../job.h for the traces. */
#include "report/rules/rules.h"

#include "../job.h"

static void an_epochs_first_batch_is_late(void)
{
	put_job(0);
	for (unsigned int i = 0; i < STEPS; i++)
		put_step(100, i, i % 10 ? 50 * MS : 590 * MS);
}

/* Each batch is late: the first one does not differ. */
static void each_batch_is_late(void)
{
	put_job(0);
	for (unsigned int i = 0; i < STEPS; i++)
		put_step(100, i, 590 * MS);
}

/* One in EVERY of 300 short steps is slow; if SAVE, because of a checkpoint. */
static void put_slow_steps(unsigned int every, bool save)
{
	uint64_t at = 0;

	put_job(0);
	for (unsigned int i = 0; i < 300; i++) {
		bool slow = i && i % every == 0;
		uint64_t fetched = at + (slow && !save ? 30 * MS : 5 * MS);

		put_region(100, 0, "dataloader", "fetch", at, fetched);
		if (slow && save)
			put_region(100, 0, "checkpoint", "save", fetched, fetched + 25 * MS);
		fetched += slow && save ? 25 * MS : 0;
		put_region(100, 0, "compute", "step", fetched, fetched + 5 * MS);
		at = fetched + 5 * MS;
	}
}

static void some_steps_are_slow(void **state)
{
	struct report *r;

	put_slow_steps(50, false);
	r = loaded_with(true);
	assert_in_range((unsigned int)(1000 * found(r, "step-jitter")->measure), 3465,
			3535); /* 35 ms to 10, of buckets of 1 % */
	assert_true(shows(found(r, "step-jitter"), "fetching"));
	report_free(r);
}

static void some_steps_save(void)
{
	put_slow_steps(50, true);
}

/* Two trainers, which PPIDs and RANKs make ranks, or not; the second one fetches for longer. */
static void put_two(const char *rank, const char *other, uint64_t fetched, uint64_t others)
{
	const uint64_t end = BEGIN + STEPS * S;
	const char *ranks[2] = { rank, other };

	put(PIDS, BEGIN, "99\t99\t1\ttorchrun\texec\t-\t99\t0\t/\t-\tpython\\000torchrun");
	for (unsigned int i = 0; i < 2; i++) {
		unsigned int pid = 100 * (i + 1);

		put(PIDS, BEGIN + 1, "%u\t%u\t99\tpython\tfork\t-\t%u\t0\t/\t%s\t-", pid, pid, pid, ranks[i]);
		put(PIDS, BEGIN + 2, "%u\t%u\t99\tpython\texec\t-\t%u\t0\t/\t%s\tpython\\000train.py", pid, pid, pid,
		    ranks[i]);
		put(PIDS, end, "%u\t%u\t99\tpython\texit\t0\t%u\t0\t/\t%s\tutime=1000\\040stime=0", pid, pid, pid,
		    ranks[i]);
	}
	for (unsigned int i = 0; i < STEPS; i++) {
		put_region(100, i, "dataloader", "fetch", 0, fetched);
		put_region(100, i, "compute", "backward", fetched, 900 * MS);
		put_region(100, i, "compute", "step", 900 * MS, S);
		put_region(200, i, "dataloader", "fetch", 0, others);
		put_region(200, i, "compute", "backward", others, 900 * MS);
		put_region(200, i, "compute", "step", 900 * MS, S);
	}
}

static void one_rank_is_the_slowest(void **state)
{
	const struct finding *f;
	struct report *r;

	put_two("0", "1", 100 * MS, 500 * MS);
	r = loaded_with(true);
	f = found(r, "rank-skew");
	assert_non_null(f);
	expect_near(f->measure, 600.0 / 400);
	expect_near(f->size.share, 0.2);
	assert_true(shows(f, "process 200, rank 1 was the slowest in 100 % of these steps"));
	report_free(r);
}

static void processes_of_one_parent_are_ranks(void)
{
	put_two("-", "-", 100 * MS, 500 * MS);
}

static void ranks_are_alike(void)
{
	put_two("0", "1", 400 * MS, 500 * MS);
}

/* Each is rank 0 of its own job. */
static void trainings_beside_each_other_are_no_ranks(void **state)
{
	struct report *r;

	put_two("0", "0", 100 * MS, 500 * MS);
	r = loaded_with(true);
	assert_int_equal(r->why->n_trainers, 2);
	assert_null(found(r, "rank-skew"));
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULES_TIMED(an_epochs_first_batch_is_late, FOUND("first-batch", 2 * 0.54 / STEPS),
			    ABSENT("checkpoint-stall"), ABSENT("step-jitter"), ABSENT("rank-skew")),
		RULES_TIMED(each_batch_is_late, ABSENT("first-batch")),
		IN_TREE(some_steps_are_slow),
		RULES_TIMED(some_steps_save, ABSENT("step-jitter"),
			    ABSENT("checkpoint-stall") /* 5 of 300 steps: 4 % of the time */),
		IN_TREE(one_rank_is_the_slowest),
		RULES_TIMED(ranks_are_alike, ABSENT("rank-skew")),
		IN_TREE(trainings_beside_each_other_are_no_ranks),
		RULES_TIMED(processes_of_one_parent_are_ranks, FOUND("rank-skew", NAN)),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
