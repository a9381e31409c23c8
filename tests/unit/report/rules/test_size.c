/* SPDX-License-Identifier: BSD-2-Clause */
/* What the calls of a rule cost: see ../job.h for the traces. */
#include "report/rules/rules.h"

#include "../job.h"

/* A problem takes half a second of 20 s, 2 ms are none; a description of the job never is. */
static void what_costs_little_is_a_fact(void **state)
{
	for (unsigned int costly = 0; costly < 2; costly++) {
		struct report *r;

		put_alone("cp", MS);
		put_file(2, "reg", "ext4", 256 * MiB, "/data/shard.tar");
		for (unsigned int i = 0; i < 2000; i++)
			put_rw(100, BEGIN + (i + 1) * MS, costly ? 250000 : 1000, 'R', 8192, (2000 - i) * 65536ULL, 0,
			       2);
		r = loaded();
		expect_near(found(r, "random-reads")->measure, 1);
		assert_int_equal(found(r, "random-reads")->is_fact, !costly);
		assert_true(found(r, "read-often")->is_fact);
		expect_near(found(r, "random-reads")->size.ns, (costly ? 250000. : 1000.) * 1999);
		assert_int_equal(r->why->rules->n, costly);
		report_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(what_costs_little_is_a_fact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
