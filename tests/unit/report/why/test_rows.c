/* SPDX-License-Identifier: BSD-2-Clause */
/* Which calls are reads of data, syncs and imports: see ../job.h for the traces. */
#include "report/why/rows.h"

#include "../job.h"

/* A call of LAT that gives a loader's file of shared memory its size. */
static void put_sized(unsigned int pid, uint64_t end, const char *func, uint64_t lat)
{
	put(SYNC, end, "%u\t%u\tx\t%s\t%llu\t0\t11\t0\t%u\t8\ttorch_101_1_0", pid, pid, func, N(lat), MiB);
}

/* As loaders of PyTorch 2 do: 300 ms of each second to make room for a batch, which the trainer waits for. */
static struct report *batches_in_shared_memory(bool scheduled)
{
	put_job(0);
	put_file(8, "shm", "tmpfs", 0, "/dev/shm/torch_101_1_0");
	put_waits(500 * MS);
	for (unsigned int i = 0; i < STEPS; i++)
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put(OPEN, step(i) + 100 * MS,
			    "%u\t%u\tx\topenat\t1000\t-\t11\tRDWR|CREAT|EXCL\t-\t8\tf\tf\t/dev/shm/f", pid, pid);
			put_sized(pid, step(i) + 101 * MS, "ftruncate", 1000);
			put_sized(pid, step(i) + 420 * MS, "fallocate", 300 * MS);
			put(CLOSE, step(i) + 450 * MS, "%u\t%u\tx\tclose\t1000\t0\t11\t1\t8\tf", pid, pid);
			put_work(pid, i, 500 * MS);
			if (scheduled)
				put_ran(pid, i, 200 * MS, 290 * MS);
		}
	for (unsigned int i = 0; scheduled && i < STEPS; i++) {
		put_ran(100, i, 490 * MS, 0);
		put_slept(100, 100, i, "read", 0, 500 * MS);
	}
	return loaded_with(true);
}

/* The open of a FIFO lasts until somebody opens its other end. */
static void the_open_of_a_fifo_is_no_time_on_files(void **state)
{
	struct report *r;

	put_alone("cat", S);
	put_file(6, "fifo", "ext4", 0, "/data/queue");
	put_open(100, BEGIN + 900 * MS, 800 * MS, 6);
	r = loaded();
	assert_int_equal(r->why->sums.opens, 1);
	assert_int_equal(r->why->sums.open_ns, 0);
	assert_null(found(r, "metadata-time"));
	report_free(r);
}

/* One that a signal broke off has no file, whatever it is. */
static void an_open_that_nobody_ended_is_no_time_on_files(void **state)
{
	static const char *const results[] = { "-4", "-512", "?" };
	struct report *r;

	put_alone("cat", S);
	for (unsigned int i = 0; i < ARRAY_SIZE(results); i++)
		put(OPEN, BEGIN + (300 + 300 * i) * MS,
		    "100\t100\tcat\topenat\t250000000\t-\t%s\tRDONLY\t-\t-\t-\tqueue\t-", results[i]);
	r = loaded();
	assert_int_equal(r->why->sums.open_ns, 0);
	assert_null(found(r, "metadata-time"));
	report_free(r);
}

static void batches_in_shared_memory_are_no_syncs(void **state)
{
	struct report *r = batches_in_shared_memory(false);
	const struct finding *f = found(r, "batch-copies");
	uint64_t syncs = 0;

	assert_null(found(r, "sync-often"));
	assert_null(found(r, "metadata-time")); /* nor are its opens those of samples */
	assert_int_equal(r->why->sums.syncs, 0);
	assert_int_equal(r->why->sums.opens, 0);
	for (unsigned int i = 0; i < TIMELINE_BINS; i++)
		syncs += r->timeline->sum[TIMELINE_SYNCS][i];
	assert_int_equal(syncs, 0);
	assert_non_null(f);
	expect_near(f->measure, 0.3);
	assert_true(shows(
		f,
		"40 files in /dev/shm with 40.0 MiB in all; making, sizing and closing them took loaders 12.0 s, 30.0 % of their time"));
	/* both loaders spent 300 of the 490 ms in which the trainer waited for them */
	expect_near(f->size.share, 0.3);
	report_free(r);
}

