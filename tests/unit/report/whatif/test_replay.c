/* SPDX-License-Identifier: BSD-2-Clause */
/* The replay against closed forms, and against what must hold for any job. */
#include "report/whatif/replay.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"

#define MS 1e6
#define N 200U

static struct whatif_batch batches[N];
static struct whatif_step steps[N];
static struct whatif_model model;

static int set_up(void **state)
{
	memset(batches, 0, sizeof(batches));
	memset(steps, 0, sizeof(steps));
	model = (struct whatif_model){
		.loader = { .known = true, .workers = 2, .prefetch = 2, .in_order = true },
		.batches = batches,
		.steps = steps,
		.n = N,
		.cpus = 64,
		.width = 1,
		.stretch = 1,
	};
	return 0;
}

/* Batches that sleep SERVICE_MS each, as those of a server do, and steps of STEP_MS. */
static void put_constant(double service_ms, double step_ms)
{
	for (uint32_t i = 0; i < N; i++) {
		batches[i].worker = i % MAX(1U, model.loader.workers);
		batches[i].net_ns = service_ms * MS;
		steps[i].sleep_ns = step_ms * MS;
	}
}

static struct whatif_run replayed(void)
{
	struct whatif_run run;

	assert_int_equal(whatif_replay(&model, &run), 0);
	return run;
}

static void expect_ms(double ns, double ms)
{
	if (fabs(ns / MS - ms) > 1e-3)
		fail_msg("%.6f ms, not %.6f", ns / MS, ms);
}

/* --- closed forms ------------------------------------------------------------------------------------------------ */

