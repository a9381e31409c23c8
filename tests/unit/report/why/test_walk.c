/* SPDX-License-Identifier: BSD-2-Clause */
/* What calls are to the waits: see ../job.h for the traces. */
#include "report/why/walk.h"

#include "../job.h"

static void reads_from_storage(void **state)
{
	const struct finding *b;
	struct report *r;

	put_job(0);
	put_waits(800 * MS);
	for (unsigned int i = 0; i < STEPS; i++)
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put_rw(pid, step(i) + 700 * MS, 690 * MS, 'R', MiB, i * MiB, MiB, 2);
			put_work(pid, i, 800 * MS);
		}
	r = loaded();
	b = is_bottleneck(r, "storage-read");
	assert_int_equal(r->why->n_trainers, 1);
	assert_int_equal(r->why->loaders.n, 2);
	assert_int_equal(r->why->basis, WHY_BY_CALLS);
	expect_near(r->why->waited_ns / r->why->window_ns, 0.8);
	/* 690 of 800 ms of the waits */
	expect_near(b->measure, 0.69);
	assert_non_null(strstr(b->evidence[4], "/data/shard.tar"));
	report_free(r);
}

static void time_in_no_call_is_the_cpu_by_the_time_used(void **state)
{
	struct report *r;

	put_job(STEPS * 700 * MS);
	put_waits(800 * MS);
	for (unsigned int i = 0; i < STEPS; i++)
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put_rw(pid, step(i) + 100 * MS, 90 * MS, 'R', MiB, i * MiB, 0, 2);
			put_work(pid, i, 800 * MS);
		}
	r = loaded();
	/* all of the 800 ms but some ns: 90 from the page cache, 710 in no call, with 700 of CPU time */
	expect_near(is_bottleneck(r, "decode-cpu")->measure, 0.09 + 0.71 * 700 / 710);
	report_free(r);
}

static void opens_take_longest(void **state)
{
	struct report *r;

	put_job(0);
	put_waits(500 * MS);
	for (unsigned int i = 0; i < STEPS; i++)
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put_open(pid, step(i) + 400 * MS, 390 * MS, 2);
			put_work(pid, i, 500 * MS);
		}
	r = loaded();
	expect_near(is_bottleneck(r, "open-metadata")->measure, 0.39);
	report_free(r);
}

/* Its loaders poll, which has no rows: they wait from sending until receiving. */
static void between_sending_and_receiving_a_loader_waits(void **state)
{
	const struct why_loader *l;
	struct report *r;

	put_job(0);
	put_waits(900 * MS);
	for (unsigned int i = 0; i < STEPS; i++)
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put_pipe(pid, step(i) + 10, 5, 'R');
			put_pipe(pid, step(i) + 100 * MS, 5, 'W');
		}
	r = loaded();
	l = *(struct why_loader **)table_at(&r->why->loaders, 0);
	expect_near(l->idle_ns[WHY_QUEUE] / l->alive_idle_ns, (800. * (STEPS - 1) / STEPS) / 900);
	is_bottleneck(r, "trainer-bound");
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
	expect_near(is_bottleneck(r, "storage-read")->measure, 0.69);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(reads_from_storage),
		IN_TREE(time_in_no_call_is_the_cpu_by_the_time_used),
		IN_TREE(opens_take_longest),
		IN_TREE(between_sending_and_receiving_a_loader_waits),
		IN_TREE(a_read_past_the_cache_is_the_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
