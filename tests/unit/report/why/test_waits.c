/* SPDX-License-Identifier: BSD-2-Clause */
/* The best source for when a trainer had nothing to do: see ../job.h for the traces. */
#include "report/why/why.h"

#include "../job.h"

/* A second rank, whose GPU has no numbers; WAIT: in each second, by sched.out. */
static struct report *two_ranks(uint64_t wait)
{
	put_job(0);
	put(PIDS, BEGIN, "200\t200\t1\tpython\texec\t-\t200\t0\t/\t-\tpython\\000train.py");
	put(PIDS, BEGIN + STEPS * S, "200\t200\t1\tpython\texit\t0\t200\t0\t/\t-\tutime=1000000000\\040stime=0");
	for (unsigned int i = 0; i <= STEPS; i++) {
		put(GPU, step(i), "0\t100\tC\t25\t10\tpython");
		put(GPU, step(i) + 1000, "1\t200\tC\t-\t-\tpython");
	}
	for (unsigned int i = 0; i < STEPS; i++) {
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put_rw(pid, step(i) + 700 * MS, 600 * MS, 'R', MiB, i * MiB, MiB, 2);
			put_work(pid, i, 990 * MS);
		}
		for (unsigned int pid = 100; wait && pid <= 200; pid += 100)
			put(SCHED, step(i) + S, "%u\t%u\tx\ttarget\t-\tpoll\t%llu\t9\t-\t-\t-\t0\t0\t%llu\t%llu", pid,
			    pid, N(S), N(wait), N(S));
	}
	return loaded();
}

/* The numbers of one are neither discarded nor made coarser because of the other. */
static void a_process_without_a_source_is_left_out(void **state)
{
	struct report *r = two_ranks(0);

	assert_int_equal(r->why->n_trainers, 2);
	assert_int_equal(r->why->basis, WHY_BY_GPU);
	expect_near(r->why->waited_ns / r->why->window_ns, 0.75);
	assert_int_equal(why_trainer_of(r, 200)->basis, WHY_BY_NOTHING);
	expect_near((double)r->why->epoch[0].waited_ns / (double)r->why->epoch[0].waitable_ns, 0.75);
	report_free(r);
}

static void each_trainer_is_judged_by_the_best_that_is_known_of_it(void **state)
{
	struct report *r = two_ranks(500 * MS);

	assert_int_equal(r->why->basis, WHY_BY_SEVERAL);
	assert_int_equal(why_trainer_of(r, 100)->basis, WHY_BY_GPU);
	assert_int_equal(why_trainer_of(r, 200)->basis, WHY_BY_SUMS);
	expect_near((double)why_trainer_of(r, 100)->waited_ns / (STEPS * S), 0.75);
	expect_near((double)why_trainer_of(r, 200)->waited_ns / (STEPS * S), 0.5);
	expect_near(r->why->waited_ns / r->why->window_ns, 0.625);
	report_free(r);
}

/* A file of settings is read, and then packages are imported for seconds: the examined time begins after that. */
static void settings_are_not_where_the_data_begins(void **state)
{
	struct report *r;

	put_alone("python3.12", 15 * S);
	put_file(6, "reg", "ext4", 4000, "/job/config.json");
	put_rw(100, step(0) + 10 * MS, 1000, 'R', 4000, 0, 0, 6);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_ran(100, i, 800 * MS, 0);
		if (i >= 5)
			put_rw(100, step(i) + 10 * MS, 1000, 'R', MiB, i * MiB, 0, 2);
	}
	r = loaded();
	assert_int_equal(why_trainer_of(r, 100)->begin_ns, step(5) + 10 * MS - 1000);
	report_free(r);
	/* it reads only a little now and then */
	put_alone("python3.12", 15 * S);
	for (unsigned int i = 0; i < STEPS; i += 2)
		put_rw(100, step(i) + 10 * MS, 1000, 'R', 4000, i * 4000, 0, 2);
	for (unsigned int i = 0; i < STEPS; i++)
		put_ran(100, i, 800 * MS, 0);
	r = loaded();
	assert_int_equal(why_trainer_of(r, 100)->begin_ns, step(0) + 10 * MS - 1000);
	report_free(r);
}

/* Neither poll(2) nor futex(2), in which it waits, has a row here: its regions show that it waited, and when. */
static void regions_show_when_it_waits(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_step(100, i, 500 * MS);
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put_rw(pid, step(i) + 450 * MS, 400 * MS, 'R', MiB, i * MiB, MiB, 2);
			put_rw(pid, step(i) + 900 * MS, 300 * MS, 'R', MiB, i * MiB, MiB, 2); /* ahead: nobody waits */
			put_work(pid, i, 500 * MS);
		}
	}
	r = loaded_with(true);
	assert_int_equal(r->why->basis, WHY_BY_REGIONS);
	assert_int_equal(r->why->seen, WHY_SEEN_REGIONS);
	assert_true(r->why->window_ns == STEPS * S);
	assert_true(r->why->waited_ns == STEPS * 500.0 * MS); /* to the nanosecond */
	/* two loaders, for 400 ms each: their reads after the fetch do not count */
	assert_int_equal(r->phases->steps.n_slowest, STEPS_SLOWEST);
	for (unsigned int i = 0; i < STEPS_SLOWEST; i++) {
		assert_true(r->phases->steps.slowest[i].io_ns[STEP_IO_DISK] == 2 * 400 * MS);
		assert_true(r->phases->steps.slowest[i].io_ns[STEP_IO_CACHE] == 0);
	}
	report_free(r);
}

/* The program marks its steps, but not its fetches: the other sources know more. */
static void steps_alone_show_no_waits(void **state)
{
	struct report *r;

	put_job(0);
	put_waits(500 * MS);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_region(100, i, "compute", "step", 900 * MS, S);
		put_work(101, i, 500 * MS);
		put_rw(101, step(i) + 450 * MS, 400 * MS, 'R', MiB, i * MiB, MiB, 2);
	}
	r = loaded_with(true);
	assert_int_equal(r->why->basis, WHY_BY_CALLS);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(a_process_without_a_source_is_left_out),
		IN_TREE(each_trainer_is_judged_by_the_best_that_is_known_of_it),
		IN_TREE(settings_are_not_where_the_data_begins),
		IN_TREE(regions_show_when_it_waits),
		IN_TREE(steps_alone_show_no_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