/* Setting a file's size waits for no disk; the sync after it does. */
static void truncations_are_no_syncs(void **state)
{
	struct report *r;

	put_alone("python3", S);
	for (unsigned int i = 0; i < STEPS; i++) {
		put(SYNC, step(i) + 200 * MS, "100\t100\tx\tftruncate\t%llu\t0\t5\t-\t0\t3\tckpt.pt", N(100 * MS));
		put(SYNC, step(i) + 400 * MS, "100\t100\tx\tio_uring:fallocate\t%llu\t0\t5\t-\t0\t3\tckpt.pt",
		    N(100 * MS));
		put(SYNC, step(i) + 500 * MS, "100\t100\tx\tio_uring:fsync\t%llu\t0\t5\t-\t-\t3\tckpt.pt", N(MS));
	}
	r = loaded();
	assert_int_equal(r->why->sums.syncs, STEPS);
	assert_int_equal(r->why->sums.sync_ns, STEPS * MS);
	assert_int_equal(r->why->sums.meta_ns, STEPS * 200 * MS);
	assert_null(found(r, "sync-often"));
	report_free(r);
}

/* A thousand small reads of packages are not small reads of data; another rule covers that they take half of a life. */
static void software_is_no_data(void **state)
{
	struct report *r;

	for (unsigned int slow = 0; slow < 2; slow++) {
		put_alone("python3.12", S);
		put_file(6, "reg", "ext4", 4000, "/env/lib/python3.12/site-packages/torch/nn.py");
		put_file(7, "dir", "ext4", 4000, "/env/lib/python3.12/site-packages/torch");
		for (unsigned int i = 0; i < 2000; i++) {
			put_open(100, BEGIN + (i + 1) * 5 * MS, slow ? 4 * MS : 10, 6);
			put_rw(100, BEGIN + (i + 1) * 5 * MS + 10, 10, 'R', 100, (i * 7919) % 4000, 4096, 6);
			put(OPEN, BEGIN + (i + 1) * 5 * MS + 20,
			    "100\t100\tx\topenat\t5\t5\t-2\tRDONLY\t-\t-\t-\t/env/x%u.py\t-", i);
			put(OPEN, BEGIN + (i + 1) * 5 * MS + 30,
			    "100\t100\tx\topenat\t5\t5\t4\tRDONLY|DIRECTORY\t-\t7\tf\tf\t-");
		}
		r = loaded();
		assert_int_equal(r->why->sums.reads, 0);
		assert_int_equal(r->why->sums.opens_read, 0);
		assert_int_equal(r->why->sums.open_ns, 0);
		assert_int_equal(r->why->epoch[0].n_slow, 0);
		assert_null(found(r, "small-reads"));
		assert_null(found(r, "random-reads"));
		assert_null(found(r, "metadata-time"));
		assert_int_equal(found(r, "slow-imports") != NULL, slow);
		if (slow) {
			expect_near(found(r, "slow-imports")->measure, 0.4);
			assert_true(shows(found(r, "slow-imports"),
					  "the slowest folder: /env/lib/python3.12/site-packages/torch, 8.00 s in"));
		}
		report_free(r);
	}
	/* a process that reads sources and is no interpreter works on them */
	put_alone("tar", S);
	for (unsigned int i = 0; i < 2000; i++)
		put_open(100, BEGIN + (i + 1) * 5 * MS, 4 * MS, 4);
	r = loaded();
	assert_null(found(r, "slow-imports"));
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(an_open_that_nobody_ended_is_no_time_on_files),
		IN_TREE(the_open_of_a_fifo_is_no_time_on_files),
		IN_TREE(batches_in_shared_memory_are_no_syncs),
		IN_TREE(truncations_are_no_syncs),
		IN_TREE(software_is_no_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
