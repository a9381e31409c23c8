/* SPDX-License-Identifier: BSD-2-Clause */
/* Steps from regions, compared with a clock that knows the innermost region of each instant. */
#include "report/phases/steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"
#include "stats/hist.h"

#define PID 7

static struct phase_steps steps;

static void ends(uint64_t pid, const char *cat, const char *name, uint64_t begin, uint64_t end, int64_t epoch,
		 int64_t number)
{
	phase_steps_take(&steps, &(struct step_region){ .cat = cat,
							.cat_len = (uint32_t)strlen(cat),
							.name = name,
							.name_len = (uint32_t)strlen(name),
							.pid = pid,
							.tid = pid,
							.begin_ns = begin,
							.end_ns = end,
							.epoch = epoch,
							.number = number });
}

static void expect_parts(const uint64_t got[STEP_PARTS], uint64_t fetch, uint64_t compute, uint64_t checkpoint,
			 uint64_t comm, uint64_t other)
{
	const uint64_t want[STEP_PARTS] = { fetch, compute, checkpoint, comm, other };

	for (unsigned int i = 0; i < STEP_PARTS; i++)
		assert_int_equal(got[i], want[i]);
}

static int make(void **state)
{
	memset(&steps, 0, sizeof(steps));
	phase_steps_init(&steps);
	return 0;
}

static int drop(void **state)
{
	phase_steps_free(&steps);
	return 0;
}

/* What the user names ends steps, in any case, and nothing else does; the outer one of two counts. */
static void a_step_is_what_the_user_names(void **state)
{
	static const char *const names[] = { "Train_Batch", "ai.App.Update", "loop.body" };
	static const struct {
		const char *cat, *name;
		bool ends;
	} regions[] = {
		{ "app", "train_batch", true },     { "other", "Trainer.TRAIN_BATCH", true },
		{ "app", "my_train_batch", false }, { "compute", "step", false },
		{ "APP", "update", true },          { "other", "update", false },
		{ "app", "update.x", false },       { "app", "loop.body", true },
		{ "loop", "body", true },           { "ai_framework", "TorchFramework.compute", false },
	};
	uint64_t n = 0;

	steps.names = names;
	steps.n_names = ARRAY_SIZE(names);
	for (unsigned int i = 0; i < ARRAY_SIZE(regions); i++) {
		const uint64_t at = 100 + 100 * (uint64_t)i;

		ends(PID, regions[i].cat, regions[i].name, at, at + 50, -1, i);
		n += regions[i].ends;
	}
	ends(PID, "compute", "forward", 2010, 2020, -1, -1);
	ends(PID, "app", "update", 2030, 2040, -1, 30); /* in the next one */
	ends(PID, "app", "train_batch", 2000, 2050, -1, 31);
	assert_true(phase_steps_any(&steps));
	phase_steps_end(&steps);
	assert_true(steps.named);
	assert_int_equal(steps.n_sums, 1);
	assert_int_equal(steps.sums[0].n, n + 1);
	assert_int_equal(steps.sums[0].end_ns, 2050);
}

static void a_name_that_no_region_has_makes_no_step(void **state)
{
	static const char *const names[] = { "train" };

	steps.names = names;
	steps.n_names = ARRAY_SIZE(names);
	ends(PID, "compute", "step", 100, 110, -1, 1);
	assert_false(phase_steps_any(&steps));
	phase_steps_end(&steps);
	assert_false(steps.named);
	assert_int_equal(steps.n_sums, 0);
}