/* The first batch is there after one service; from then on the slower side sets the pace: max(t, s / W). */
static void the_slower_side_sets_the_pace(void **state)
{
	static const struct {
		uint32_t workers;
		double service, step, total;
	} rows[] = {
		/* workers: batches come in groups of W, a service apart; behind the last one its step */
		{ 1, 10, 3, 200 * 10 + 3 },
		{ 2, 10, 3, 100 * 10 + 2 * 3 },
		{ 4, 40, 3, 50 * 40 + 4 * 3 },
		/* the trainer: all steps behind the first batch */
		{ 4, 10, 3, 10 + 200 * 3 },
		{ 2, 10, 20, 10 + 200 * 20 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		model.loader.workers = rows[i].workers;
		put_constant(rows[i].service, rows[i].step);
		expect_ms(replayed().total_ns, rows[i].total);
	}
}

static void without_workers_all_is_in_turn(void **state)
{
	struct whatif_run run;

	model.loader.workers = 0;
	put_constant(10, 3);
	run = replayed();
	expect_ms(run.total_ns, 200 * 13);
	expect_ms(run.exposed_ns, 200 * 10);
	expect_ms(run.steady_exposed_ns, 200 * 10);
}

static void fixed_costs_are_where_they_arise(void **state)
{
	model.loader.workers = 1;
	put_constant(10, 3);
	model.fork_ns = 5 * MS;
	model.boot_ns = 7 * MS;
	model.gap_ns = 1 * MS;
	for (uint32_t i = 0; i < N; i++)
		batches[i].deliver_ns =
			9 * MS; /* which nobody sees, but for the last one: its worker has nothing else to do */
	model.deliver_idle_ns = 2 * MS;
	model.fetch_ns = 0.5 * MS;
	model.last_ns = 4 * MS;
	expect_ms(replayed().total_ns, 5 + 7 + 200 * 10 + 199 * 1 + 2 + 0.5 + 3 + 4);
}

/* With one batch ahead the worker begins batch I when batch I - 1 is taken: it is never more than one ahead. */
static void prefetch_bounds_how_far_a_worker_is_ahead(void **state)
{
	model.loader.workers = 1;
	put_constant(10, 3);
	/* one slow step in the middle: the worker makes PREFETCH batches meanwhile, which are taken at once then */
	steps[99].sleep_ns = 103 * MS;
	model.loader.prefetch = 1;
	expect_ms(replayed().total_ns, 100 * 10 + 103 + 99 * 10 + 3);
	model.loader.prefetch = 4;
	expect_ms(replayed().total_ns, 100 * 10 + 103 + 96 * 10 + 3);
}

/* The trainer gets a batch late, but the worker goes on meanwhile: a constant delay delays all by once. */
static void handing_on_takes_no_workers_time(void **state)
{
	model.loader.workers = 1;
	put_constant(10, 3);
	for (uint32_t i = 0; i < N; i++)
		batches[i].deliver_ns = 8 * MS;
	model.deliver_idle_ns = 8 * MS;
	expect_ms(replayed().total_ns, 200 * 10 + 8 + 3);
	model.deliver_idle_ns = 1 * MS;
	expect_ms(replayed().total_ns, 200 * 10 + 1 + 3);
}

/* Two threads on one CPU get half of it each. */
static void cpus_are_shared(void **state)
{
	for (uint32_t i = 0; i < N; i++)
		batches[i].cpu_ns = 10 * MS;
	model.cpus = 1;
	expect_ms(replayed().total_ns, 200 * 10);
	model.cpus = 2;
	expect_ms(replayed().total_ns, 100 * 10);
	model.stretch = 1.5;
	expect_ms(replayed().total_ns, 100 * 15);
}

/* A limited disk gives its rate to all readers together, so workers do not matter. */
static void a_limit_is_for_all_readers(void **state)
{
	model.storage = (struct whatif_storage){ .kind = WHATIF_LIMIT, .rate = 8e6 / 1e9, .fast = 1 };
	for (uint32_t i = 0; i < N; i++)
		batches[i].disk_bytes = 80e3;
	for (uint32_t workers = 1; workers <= 8; workers *= 2) {
		model.loader.workers = workers;
		expect_ms(replayed().total_ns, 200 * 10);
	}
	model.storage.depth = 800e3; /* these come at once: 0.8 ms at 1 GB/s, with the tokens of this time, too */
	assert_true(replayed().total_ns < 191 * 10 * MS && replayed().total_ns > 189 * 10 * MS);
}

static void a_latency_is_of_each_reader(void **state)
{
	model.storage.kind = WHATIF_LATENCY;
	for (uint32_t i = 0; i < N; i++) {
		batches[i].disk_bytes = 80e3;
		batches[i].disk_ns = 10 * MS;
	}
	model.loader.workers = 4;
	expect_ms(replayed().total_ns, 50 * 10);
	assert_true(replayed().workers_busy > 0.999);
}

/* --- order -----------------------------------------------------------------------------------------------------------
 */

/*
 * A slow batch holds up those behind it, unless batches may come out of order. In order the other worker makes two
 * more, and the slow one's worker has 74 left behind it; else the other one makes 50 meanwhile, and both share the 99
 * left.
 */
static void a_straggler_is_waited_for_in_order_alone(void **state)
{
	put_constant(10, 0);
	batches[50].net_ns = 500 * MS;
	expect_ms(replayed().total_ns, 25 * 10 + 500 + 74 * 10);
	model.loader.in_order = false;
	expect_ms(replayed().total_ns, 25 * 10 + 500 + 50 * 10);
}

/* The same jobs in any order: nothing is lost or made twice, whatever the services are. */
static void all_batches_are_taken(void **state)
{
	struct whatif_run run;

	srand(7);
	for (unsigned int turn = 0; turn < 40; turn++) {
		double work = 0;

		model.loader.workers = 1 + (uint32_t)rand() % 6;
		model.loader.prefetch = 1 + (uint32_t)rand() % 4;
		model.loader.in_order = turn % 2;
		model.cpus = 16;
		for (uint32_t i = 0; i < N; i++) {
			batches[i].cpu_ns = rand() % 20 * MS;
			batches[i].net_ns = rand() % 20 * MS;
			batches[i].reads = (uint32_t)rand() % 9;
			steps[i].sleep_ns = rand() % 10 * MS;
			work += batches[i].cpu_ns + batches[i].net_ns;
		}
		run = replayed();
		/* conservation: the workers worked exactly as long as their batches take */
		assert_true(fabs(run.worked_ns - work) < 1e-6 * work);
	}
}

/* --- what must hold for any job ------------------------------------------------------------------------------------
 */

static void put_random(void)
{
	for (uint32_t i = 0; i < N; i++) {
		batches[i].cpu_ns = rand() % 20 * MS;
		batches[i].net_ns = rand() % 50 * MS;
		steps[i].sleep_ns = rand() % 15 * MS;
	}
}

/*
 * A batch waits for the one before it of its worker, start(i) = max(end(i - W), taken(i - P * W)), so so many times the
 * workers never make it later. Other numbers may: they deal batches that take long to other workers.
 */
static void more_workers_are_never_slower_on_idle_cpus(void **state)
{
	static const uint32_t doubled[][5] = { { 0, 1, 2, 4, 8 }, { 0, 1, 3, 6, 12 }, { 0, 1, 5, 10, 20 } };

	srand(11);
	for (unsigned int turn = 0; turn < 21; turn++) {
		double last = INFINITY, now;

		put_random();
		for (size_t i = 0; i < ARRAY_SIZE(doubled[0]); i++) {
			model.loader.workers = doubled[turn % 3][i];
			now = replayed().total_ns;
			assert_true(now <= last + 1);
			last = now;
		}
	}
}

static void prefetch_and_faster_parts_are_never_slower(void **state)
{
	srand(13);
	for (unsigned int turn = 0; turn < 20; turn++) {
		double one, more, faster;

		put_random();
		model.loader.prefetch = 1;
		one = replayed().total_ns;
		model.loader.prefetch = 3;
		more = replayed().total_ns;
		for (uint32_t i = 0; i < N; i++)
			batches[i].net_ns /= 2;
		faster = replayed().total_ns;
		assert_true(more <= one + 1 && faster <= more + 1);
	}
}

/* No schedule beats the busiest resource, and none is worse than one thing after the other. */
static void time_is_between_the_bounds(void **state)
{
	srand(17);
	for (unsigned int turn = 0; turn < 20; turn++) {
		double step = 0, work = 0, cpu = 0, total;

		put_random();
		for (uint32_t i = 0; i < N; i++) {
			step += steps[i].sleep_ns;
			work += batches[i].cpu_ns + batches[i].net_ns;
			cpu += batches[i].cpu_ns;
		}
		model.loader.workers = 1 + turn % 5;
		model.cpus = 1 + turn % 3;
		total = replayed().total_ns;
		assert_true(total >= MAX(step, MAX(work / model.loader.workers, cpu / model.cpus)) - 1);
		assert_true(total <= step + work + 1);
	}
}

/* --- checkpoints
 * ------------------------------------------------------------------------------------------------------ */

static void a_save_in_the_background_leaves_its_copy(void **state)
{
	put_constant(1, 10);
	for (uint32_t i = 19; i < N; i += 20) {
		steps[i].save_cpu_ns = 20 * MS;
		steps[i].save_wait_ns = 80 * MS;
		steps[i].save_bytes = 40e6; /* 10 ms */
	}
	expect_ms(replayed().total_ns, 1 + 200 * 10 + 10 * 100);
	model.async_saves = true;
	expect_ms(replayed().total_ns, 1 + 200 * 10 + 10 * 10);
	/* a save that takes longer than the steps between two holds up the next one */
	for (uint32_t i = 19; i < N; i += 20)
		steps[i].save_wait_ns = 280 * MS;
	expect_ms(replayed().total_ns, 1 + 200 * 10 + 10 + 9 * (300 - 190));
}

static void odd_models_are_refused(void **state)
{
	struct whatif_run run;

	model.n = 0;
	assert_int_equal(whatif_replay(&model, &run), -22);
	model.n = N;
	model.loader.prefetch = 0;
	assert_int_equal(whatif_replay(&model, &run), -22);
	model.loader.workers = WHATIF_WORKERS_MAX + 1;
	model.loader.prefetch = 1;
	assert_int_equal(whatif_replay(&model, &run), -22);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_slower_side_sets_the_pace, set_up),
		cmocka_unit_test_setup(without_workers_all_is_in_turn, set_up),
		cmocka_unit_test_setup(fixed_costs_are_where_they_arise, set_up),
		cmocka_unit_test_setup(prefetch_bounds_how_far_a_worker_is_ahead, set_up),
		cmocka_unit_test_setup(handing_on_takes_no_workers_time, set_up),
		cmocka_unit_test_setup(cpus_are_shared, set_up),
		cmocka_unit_test_setup(a_limit_is_for_all_readers, set_up),
		cmocka_unit_test_setup(a_latency_is_of_each_reader, set_up),
		cmocka_unit_test_setup(a_straggler_is_waited_for_in_order_alone, set_up),
		cmocka_unit_test_setup(all_batches_are_taken, set_up),
		cmocka_unit_test_setup(more_workers_are_never_slower_on_idle_cpus, set_up),
		cmocka_unit_test_setup(prefetch_and_faster_parts_are_never_slower, set_up),
		cmocka_unit_test_setup(time_is_between_the_bounds, set_up),
		cmocka_unit_test_setup(a_save_in_the_background_leaves_its_copy, set_up),
		cmocka_unit_test_setup(odd_models_are_refused, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
