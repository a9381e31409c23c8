/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums by epoch: see ../job.h for the traces. */
#include "report/why/why.h"

#include "../job.h"
#include "base/json.h"

/* Before the first epoch, between two, after the last one: this counts in the sums of everything, and in no epoch's. */
static void what_is_read_in_no_epoch(void **state)
{
	struct report *r;

	put_job(0);
	put_same_reads(15);
	for (unsigned int epoch = 0; epoch < 2; epoch++) {
		put(MARKS, step(3 + 5 * epoch), "100\tepoch_start");
		put(MARKS, step(6 + 5 * epoch), "100\tepoch_stop");
	}
	r = loaded_with(true);
	assert_true(r->why->by_epoch);
	assert_int_equal(r->why->n_epochs, 2);
	for (unsigned int epoch = 0; epoch < 2; epoch++) {
		assert_int_equal(r->why->epoch[epoch].reads, 3);
		assert_int_equal(r->why->epoch[epoch].read_bytes, 3 * MiB);
		assert_int_equal(r->why->epoch[epoch].again_bytes, 2 * MiB);
	}
	assert_int_equal(r->why->sums.reads, 15);
	assert_int_equal(r->why->sums.read_bytes, 15 * MiB);
	assert_int_equal(r->why->sums.again_bytes, 14 * MiB);
	report_free(r);
}

/* A log of another day: its epochs are known before the rows, and are not the trace's. */
static void epochs_that_are_all_behind_the_trace(void **state)
{
	struct report *r;

	put_job(0);
	put_same_reads(15);
	put_rw(100, step(2), 1000, 'W', MiB, 0, 0, 3);
	put_rw(100, step(3), 1000, 'W', MiB, 0, 0, 3);
	put(MARKS, step(1000), "100\tepoch_start");
	put(MARKS, step(1001), "100\tepoch_stop");
	r = loaded_with(true);
	assert_false(r->why->by_epoch);
	assert_int_equal(r->why->n_epochs, 1);
	assert_string_equal(r->why->epoch[0].name, "all of the trace");
	assert_int_equal(r->why->epoch[0].reads, 15);
	assert_int_equal(r->why->epoch[0].again_bytes, 14 * MiB);
	assert_int_equal(r->why->sums.reads, 15);
	assert_int_equal(r->why->sums.rewritten_bytes, MiB);
	report_free(r);
}

/* The workers of one epoch are not those of the next. */
static void a_worker_of_the_next_epoch_shares_nothing(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < 1200; i++) {
		put_rw(101, step(1) + (i + 1) * 100, 10, 'R', 32768, i * 32768, 0, 2);
		put_rw(102, step(5) + (i + 1) * 100, 10, 'R', 32768, i * 32768, 0, 2);
	}
	put(MARKS, step(0), "100\tepoch_start");
	put(MARKS, step(3), "100\tepoch_stop");
	put(MARKS, step(4), "100\tepoch_start");
	put(MARKS, step(7), "100\tepoch_stop");
	r = loaded_with(true);
	assert_int_equal(r->why->n_epochs, 2);
	assert_int_equal(r->why->sums.reads, 2400);
	assert_int_equal(r->why->sums.shared, 0);
	assert_null(found(r, "small-shared"));
	report_free(r);
}

/* The workers of the second epoch find everything in the page cache; those of the first did nothing wrong. */
static void workers_are_compared_with_those_of_their_time(void **state)
{
	struct report *r;

	put(PIDS, BEGIN, "100\t100\t1\tpython\texec\t-\t100\t0\t/\t-\tpython\\000train.py");
	for (unsigned int pid = 101; pid <= 104; pid++) {
		uint64_t begin = pid <= 102 ? BEGIN + 1 : step(10);

		put(PIDS, begin, "%u\t%u\t100\tpython\tfork\t-\t%u\t0\t/\t-\t-", pid, pid, pid);
		put(PIDS, begin + 1, "%u\t%u\t100\tpt_data_worker\trename\t-\t%u\t0\t/\t-\tpython", pid, pid, pid);
		put(PIDS, pid <= 102 ? step(9) + 900 * MS : BEGIN + STEPS * S,
		    "%u\t%u\t100\tpt_data_worker\texit\t0\t%u\t0\t/\t-\tutime=0\\040stime=0\\040maxrss=1", pid, pid,
		    pid);
	}
	put(PIDS, BEGIN + STEPS * S, "100\t100\t1\tpython\texit\t0\t100\t0\t/\t-\tutime=1\\040stime=0\\040maxrss=1");
	put_file(2, "reg", "ext4", 64 * MiB, "/data/shard.tar");
	for (unsigned int i = 0; i < 18; i++)
		for (unsigned int k = 0; k < 2; k++) {
			unsigned int pid = (i < 9 ? 101 : 103) + k;

			put_open(pid, step(i < 9 ? i : i + 2) + 10 * MS, 10, 2);
			put_rw(pid, step(i < 9 ? i : i + 2) + 500 * MS, (i < 9 ? 400 : 20) * MS + k * MS, 'R', MiB,
			       i * MiB, 0, 2);
		}
	r = loaded();
	assert_int_equal(r->why->n_epochs, 1);
	assert_int_equal(r->why->epoch[0].workers, 4);
	assert_int_equal(r->why->epoch[0].slow_among, 2);
	assert_null(found(r, "slow-worker"));
	report_free(r);
}

/* Returns the JSON of R's epochs, and everything after them. */
static char *epoch_json(const struct report *r)
{
	struct json j = { 0 };
	char *json = NULL, *epoch;
	size_t len = 0;
	FILE *out = open_memstream(&json, &len);

	report_json(r, &j);
	assert_int_equal(json_write(&j, out), 0);
	fclose(out);
	epoch = strdup(strstr(json, "\"epochs\""));
	free(json);
	return epoch;
}

static void what_is_not_known_of_epochs_is_null(void **state)
{
	static const char *const of_rw[] = { "reads",       "read_bytes", "disk_bytes",
					     "cache_bytes", "disk_reads", "again_bytes" };
	autofree char *none = NULL, *unaccounted = NULL;
	struct report *r;

	put_job(0);
	put_open(101, step(1), MS, 2);
	r = loaded();
	none = epoch_json(r);
	report_free(r);
	assert_non_null(strstr(none, "\"samples\": 1,"));
	for (size_t i = 0; i < ARRAY_SIZE(of_rw); i++) {
		autofree char *key = util_fmt("\"%s\": null,", of_rw[i]);

		assert_non_null(strstr(none, key));
	}
	put_job(0);
	put(RW, step(1), "101\t101\tx\tR\tread\t1000\t4096\t4096\t0\t-\t5\t-\t2\tf");
	r = loaded();
	unaccounted = epoch_json(r);
	report_free(r);
	assert_non_null(strstr(unaccounted, "\"samples\": null,"));
	assert_non_null(strstr(unaccounted, "\"read_bytes\": 4096,"));
	assert_non_null(strstr(unaccounted, "\"disk_bytes\": null,"));
	assert_non_null(strstr(unaccounted, "\"cache_bytes\": null,"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(epochs_that_are_all_behind_the_trace),
		IN_TREE(what_is_read_in_no_epoch),
		IN_TREE(a_worker_of_the_next_epoch_shares_nothing),
		IN_TREE(workers_are_compared_with_those_of_their_time),
		IN_TREE(what_is_not_known_of_epochs_is_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