/* DLIO's steps; a step that another one is around is a part of that, and so is what only sounds like one. */
static void a_name_that_ends_in_compute_or_step_is_one(void **state)
{
	ends(PID, "ai_framework", "TorchFramework.compute", 110, 120, -1, 1);
	ends(PID, "ai_framework", "TorchFramework.trace_object", 121, 122, -1, -1);
	ends(PID, "ai_framework", "precompute", 123, 124, -1, -1);
	ends(PID, "app", "compute.all", 124, 125, -1, -1);
	ends(PID, "compute", "step", 131, 132, -1, 7);
	ends(PID, "ai_framework", "TorchFramework.compute", 130, 140, -1, 2);
	ends(PID, "app", "loop.yield", 129, 141, -1, -1);
	ends(PID, "app", "inner.step", 151, 152, -1, 8);
	ends(PID, "compute", "forward", 153, 154, -1, -1);
	ends(PID, "app", "step", 150, 160, -1, 3); /* too late: its first part was one */
	assert_true(phase_steps_any(&steps));
	phase_steps_end(&steps);
	assert_int_equal(steps.n_sums, 1);
	assert_int_equal(steps.sums[0].n, 3);
	assert_int_equal(steps.sums[0].end_ns, 160);
	assert_int_equal(steps.n_slowest, 3);
	assert_int_equal(steps.slowest[0].number + steps.slowest[1].number + steps.slowest[2].number, 1 + 2 + 8);
}

/* DLIO's epochs: the region around their steps has the number, and so has a checkpoint of the epoch before. */
static void a_region_around_steps_gives_them_its_epoch(void **state)
{
	for (unsigned int epoch = 1; epoch <= 2; epoch++) {
		const uint64_t at = 1000 * epoch;

		for (unsigned int i = 1; i <= 3; i++) {
			ends(PID, "dlio_benchmark", "loop.iter", at + 100 * i, at + 100 * i + 30, -1, i);
			ends(PID, "ai_framework", "TorchFramework.compute", at + 100 * i + 30, at + 100 * i + 80, -1,
			     i);
		}
		ends(PID, "app", "too.late", at + 240, at + 390, 9, -1); /* the near miss: around the last step alone */
		ends(PID, "dlio_benchmark", "DLIOBenchmark._train", at + 90, at + 400, epoch, -1);
		ends(PID, "checkpoint", "save", at + 410, at + 420, epoch, -1);
	}
	phase_steps_end(&steps);
	assert_int_equal(steps.n_sums, 2);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(steps.sums[i].epoch, i + 1);
		assert_int_equal(steps.sums[i].n, 3);
		assert_int_equal(steps.sums[i].part_ns[STEP_FETCH], 3 * 30);
		assert_int_equal(steps.sums[i].part_ns[STEP_COMPUTE], 3 * 50);
	}
	for (unsigned int i = 0; i < steps.n_slowest; i++)
		assert_in_range(steps.slowest[i].epoch, 1, 2);
}

static void categories_and_names_count_without_case(void **state)
{
	ends(PID, "DATALOADER", "fetch", 100, 120, -1, -1);
	ends(PID, "Compute", "Forward", 120, 140, -1, -1);
	ends(PID, "COMPUTE", "Step", 140, 145, -1, 1);
	phase_steps_end(&steps);
	assert_int_equal(steps.n_sums, 1);
	expect_parts(steps.sums[0].part_ns, 20, 25, 0, 0, 0);
}

static void a_step_is_the_sum_of_its_parts(void **state)
{
	ends(PID, "data", "item", 110, 120, -1, -1);
	ends(PID, "dataloader", "fetch", 100, 130, -1, -1);
	ends(PID, "compute", "forward", 135, 150, -1, -1);
	ends(PID, "comm", "all_reduce", 155, 165, -1, -1);
	ends(PID, "compute", "backward", 150, 170, -1, -1);
	ends(PID, "compute", "step", 170, 175, -1, 4);
	ends(PID, "checkpoint", "save", 180, 200, -1, -1);
	ends(PID, "dataloader", "fetch", 170, 210, -1,
	     -1); /* begun in the step before: only the part in this step counts */
	ends(PID, "compute", "step", 215, 220, -1, 5);
	ends(PID, "pipeline", "epoch", 90, 225, 3, -1);
	ends(PID, "compute", "step", 300, 310, -1, 6);
	phase_steps_end(&steps);
	assert_int_equal(steps.n_sums, 2);
	assert_int_equal(steps.sums[0].epoch, 3);
	assert_int_equal(steps.sums[0].n, 2);
	assert_int_equal(steps.sums[0].wall_ns, 75 + 45);
	expect_parts(steps.sums[0].part_ns, 30 + 15, 15 + 10 + 5 + 5, 20, 10, 5 + 5);
	assert_int_equal(steps.sums[0].first_fetch_ns, 30);
	assert_int_equal(steps.sums[0].max_ns, 75);
	assert_int_equal(steps.sums[1].epoch, -1);
	expect_parts(steps.sums[1].part_ns, 0, 10, 0, 0, 80);
	assert_int_equal(steps.n_slowest, 3);
	assert_int_equal(steps.slowest[0].number, 6);
	assert_int_equal(steps.slowest[1].number, 4);
	assert_int_equal(steps.slowest[1].epoch, 3);
	assert_int_equal(steps.slowest[2].begin_ns, 175);
}

