/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes that free memory themselves: see ../job.h for the traces. */
#include "report/why/reclaims.h"

#include "../job.h"

/* Thread TID of PID frees 32 pages. */
static void put_reclaim(unsigned int pid, unsigned int tid, uint64_t end, uint64_t lat, const char *kind)
{
	put(RECLAIM, end, "%u\t%u\tx\t%s\t%llu\t32", pid, tid, kind, N(lat));
}

/* Both loaders read for 690 ms of each step; of these, each frees memory for LAT, with two threads at the same time. */
static struct report *loaders_that_reclaim(uint64_t lat)
{
	put_job(0);
	put_waits(800 * MS);
	for (unsigned int i = 0; i < STEPS; i++)
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put_rw(pid, step(i) + 700 * MS, 690 * MS, 'R', MiB, i * MiB, MiB, 2);
			put_work(pid, i, 800 * MS);
			put_reclaim(pid, pid, step(i) + 600 * MS, lat, "cgroup");
			put_reclaim(pid, 10 * pid, step(i) + 600 * MS, lat, "cgroup");
		}
	put_reclaim(100, 100, step(1) + 900 * MS, 10 * MS, "machine");
	put_reclaim(7, 7, step(2), S / 2, "machine"); /* another process of the job */
	return loaded();
}

static void loaders_that_free_memory_are_short_of_it(void **state)
{
	struct report *r = loaders_that_reclaim(200 * MS);
	const struct finding *f = found(r, "reclaim");

	assert_non_null(f);
	expect_near(f->measure, 0.2);
	assert_true(
		shows(f, "main processes freed memory themselves in 0.1 % of their time, loaders in 20.0 % of theirs"));
	assert_true(shows(
		f,
		"at a cgroup's limit of memory (KIND cgroup): 80 times, 200 ms each, 16.0 s in all, 2560 pages freed"));
	assert_true(shows(f, "as the machine had too little free memory (KIND machine): 2 times"));
	report_free(r);
}

static void loaders_that_free_little_are_not_short_of_it(void **state)
{
	struct report *r = loaders_that_reclaim(40 * MS);

	assert_null(found(r, "reclaim"));
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(loaders_that_free_memory_are_short_of_it),
		IN_TREE(loaders_that_free_little_are_not_short_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
