/* SPDX-License-Identifier: BSD-2-Clause */
/* What calls are to the waits: see ../job.h for the traces. */
#include "report/why/walk.h"

#include "../job.h"

static const struct why_loader *loader_of(const struct report *r, uint32_t i)
{
	return *(struct why_loader *const *)table_at(&r->why->loaders, i);
}

static void reads_from_storage(void **state)
{
	struct report *r;

	put_job(0);
	put_waits(800 * MS);
	for (unsigned int i = 0; i < STEPS; i++)
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put_rw(pid, step(i) + 700 * MS, 690 * MS, 'R', MiB, i * MiB, MiB, 2);
			put_work(pid, i, 800 * MS);
		}
	r = loaded();
	assert_int_equal(r->why->n_trainers, 1);
	assert_int_equal(r->why->loaders.n, 2);
	assert_int_equal(r->why->basis, WHY_BY_CALLS);
	expect_near(r->why->waited_ns / r->why->window_ns, 0.8);
	for (uint32_t i = 0; i < 2; i++)
		expect_near(loader_of(r, i)->ns[WHY_DISK], STEPS * 690. * MS);
	report_free(r);
}

/* Its loaders poll, which has no rows: they wait from sending until receiving. */
static void between_sending_and_receiving_a_loader_waits(void **state)
{
	struct report *r;

	put_job(0);
	put_waits(900 * MS);
	for (unsigned int i = 0; i < STEPS; i++)
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put_pipe(pid, step(i) + 10, 5, 'R');
			put_pipe(pid, step(i) + 100 * MS, 5, 'W');
		}
	r = loaded();
	/* 900 ms from sending to the next order */
	assert_in_range((uint64_t)loader_of(r, 0)->ns[WHY_QUEUE], (STEPS - 1) * 900 * MS,
			(STEPS - 1) * 900 * MS + 1000);
	report_free(r);
}

/* O_DIRECT: whatever requests to the disk are known. */
static void a_read_past_the_cache_is_the_disk(void **state)
{
	struct report *r;

	put_job(0);
	put_waits(800 * MS);
	for (unsigned int i = 0; i < STEPS; i++)
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put(RW, step(i) + 700 * MS, "%u\t%u\tx\tR\tread\t%llu\t%u\t%u\t%u\t0\t5\tDIRECT\t2\tf", pid,
			    pid, N(690 * MS), MiB, MiB, i * MiB);
			put_work(pid, i, 800 * MS);
		}
	r = loaded();
	expect_near(loader_of(r, 0)->ns[WHY_DISK], STEPS * 690. * MS);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(reads_from_storage),
		IN_TREE(between_sending_and_receiving_a_loader_waits),
		IN_TREE(a_read_past_the_cache_is_the_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
