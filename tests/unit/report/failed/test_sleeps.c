/* SPDX-License-Identifier: BSD-2-Clause */
/* Sleeps after calls that failed, and others. */
#include "failed.h"

static void sleeps(unsigned int tid, uint64_t from, uint64_t to, const char *by)
{
	put_wait_row(&(struct put_wait){
		.pid = JOB, .tid = tid, .from = from, .to = to, .call = "clock_nanosleep", .by = by });
}

static uint64_t slept_ns(void)
{
	struct report *r = failed_loaded();
	const uint64_t ns = r->failed->v[0].slept_ns;

	assert_int_equal(r->failed->n, 1);
	report_free(r);
	return ns;
}

static void a_pause_after_each_failure_counts(void **state)
{
	put_job();
	put_written(100 * MS, JOB, "write", -ENOSPC, 1);
	put_written(400 * MS, JOB, "write", -ENOSPC, 2);
	sleeps(JOB, 101 * MS, 301 * MS, "timer");
	sleeps(JOB, 400 * MS, 450 * MS, "timer");
	assert_int_equal(slept_ns(), 250 * MS);
}

/* A sleep before, long after, of another thread, one that somebody ended, and the next one. */
static void other_sleeps_do_not(void **state)
{
	put_job();
	put_written(100 * MS, JOB, "write", -ENOSPC, 1);
	sleeps(JOB, 50 * MS, 99 * MS, "timer");
	sleeps(JOB, 105 * MS, 110 * MS, "thread");
	sleeps(JOB, 121 * MS, 200 * MS, "timer");
	sleeps(11, 101 * MS, 300 * MS, "timer");
	assert_int_equal(slept_ns(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(a_pause_after_each_failure_counts),
		IN_TREE(other_sleeps_do_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
