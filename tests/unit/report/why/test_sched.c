/* SPDX-License-Identifier: BSD-2-Clause */
/* Waits by sched.out: see ../job.h for the traces. */
#include "report/why/why_impl.h"

#include "../job.h"

static void a_process_that_runs_all_the_time_waits_for_nothing(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < STEPS; i++)
		put(SCHED, step(i) + S, "100\t100\tx\ttarget\t0\t-\t%llu\t9\t0\t%llu\t%llu\t-\t-\t-\t-", N(S),
		    N(980 * MS), N(0));
	r = loaded();
	assert_int_equal(r->why->basis, WHY_BY_SUMS);
	/* a thread that runs does not wait, whatever is not traced */
	expect_near(is_bottleneck(r, "cpu-bound")->measure, 1);
	assert_true(r->why->waited_ns == 0);
	report_free(r);
}

static void sums_show_page_faults(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < STEPS; i++) {
		put(SCHED, step(i) + S, "100\t100\tx\ttarget\t-\tpoll\t%llu\t9\t-\t-\t-\t0\t0\t%llu\t%llu", N(S),
		    N(800 * MS), N(S));
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put_rw(pid, step(i) + 430 * MS, 1000, 'R', MiB, 0, 0, 2);
			put(SCHED, step(i) + S, "%u\t%u\tx\ttarget\t-\tfault\t%llu\t9\t-\t-\t-\t%llu\t0\t0\t%llu", pid,
			    pid, N(S), N(600 * MS), N(S));
		}
	}
	r = loaded();
	expect_near(why_loader(r->why, 101)->main.ns[SLEEP_FAULT], STEPS * 600. * MS);
	report_free(r);
}

static void sums_show_it_by_the_second(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < STEPS; i++) {
		put(SCHED, step(i) + S, "100\t100\tx\ttarget\t-\tpoll\t%llu\t9\t-\t-\t-\t0\t0\t%llu\t%llu", N(S),
		    N(600 * MS), N(S));
		put(SCHED, step(i) + S, "100\t100\tx\ttarget\t-\tclock_nanosleep\t%llu\t9\t-\t-\t-\t0\t0\t%llu\t%llu",
		    N(S), N(200 * MS), N(S));
		put_rw(101, step(i) + 900 * MS, 100 * MS, 'R', MiB, i * MiB, 0, 2);
		put_rw(102, step(i) + 900 * MS, 100 * MS, 'R', MiB, i * MiB, 0, 2);
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put(SCHED, step(i) + S, "%u\t%u\tx\ttarget\t0\t-\t%llu\t9\t0\t%llu\t%llu\t-\t-\t-\t-", pid, pid,
			    N(S), N(500 * MS), N(100 * MS));
			put(SCHED, step(i) + S, "%u\t%u\tx\ttarget\t-\tpoll\t%llu\t9\t-\t-\t-\t0\t0\t%llu\t%llu", pid,
			    pid, N(S), N(300 * MS), N(S));
		}
	}
	r = loaded();
	assert_int_equal(r->why->basis, WHY_BY_SUMS);
	expect_near(r->why->waited_ns / r->why->window_ns, 0.6);
	report_free(r);
}

/* A job of one second in a longer trace, whose sums have rows LATE. Returns how much it waited. */
static double waited_of_a_second(uint64_t late)
{
	const uint64_t begin = BEGIN + 700 * MS, end = begin + S;
	struct report *r;
	double waited;

	put(PIDS, BEGIN, "99\t99\t1\tsh\texec\t-\t99\t0\t/\t-\tsh");
	put(PIDS, begin, "100\t100\t99\tpython\texec\t-\t100\t0\t/\t-\tpython\\000train.py");
	put(PIDS, begin + 1, "101\t101\t100\tpython\tfork\t-\t101\t0\t/\t-\t-");
	put(PIDS, begin + 2, "101\t101\t100\tpt_data_worker\trename\t-\t101\t0\t/\t-\tpython");
	put(PIDS, end - 1, "101\t101\t100\tpt_data_worker\texit\t0\t101\t0\t/\t-\tutime=0\\040stime=0");
	put(PIDS, end, "100\t100\t99\tpython\texit\t0\t100\t0\t/\t-\tutime=0\\040stime=0");
	put(PIDS, end + late, "99\t99\t1\tsh\texit\t0\t99\t0\t/\t-\tutime=0\\040stime=0");
	put(SCHED, end + late, "100\t100\tx\ttarget\t-\tpoll\t%llu\t9\t-\t-\t-\t0\t0\t%llu\t%llu", N(S + late),
	    N(900 * MS), N(S));
	r = loaded();
	assert_int_equal(r->why->basis, WHY_BY_SUMS);
	waited = r->why->waited_ns / r->why->window_ns;
	report_free(r);
	return waited;
}

/* The sums of a row count for the life of its process, and not before or after it. */
static void sums_of_a_job_that_is_there_for_a_part_of_the_time(void **state)
{
	for (uint64_t late = 0; late < S; late += 300 * MS) {
		double waited = waited_of_a_second(late);

		if (!(waited > 0.88 && waited < 0.901))
			fail_msg("%llu ns late: %g and not 0.9", N(late), waited);
	}
}