static void computes(const char *name, uint64_t begin, uint64_t end, uint64_t samples)
{
	phase_steps_take(&steps, &(struct step_region){ .cat = "compute",
							.cat_len = strlen("compute"),
							.name = name,
							.name_len = (uint32_t)strlen(name),
							.pid = PID,
							.tid = PID,
							.begin_ns = begin,
							.end_ns = end,
							.epoch = 0,
							.number = -1,
							.samples = samples });
}

/* Batches with several backward passes before a step; a pass after the last step trained nothing. */
static void samples_of_its_batches_are_a_steps(void **state)
{
	computes("backward", 110, 120, 32);
	computes("backward", 130, 140, 32);
	computes("step", 150, 160, 0);
	computes("step", 170, 180, 7);
	computes("backward", 190, 195, 32);
	ends(8, "compute", "step", 100, 150, 0, 0);
	phase_steps_end(&steps);
	assert_int_equal(steps.n_sums, 2);
	assert_int_equal(steps.sums[0].samples, 71);
	assert_int_equal(steps.sums[1].samples, 0);
}

/* Regions after the last step belong to its epoch: the last checkpoint, the fetch that finds the end. */
static void what_follows_the_last_step_counts(void **state)
{
	ends(PID, "dataloader", "fetch", 100, 110, 0, -1);
	ends(PID, "compute", "step", 115, 120, 0, 0);
	ends(PID, "dataloader", "fetch", 121, 124, 0, -1);
	ends(PID, "checkpoint", "save", 130, 170, -1, -1);
	ends(PID, "checkpoint", "load", 175, 180, -1, -1);
	ends(PID, "pipeline", "epoch", 90, 200, 0, -1);
	ends(8, "checkpoint", "save", 100, 300, -1, -1); /* of a thread without steps */
	phase_steps_end(&steps);
	assert_int_equal(steps.n_sums, 1);
	assert_int_equal(steps.sums[0].n, 1);
	assert_int_equal(steps.sums[0].wall_ns, 80);
	assert_int_equal(steps.sums[0].begin_ns, 100);
	assert_int_equal(steps.sums[0].end_ns, 180);
	assert_int_equal(steps.sums[0].max_ns, 20); /* not a step */
	expect_parts(steps.sums[0].part_ns, 10 + 3, 5, 40 + 5, 0, 5 + 1 + 6 + 5);
	assert_int_equal(steps.n_trainers, 1);
	assert_null(phase_steps_trainer(&steps, 8));
	assert_int_equal(phase_steps_trainer(&steps, PID)->wall_ns, 80);
	assert_int_equal(phase_steps_trainer(&steps, PID)->end_ns, 180);
	assert_int_equal(phase_steps_trainer(&steps, PID)->save_ns, 40);
}

