/* SPDX-License-Identifier: BSD-2-Clause */
/* Loaders, beside each other: see ../job.h for the traces. */
#include "report/rules/rules.h"

#include "../job.h"

/* A loader of three threads: no part exceeds the whole. */
static void no_share_is_more_than_all(void **state)
{
	struct report *r;

	put_job(3 * STEPS * S);
	put_same_reads(15);
	r = loaded();
	expect_near(found(r, "loader-cpu-bound")->share, 1);
	assert_true(shows(found(r, "loader-cpu-bound"), "loaders used 60.0 s of CPU time in 20.0 s of their lives"));
	for (unsigned int i = 0; i < r->why->rules->n; i++)
		assert_false(r->why->rules->found[i].share > 1);
	report_free(r);
}

static void loaders_that_differ(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < 20; i++)
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put_open(pid, step(i) + 10 * MS, 10, 2);
			put_rw(pid, step(i) + 500 * MS, pid == 101 ? 400 * MS : 100 * MS, 'R',
			       pid == 101 ? 3 * MiB : MiB, i * MiB, 0, 2);
		}
	r = loaded();
	expect_near(found(r, "straggler-data")->measure, 3);
	assert_true(found(r, "slow-worker")->measure > 3.9);
	assert_int_equal(r->why->epoch[0].slow_worker, 101);
	assert_int_equal(r->why->epoch[0].workers, 2);
	assert_string_equal(r->why->epoch[0].slow[0].path, "/data/shard.tar");
	report_free(r);
}

static void loaders_short_of_cpu_while_others_are_idle(void)
{
	put_job(STEPS * 950 * MS);
	put_waits(500 * MS);
	for (unsigned int i = 0; i < STEPS; i++) {
		put(CPU, step(i) + S, "1\tall\t25.00\t75.00");
		for (unsigned int pid = 101; pid <= 102; pid++)
			put_work(pid, i, 990 * MS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(no_share_is_more_than_all),
		IN_TREE(loaders_that_differ),
		RULES(loaders_short_of_cpu_while_others_are_idle, ANSWER("decode-cpu", NAN),
		      FOUND("loader-cpu-bound", 0.95), FOUND("too-few-workers", 0.75)),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
