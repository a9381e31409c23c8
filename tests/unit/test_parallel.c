/* SPDX-License-Identifier: BSD-2-Clause */
#include "parallel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define JOBS 1000

static void count(void *ctx, unsigned int i)
{
	__atomic_fetch_add(&((unsigned int *)ctx)[i], 1, __ATOMIC_RELAXED);
}

static void each_job_is_done_once(void **state)
{
	static const unsigned int threads[] = { 0, 1, 3, 1000 };

	for (unsigned int t = 0; t < sizeof(threads) / sizeof(threads[0]); t++) {
		unsigned int done[JOBS] = {};

		parallel_run(count, done, JOBS, threads[t]);
		for (unsigned int i = 0; i < JOBS; i++)
			assert_int_equal(done[i], 1);
	}
}

static void no_jobs_are_no_call(void **state)
{
	unsigned int none = 0;

	parallel_run(count, &none, 0, 3);
	assert_int_equal(none, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_job_is_done_once),
		cmocka_unit_test(no_jobs_are_no_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