static void fetches_and_computing_are_exact_unions(void **state)
{
	struct step_trainer *t;

	ends(PID, "data", "item", 110, 120, -1, -1);
	ends(PID, "dataloader", "fetch", 100, 130, -1, -1);
	ends(PID, "data", "preprocess", 125, 140, -1, -1); /* of another lane: overlaps */
	ends(PID, "compute", "forward", 150, 160, -1, -1);
	ends(PID, "device", "transfer", 155, 158, -1, -1);
	ends(PID, "compute", "step", 160, 170, -1, -1);
	ends(PID, "dataloader", "fetch", 180, 190, -1, -1);
	ends(PID, "compute", "step", 195, 200, -1, -1);
	phase_steps_end(&steps);
	t = phase_steps_trainer(&steps, PID);
	assert_int_equal(t->n, 2);
	assert_int_equal(t->begin_ns, 100);
	assert_int_equal(t->spans[STEP_FETCH].total_ns, 40 + 10);
	assert_int_equal(spans_within(&t->spans[STEP_FETCH], 0, 185), 40 + 5);
	assert_int_equal(t->spans[STEP_COMPUTE].total_ns, 20 + 5);
}

/* The fetch that finds the end of an epoch, and those of an evaluation, are not the next epoch's first fetch. */
static void the_first_fetch_is_the_epochs_own(void **state)
{
	ends(PID, "data", "batch", 100, 140, 0, 0);
	ends(PID, "dataloader", "fetch", 100, 150, 0, 0);
	ends(PID, "compute", "step", 150, 160, 0, 0);
	ends(PID, "dataloader", "fetch", 160, 162, 0, 1);
	ends(PID, "compute", "step", 170, 180, 0, 1);
	ends(PID, "dataloader", "fetch", 180, 190, 0, 2);
	ends(PID, "dataloader", "fetch", 200, 233, 0, 2); /* of an evaluation */
	ends(PID, "dataloader", "fetch", 300, 370, 1, 2);
	ends(PID, "dataloader", "fetch", 372, 374, 1, 2);
	ends(PID, "compute", "step", 380, 390, 1, 2);
	phase_steps_end(&steps);
	assert_int_equal(steps.n_sums, 2);
	assert_int_equal(steps.sums[0].first_fetch_ns, 50);
	assert_int_equal(steps.sums[1].first_fetch_ns, 70);
}

/* It includes the start of the loader's workers. */
static void the_first_fetch_begins_with_the_loader(void **state)
{
	for (unsigned int e = 0; e < 2; e++) {
		uint64_t at = 1000 * e;

		ends(PID, "dataloader", "start", at + 100, at + 130, e, -1);
		ends(PID, "data", "batch", at + 132, at + 140, e, -1);
		ends(PID, "dataloader", "fetch", at + 131, at + 150, e, -1);
		ends(PID, "compute", "step", at + 170, at + 180, e, -1);
		ends(PID, "dataloader", "fetch", at + 180, at + 185, e, -1);
	}
	phase_steps_end(&steps);
	assert_int_equal(steps.sums[0].begin_ns, 100);
	assert_int_equal(steps.sums[0].first_fetch_ns, 50);
	assert_int_equal(steps.sums[1].first_fetch_ns, 50);
	assert_int_equal(steps.trainers[0].spans[STEP_FETCH].total_ns, 2 * (30 + 19 + 5));
}

/* Only the regions around the epochs number them. */
static void the_first_fetch_without_numbers(void **state)
{
	for (unsigned int e = 0; e < 2; e++) {
		uint64_t at = 1000 * e;

		ends(PID, "dataloader", "fetch", at + 100, at + 150 + 10 * e, -1, -1);
		ends(PID, "compute", "step", at + 170, at + 180, -1, -1);
		ends(PID, "dataloader", "fetch", at + 180, at + 185, -1, -1);
		ends(PID, "compute", "step", at + 190, at + 200, -1, -1);
		ends(PID, "dataloader", "fetch", at + 200, at + 201, -1, -1);
		ends(PID, "pipeline", "epoch", at + 90, at + 210, e, -1);
	}
	phase_steps_end(&steps);
	assert_int_equal(steps.n_sums, 2);
	assert_int_equal(steps.sums[0].first_fetch_ns, 50);
	assert_int_equal(steps.sums[1].first_fetch_ns, 60);
}

