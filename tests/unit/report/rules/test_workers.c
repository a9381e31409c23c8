/* SPDX-License-Identifier: BSD-2-Clause */
/* Loaders, beside each other: see ../job.h for the traces. */
#include "report/rules/rules.h"

#include "../job.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(loaders_that_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
