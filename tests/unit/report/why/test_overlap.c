/* SPDX-License-Identifier: BSD-2-Clause */
/* I/O and computing at the same time: see ../job.h for the traces. */
#include "report/why/overlap.h"

#include "../job.h"

/* Two loaders and the trainer read; overlaps count once, and each nanosecond is in one of four sums. */
static void io_and_computing_overlap(void **state)
{
	const struct overlap *o;
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_step(100, i, 100 * MS);
		put_rw(101, step(i) + 300 * MS, 200 * MS, 'R', MiB, i * MiB, MiB, 2);
		put_rw(102, step(i) + 400 * MS, 200 * MS, 'R', MiB, i * MiB, MiB, 2); /* 100 to 400 in all */
		put_rw(101, step(i) + 700 * MS, 150 * MS, 'R', MiB, i * MiB, MiB, 2); /* 50 of it before it computes */
		put_rw(100, step(i) + 920 * MS, 20 * MS, 'W', 10, i * MiB, 0, 3);
		put_pipe(102, step(i) + 990 * MS, 400 * MS, 'R'); /* not I/O */
	}
	r = loaded_with(true);
	assert_int_equal(r->why->n_overlaps, 2);
	for (unsigned int i = 0; i < 2; i++) {
		o = &r->why->overlaps[i];
		assert_int_equal(o->pid, 100);
		assert_int_equal(o->epoch, i);
		assert_int_equal(o->wall_ns, 10 * S);
		assert_int_equal(o->compute_ns, 10 * 400 * MS);
		assert_int_equal(o->io_ns, 10 * (300 + 150 + 20) * MS);
		assert_int_equal(o->both_ns, 10 * (100 + 20) * MS);
		assert_int_equal(o->compute_alone_ns, 10 * 280 * MS);
		assert_int_equal(o->io_alone_ns, 10 * 350 * MS);
		assert_int_equal(o->neither_ns, 10 * 250 * MS);
	}
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(io_and_computing_overlap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