/* Steady steps exclude an epoch's first one, and the time of checkpoints. */
static void steady_steps_are_without_checkpoints(void **state)
{
	uint64_t at = 1000;

	for (unsigned int i = 0; i < 40; i++) {
		uint64_t save = i % 4 == 3 ? 500 : 0, fetch = i % 10 ? 10 : 900;

		ends(PID, "dataloader", "fetch", at, at + fetch, i / 10, i);
		if (save)
			ends(PID, "checkpoint", "save", at + fetch, at + fetch + save, i / 10, i);
		at += fetch + save + 20;
		ends(PID, "compute", "step", at - 20, at, i / 10, i);
	}
	phase_steps_end(&steps);
	assert_int_equal(steps.trainers[0].steady->n, 36);
	assert_int_equal(steps.trainers[0].steady_p50_ns, 30);
	assert_int_equal(steps.trainers[0].steady_p99_ns, 30);
	assert_int_equal(steps.trainers[0].save_ns, 10 * 500);
}

/* Ranks wait for the slowest one in collectives and in backward: whole steps are equal, their own work is not. */
static void the_same_step_of_ranks_is_compared(void **state)
{
	for (unsigned int i = 0; i < 11; i++) {
		uint64_t at = 1000 * (i + 1);

		for (uint64_t pid = 1; pid <= 2; pid++) {
			uint64_t own = pid == 2 ? 300 : 100;

			ends(pid, "dataloader", "fetch", at, at + own, 0, i);
			ends(pid, "compute", "backward", at + own, at + 900, 0, i);
			ends(pid, "comm", "all_reduce", at + 900, at + 950, 0, i);
			ends(pid, "compute", "step", at + 950, at + 1000, 0, i);
		}
	}
	phase_steps_end(&steps);
	assert_int_equal(steps.skew.n, 10); /* not the first one */
	assert_true(steps.skew.mean_ns == 10 * (150 + 350) / 2.0);
	assert_true(steps.skew.slowest_ns == 10 * 350.0);
	assert_true(steps.skew.wall_ns == 10 * 1000.0);
	assert_int_equal(steps.skew.slowest[0], 0);
	assert_int_equal(steps.skew.slowest[1], 10);
}

/* Two runs of a job, one after the other, with equal numbers: not ranks. */
static void runs_behind_each_other_are_not_compared(void **state)
{
	for (unsigned int i = 0; i < 20; i++) {
		uint64_t at = 1000 * (i + 1), pid = 1 + i / 10;

		ends(pid, "dataloader", "fetch", at, at + 100 * pid, 0, i % 10);
		ends(pid, "compute", "step", at + 900, at + 950, 0, i % 10);
	}
	phase_steps_end(&steps);
	assert_int_equal(steps.n_trainers, 2);
	assert_int_equal(steps.skew.n, 0);
}

static void processes_and_epochs_have_sums_of_their_own(void **state)
{
	for (unsigned int i = 0; i < 40; i++) {
		uint64_t pid = 1 + i % 2;

		ends(pid, "dataloader", "fetch", 100 * i, 100 * i + 10, i / 20, -1);
		ends(pid, "compute", "step", 100 * i + 10, 100 * i + 30, -1, i);
	}
	ends(3, "data", "item", 0, 10, -1, -1); /* a worker: no steps */
	phase_steps_end(&steps);
	assert_int_equal(steps.n_sums, 4);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(steps.sums[i].n, 10);
		assert_int_equal(steps.sums[i].epoch, i / 2);
		expect_parts(steps.sums[i].part_ns, 100, 200, 0, 0, steps.sums[i].wall_ns - 300);
	}
	assert_int_equal(steps.n_slowest, STEPS_SLOWEST);
}

#define TICKS 4096
static uint8_t clock_part[TICKS]; /* 1 + the part of each tick */

static const struct {
	const char *cat, *name;
	enum step_part part;
} kinds[] = {
	{ "data", "item", STEP_FETCH },
	{ "compute", "forward", STEP_COMPUTE },
	{ "checkpoint", "save", STEP_CHECKPOINT },
	{ "comm", "barrier", STEP_COMM },
	{ "mine", "own", STEP_OTHER },
};

