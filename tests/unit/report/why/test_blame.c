/* SPDX-License-Identifier: BSD-2-Clause */
/* What a trainer without loaders did in its fetches: see ../job.h for the traces. */
#include "report/why/why.h"

#include "../job.h"

/* What it reads and decodes within its fetches is their time; its reads elsewhere are no wait for data. */
static void a_trainer_that_fetches_for_itself(void **state)
{
	struct report *r;

	put_alone("python", 19 * S);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_step(100, i, 500 * MS);
		put_rw(100, step(i) + 110 * MS, 100 * MS, 'R', MiB, i * MiB, MiB, 2);
		put_rw(100, step(i) + 580 * MS, 20 * MS, 'R', MiB, i * MiB, MiB, 3);
		put_ran(100, i, 800 * MS, 0);
		put_slept(100, 100, i, "read", 120 * MS, 0);
		put_slept(100, 100, i, "epoll_wait", 0, 80 * MS);
	}
	r = loaded_with(true);
	assert_int_equal(r->why->basis, WHY_BY_REGIONS);
	assert_true(r->why->waited_ns == STEPS * 500.0 * MS);
	/* 100 ms of reads; the rest is divided like the whole second without its reads: 800 to 80 */
	expect_near(r->why->blame_ns[WHY_DISK] / r->why->waited_ns, 0.2);
	expect_near(r->why->blame_ns[WHY_CPU] / r->why->waited_ns, 0.8 * 800 / 880);
	expect_near(r->why->blame_ns[WHY_OTHER] / r->why->waited_ns, 0.8 * 80 / 880);
	is_bottleneck(r, "decode-cpu");
	report_free(r);
}

/* Without sched.out, its CPU time shows it. */
static void a_trainer_that_fetches_for_itself_without_scheduling(void **state)
{
	struct report *r;

	put_alone("python", 15 * S);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_step(100, i, 500 * MS);
		put_rw(100, step(i) + 110 * MS, 100 * MS, 'R', MiB, i * MiB, MiB, 2);
	}
	r = loaded_with(true);
	assert_int_equal(r->why->basis, WHY_BY_REGIONS);
	expect_near(r->why->blame_ns[WHY_CPU] / r->why->waited_ns, 0.8 * 15 / 20);
	is_bottleneck(r, "decode-cpu");
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(a_trainer_that_fetches_for_itself),
		IN_TREE(a_trainer_that_fetches_for_itself_without_scheduling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
