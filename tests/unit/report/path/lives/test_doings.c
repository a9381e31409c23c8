/* SPDX-License-Identifier: BSD-2-Clause */
/* See trace.h: process 10 is the root, of one second, and computes all the time. */
#include "report/path/lives/doings.h"

#include "../trace.h"

#define LIFE (1000 * MS)

static void put_computing_root(void)
{
	put_root(10, "python", LIFE);
	put_wait(.pid = 99, .from = 0, .to = MS);
}

static uint64_t doing_ns(const struct report *r, enum path_doing doing)
{
	const struct path_sums *sums = &r->path->root[0].sums;
	uint64_t ns = 0;

	for (uint32_t i = 0; i < sums->n; i++)
		ns += sums->v[i].leaf.doing == doing ? sums->v[i].ns : 0;
	return ns;
}

static void names_have_their_meaning(void **state)
{
	static const struct {
		const char *cat, *name;
		enum path_doing doing;
	} known[] = {
		{ "dataloader", "start", PATH_STARTS_LOADERS }, { "dataloader", "fetch", PATH_FETCHES },
		{ "data", "preprocess", PATH_BATCHES },         { "compute", "forward", PATH_COMPUTES },
		{ "device", "transfer", PATH_COMPUTES },        { "checkpoint", "save", PATH_SAVES },
		{ "checkpoint", "load", PATH_LOADS },           { "comm", "all_reduce", PATH_TALKS },
		{ "checkpoint", "prune", PATH_DOES_ANYTHING },  { "pipeline", "epoch", PATH_DOES_ANYTHING },
		{ "app", "data", PATH_DOES_ANYTHING },
	};
	uint64_t expected[PATH_DOINGS] = { [PATH_DOES_ANYTHING] = LIFE - 8 * 10 * MS };
	struct report *r;

	put_computing_root();
	for (unsigned int i = 0; i < ARRAY_SIZE(known); i++) {
		put_region(10, 20 * i * MS, (20 * i + 10) * MS, known[i].cat, known[i].name);
		expected[known[i].doing] += known[i].doing ? 10 * MS : 0;
	}
	r = path_loaded();
	for (unsigned int i = 0; i < PATH_DOINGS; i++)
		assert_int_equal(doing_ns(r, (enum path_doing)i), expected[i]);
	report_free(r);
}

/* A fetch in which a batch is made for 100 ms, in which a file is loaded for 20. */
static void the_innermost_region_counts(void **state)
{
	struct report *r;

	put_computing_root();
	put_region(10, 240 * MS, 260 * MS, "checkpoint", "load");
	put_region(10, 200 * MS, 300 * MS, "data", "batch");
	put_region(10, 190 * MS, 400 * MS, "comm", "barrier");
	r = path_loaded();
	assert_int_equal(doing_ns(r, PATH_LOADS), 20 * MS);
	assert_int_equal(doing_ns(r, PATH_BATCHES), 80 * MS);
	assert_int_equal(doing_ns(r, PATH_TALKS), 110 * MS);
	report_free(r);
}

static void regions_of_other_threads_say_nothing(void **state)
{
	struct report *r;

	put_computing_root();
	put_event(0, "thread", 10, 11, 1, "python", NULL);
	put(REGIONS, 500 * MS, "10\t11\tx\tdata\tbatch\t%llu\t0\t-\t-\t-\t-\ttorch\t-", 400 * MS);
	put_region(77, 100 * MS, 200 * MS, "data", "batch");
	r = path_loaded();
	assert_int_equal(doing_ns(r, PATH_DOES_ANYTHING), LIFE);
	report_free(r);
}

/* Within a wait of a region, and of its time on a CPU, each has its own. */
static void waits_and_calls_are_of_their_region(void **state)
{
	struct report *r;

	put_computing_root();
	put_file(1, "/data/x.bin");
	put_wait(.pid = 10, .from = 100 * MS, .to = 200 * MS, .call = "read", .state = "disk", .by = "disk", .fid = 1,
		 .file = "x.bin");
	put_region(10, 50 * MS, 250 * MS, "data", "batch");
	put_read(.pid = 10, .fid = 1, .file = "x.bin", .from = 220 * MS, .to = 240 * MS);
	put_read(.pid = 10, .fid = 1, .file = "x.bin", .from = 600 * MS, .to = 700 * MS);
	r = path_loaded();
	assert_int_equal(doing_ns(r, PATH_BATCHES), 200 * MS);
	assert_int_equal(part_of(r, "disk-read", "python", "x.bin").leaf.doing, PATH_BATCHES);
	assert_int_equal(part_of(r, "cpu-read", "python", "x.bin").ns, 120 * MS);
	report_free(r);
}

static void rows_that_make_no_sense_do_no_harm(void **state)
{
	struct report *r;

	put_computing_root();
	put(REGIONS, 500 * MS, "10\t10\tx\tdata\tbatch\t18446744073709551615\t0\t-\t-\t-\t-\ttorch\t-");
	put(REGIONS, 500 * MS, "10\tx\tx\tdata\tbatch\t5\t0\t-\t-\t-\t-\ttorch\t-");
	put(REGIONS, 500 * MS, "10\t10\tx\tdata\tbatch\t-\t0\t-\t-\t-\t-\ttorch\t-");
	put(REGIONS, 500 * MS, "10\t10\tx\tdata");
	r = path_loaded();
	assert_int_equal(doing_ns(r, PATH_DOES_ANYTHING), LIFE);
	report_free(r);
}

#define SLOTS 200U

/* Regions in any order and over one another: at each moment the one that began last, of those that are open. */
static void regions_at_random_add_up(void **state)
{
	static const struct {
		const char *cat, *name;
		enum path_doing doing;
	} kinds[] = {
		{ "data", "batch", PATH_BATCHES },
		{ "compute", "step", PATH_COMPUTES },
		{ "comm", "barrier", PATH_TALKS },
	};
	uint64_t ns[PATH_DOINGS] = { 0 };
	enum path_doing at[SLOTS] = { 0 };
	unsigned int began[SLOTS] = { 0 };
	struct report *r;

	srandom(42);
	put_computing_root();
	for (unsigned int begin = 0; begin < SLOTS; begin += 1 + (unsigned int)random() % 4) {
		const unsigned int len = 1 + (unsigned int)random() % 30, end = MIN(begin + len, SLOTS),
				   i = begin % ARRAY_SIZE(kinds);

		put_region(10, begin * 5 * MS, end * 5 * MS, kinds[i].cat, kinds[i].name);
		for (unsigned int slot = begin; slot < end; slot++)
			if (began[slot] <= begin) {
				began[slot] = begin;
				at[slot] = kinds[i].doing;
			}
	}
	for (unsigned int slot = 0; slot < SLOTS; slot++)
		ns[at[slot]] += 5 * MS;
	r = path_loaded();
	for (unsigned int i = 0; i < PATH_DOINGS; i++)
		assert_int_equal(doing_ns(r, (enum path_doing)i), ns[i]);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(names_have_their_meaning),
		IN_TREE(the_innermost_region_counts),
		IN_TREE(regions_of_other_threads_say_nothing),
		IN_TREE(waits_and_calls_are_of_their_region),
		IN_TREE(rows_that_make_no_sense_do_no_harm),
		IN_TREE(regions_at_random_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