/* A region from BEGIN on with regions in it. Returns its end. */
static uint64_t region(uint64_t begin, unsigned int depth)
{
	unsigned int kind = (unsigned int)rand() % ARRAY_SIZE(kinds);
	uint64_t at = begin;

	for (int n = depth ? rand() % 4 : 0; n; n--)
		at = region(at + (uint64_t)(rand() % 3), depth - 1) + (uint64_t)(rand() % 3);
	at += 1 + (uint64_t)(rand() % 3);
	for (uint64_t i = begin; i < at && kinds[kind].part != STEP_OTHER; i++)
		if (!clock_part[i])
			clock_part[i] = (uint8_t)(1 + kinds[kind].part);
	ends(PID, kinds[kind].cat, kinds[kind].name, begin, at, -1, -1);
	return at;
}

static void each_instant_is_of_its_innermost_region(void **state)
{
	for (unsigned int seed = 0; seed < 300; seed++) {
		uint64_t want[STEP_PARTS] = { 0 }, at = 10, from = 10, last = 10;

		srand(seed);
		make(NULL);
		memset(clock_part, 0, sizeof(clock_part));
		ends(PID, "compute", "step", 9, 10, 1, 0);
		while (at < TICKS - 1000) {
			at = region(at, 3) + (uint64_t)(rand() % 5);
			if (rand() % 8 == 0) {
				ends(PID, "compute", "step", at, at + 2, 1, 1);
				clock_part[at] = clock_part[at + 1] = 1 + STEP_COMPUTE;
				at += 2;
				for (; from < at; from++)
					want[clock_part[from] ? clock_part[from] - 1U : STEP_OTHER]++;
			}
		}
		for (uint64_t i = from; i < TICKS; i++)
			last = clock_part[i] ? i + 1 : last;
		for (; from < last; from++) /* after the last step, up to the last region */
			want[clock_part[from] ? clock_part[from] - 1U : STEP_OTHER]++;
		want[STEP_COMPUTE]++; /* the first step */
		phase_steps_end(&steps);
		assert_int_equal(steps.n_sums, 1);
		expect_parts(steps.sums[0].part_ns, want[0], want[1], want[2], want[3], want[4]);
		assert_int_equal(steps.sums[0].wall_ns, want[0] + want[1] + want[2] + want[3] + want[4]);
		drop(NULL);
	}
	make(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_name_that_ends_in_compute_or_step_is_one, make, drop),
		cmocka_unit_test_setup_teardown(a_name_that_no_region_has_makes_no_step, make, drop),
		cmocka_unit_test_setup_teardown(a_step_is_what_the_user_names, make, drop),
		cmocka_unit_test_setup_teardown(a_region_around_steps_gives_them_its_epoch, make, drop),
		cmocka_unit_test_setup_teardown(categories_and_names_count_without_case, make, drop),
		cmocka_unit_test_setup_teardown(a_step_is_the_sum_of_its_parts, make, drop),
		cmocka_unit_test_setup_teardown(samples_of_its_batches_are_a_steps, make, drop),
		cmocka_unit_test_setup_teardown(what_follows_the_last_step_counts, make, drop),
		cmocka_unit_test_setup_teardown(fetches_and_computing_are_exact_unions, make, drop),
		cmocka_unit_test_setup_teardown(the_first_fetch_is_the_epochs_own, make, drop),
		cmocka_unit_test_setup_teardown(the_first_fetch_begins_with_the_loader, make, drop),
		cmocka_unit_test_setup_teardown(the_first_fetch_without_numbers, make, drop),
		cmocka_unit_test_setup_teardown(steady_steps_are_without_checkpoints, make, drop),
		cmocka_unit_test_setup_teardown(the_same_step_of_ranks_is_compared, make, drop),
		cmocka_unit_test_setup_teardown(runs_behind_each_other_are_not_compared, make, drop),
		cmocka_unit_test_setup_teardown(processes_and_epochs_have_sums_of_their_own, make, drop),
		cmocka_unit_test_setup_teardown(each_instant_is_of_its_innermost_region, make, drop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
