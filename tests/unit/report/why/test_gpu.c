/* SPDX-License-Identifier: BSD-2-Clause */
/* When GPUs were idle: see ../job.h for the traces. */
#include "report/why/why.h"

#include "../job.h"

static void a_gpu_is_idle_for_what_it_is_not_used(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i <= STEPS; i++) {
		put(GPU, step(i), "0\t100\tC\t25\t10\tpython");
		put(GPU, step(i) + 1000, "1\t999\tC\t99\t10\tother");
	}
	for (unsigned int i = 0; i < STEPS; i++)
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put_rw(pid, step(i) + 700 * MS, 600 * MS, 'R', MiB, i * MiB, MiB, 2);
			put_work(pid, i, 990 * MS);
		}
	r = loaded();
	assert_int_equal(r->why->basis, WHY_BY_GPU);
	assert_int_equal(r->gpus->sample_ns, S);
	expect_near(r->why->waited_ns / r->why->window_ns, 0.75);
	report_free(r);
}

/* The trainer works meanwhile. */
static void a_gpu_that_is_busy_does_not_wait_for_its_processs_cpu(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i <= STEPS; i++) {
		put(GPU, step(i), "0\t100\tC\t96\t10\tpython");
		put(SCHED, step(i) + S, "100\t100\tx\ttarget\t0\t-\t%llu\t9\t0\t%llu\t%llu\t-\t-\t-\t-", N(S),
		    N(500 * MS), N(300 * MS));
	}
	put_rw(101, step(1), MS, 'R', MiB, 0, 0, 2);
	r = loaded();
	assert_int_equal(r->why->basis, WHY_BY_GPU);
	expect_near(is_bottleneck(r, "gpu-bound")->share, 0.96);
	report_free(r);
}

static void a_gpu_without_values_by_process(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i <= STEPS; i++) {
		put(GPU, step(i), "0\t100\tC\t-\t-\tpython");
		put(GPU_DEV, step(i), "0\t100\t60");
		put(GPU_DEV, step(i), "1\t100\t0");
	}
	put_rw(101, step(1), MS, 'R', MiB, 0, 0, 2);
	r = loaded();
	assert_int_equal(r->why->basis, WHY_BY_GPU);
	expect_near(r->why->waited_ns / r->why->window_ns, 0.4);
	assert_non_null(strstr(r->why->notes[0], "gpu_dev.out"));
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(a_gpu_is_idle_for_what_it_is_not_used),
		IN_TREE(a_gpu_that_is_busy_does_not_wait_for_its_processs_cpu),
		IN_TREE(a_gpu_without_values_by_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