/* The row of the last second, when the wait is over, has all of it. */
static void a_wait_of_many_seconds_is_whole(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 5; i <= STEPS; i += 5)
		put(SCHED, step(i), "100\t100\tx\ttarget\t-\tpoll\t%llu\t1\t-\t-\t-\t0\t0\t%llu\t%llu", N(S), N(4 * S),
		    N(4 * S));
	r = loaded();
	assert_int_equal(r->why->basis, WHY_BY_SUMS);
	expect_near(r->why->waited_ns / r->why->window_ns, 0.8);
	report_free(r);
}

/* Time that sched.out has lost is not time without work. */
static void a_process_without_rows_of_sched_out_does_not_compute(void **state)
{
	struct report *r;

	put_alone("python", 2 * S);
	put_rw(100, step(0) + 1000, 500, 'R', MiB, 0, 0, 2);
	put_slept(77, 77, 0, "poll", 0, S);
	r = loaded();
	assert_false(r->why->has_sums);
	is_bottleneck(r, "unknown");
	report_free(r);
	/* only the first of twenty seconds */
	put_alone("python", 2 * S);
	put_rw(100, step(0) + 1000, 500, 'R', MiB, 0, 0, 2);
	put_ran(100, 0, S, 0);
	r = loaded();
	assert_true(r->why->has_sums);
	is_bottleneck(r, "unknown");
	report_free(r);
}

/* Waits of the workload's process before its exec, by which name dltraced was called. */
static void what_waits_before_exec_is_not_the_job(void **state)
{
	const struct account *a;
	struct report *r;

	put_alone("python", 19 * S);
	for (unsigned int i = 0; i < STEPS; i++)
		put_ran(100, i, S, 0);
	put(SCHED, step(0) + S, "100\t100\tdltraced\ttarget\t-\tpoll\t%llu\t1\t-\t-\t-\t0\t0\t%llu\t%llu", N(S),
	    N(500 * MS), N(500 * MS));
	put(SCHED, step(0) + S, "100\t100\tdlt\ttarget\t-\tpoll\t%llu\t1\t-\t-\t-\t0\t0\t%llu\t%llu", N(S), N(500 * MS),
	    N(500 * MS));
	put_rw(100, step(0) + 1000, 500, 'R', MiB, 0, 0, 2);
	tree_put("manifest.json", "{\"tool\":\"dltraced\",\"schema\":1,\"cmdline\":[\"/opt/bin/dlt\",\"start\"],"
				  "\"workload\":{\"pid\":100},\"complete\":true}");
	r = loaded_with(true);
	a = account_of(r, 100);
	adds_up(a);
	assert_true(term(a, ACCOUNT_OTHERS) == 0);
	for (unsigned int i = 0; i < TIMELINE_BINS; i++)
		assert_int_equal(r->timeline->sum[TIMELINE_SLEEP][i], 0);
	report_free(r);
}

/* Loaders and trainer wait for a CPU: the trainer's waits in its fetches, half of its time, are a part of these. */
static void waits_for_a_cpu_in_fetches_count_once(void **state)
{
	const struct finding *b;
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_step(100, i, 500 * MS);
		put_ran(100, i, 200 * MS, 600 * MS);
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put_rw(pid, step(i) + 900 * MS, 1000, 'R', MiB, i * MiB, 0, 2);
			put_ran(pid, i, 100 * MS, 900 * MS);
		}
	}
	r = loaded_with(true);
	b = is_bottleneck(r, "cpu-contention");
	expect_near(b->share, 600. / 800);
	report_free(r);
}

/* A process that loads by itself from mapped data waits in its own faults. */
static void faults_of_a_trainer_without_loaders_are_its_own(void **state)
{
	struct report *r;

	put_alone("python", 8 * S);
	put_rw(100, step(0) + 2000, 1000, 'R', 2 * MiB, 0, 0, 2);
	for (unsigned int i = 0; i < STEPS; i++)
		put(SCHED, step(i) + S, "100\t100\tx\ttarget\t-\tfault\t%llu\t9\t-\t-\t-\t%llu\t0\t0\t%llu", N(S),
		    N(600 * MS), N(S));
	r = loaded();
	expect_near(is_bottleneck(r, "storage-read")->measure, 1);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(a_process_that_runs_all_the_time_waits_for_nothing),
		IN_TREE(sums_show_page_faults),
		IN_TREE(sums_show_it_by_the_second),
		IN_TREE(sums_of_a_job_that_is_there_for_a_part_of_the_time),
		IN_TREE(a_wait_of_many_seconds_is_whole),
		IN_TREE(a_process_without_rows_of_sched_out_does_not_compute),
		IN_TREE(what_waits_before_exec_is_not_the_job),
		IN_TREE(waits_for_a_cpu_in_fetches_count_once),
		IN_TREE(faults_of_a_trainer_without_loaders_are_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
