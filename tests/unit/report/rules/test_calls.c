/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens, imports and output: see ../job.h for the traces. */
#include "report/rules/rules.h"

#include "../job.h"

/* Libraries are mapped: their cost is in page faults, and in stat(2) of possible places, before there is data. */
static void imports_wait_in_faults_and_stat_before_the_data(void **state)
{
	const struct finding *f;
	struct report *r;

	put_alone("python3.12", S);
	put_open(100, BEGIN + 5 * MS, MS, 6);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_slept(100, 100, i, "fault", 500 * MS, 0);
		put_slept(100, 100, i, "newfstatat", 0, 100 * MS);
		if (i >= STEPS / 2)
			put_rw(100, step(i) + 10 * MS, 1000, 'R', MiB, i * MiB, 0, 2);
	}
	r = loaded();
	f = found(r, "slow-imports");
	assert_non_null(f);
	assert_in_range((unsigned int)(1000 * f->measure), 290, 310); /* 0.6 of half of its life */
	assert_true(shows(f, "page faults and for"));
	report_free(r);
}

static void a_storm_of_opens(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < 3000; i++) {
		put_open(101, BEGIN + (i + 1) * MS / 2, 1000, 2);
		put_rw(101, BEGIN + (i + 1) * MS / 2 + 10, 10, 'R', 4096, 0, 0, 2);
	}
	r = loaded();
	assert_true(found(r, "open-storm")->measure >= 1900);
	assert_int_equal(r->why->epoch[0].samples, 3000);
	report_free(r);
}

static void opens_that_fail(void)
{
	put_job(0);
	for (unsigned int i = 0; i < 2000; i++)
		put(OPEN, BEGIN + (i + 1) * MS, "101\t101\tx\topenat\t1000\t-\t%d\tRDONLY\t-\t-\t-\tf\t-",
		    i % 4 ? -2 : 5);
}

static void writes_and_standard_output(void)
{
	put_job(0);
	put_file(4, "chr", "devpts", 0, "/dev/pts/1");
	for (unsigned int i = 0; i < 2000; i++) {
		put_rw(100, BEGIN + (i + 1) * MS, 10, 'W', 8192, i * 8192, 0, 3);
		put(RW, BEGIN + (i + 1) * MS + 1, "100\t100\tx\tW\twrite\t10\t4096\t4096\t-\t0\t1\t-\t4\t1");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(imports_wait_in_faults_and_stat_before_the_data),
		IN_TREE(a_storm_of_opens),
		RULES(opens_that_fail, FOUND("failed-opens", 0.75)),
		RULES(writes_and_standard_output, FOUND("small-writes", 1), FOUND("stdout-heavy", 1. / 3),
		      ABSENT("write-intensive") /* 16 MiB are little */),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
