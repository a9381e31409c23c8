/* SPDX-License-Identifier: BSD-2-Clause */
/* A path with less memory than its trace needs: see trace.h. Process 10 is the root, of one second. */
#include "report/path/limits.h"

#include <errno.h>
#include <stdlib.h>

#include "report/rules/rules.h"
#include "report/why/why.h"
#include "trace.h"

#define LIFE (1000 * MS)
#define FEW 3

/* Memory for rows of regions, which have this size, runs out at the FAILS-th time from now on; 0: never. */
#define REGION_SIZE 32
static unsigned int fails;

void *reallocarray(void *p, size_t n, size_t size)
{
	if (size == REGION_SIZE && fails && --fails == 0) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(p, n * size);
}

/* Ten reads of a disk of 50 ms, each in a region of 60, with waits of less than a millisecond in 40 of them. */
static void put_job(void)
{
	put_root(10, "python", LIFE);
	put_workload(10, LIFE);
	for (uint64_t at = 0; at < LIFE; at += 100 * MS) {
		put_wait(.pid = 10, .from = at + 5 * MS, .to = at + 55 * MS, .call = "read", .state = "disk",
			 .by = "disk", .fid = 1, .file = "x.bin");
		put_region(10, at, at + 60 * MS, "data", "batch");
		put(SCHED, at + 100 * MS,
		    "10\t10\tpython\ttarget\t0\t-\t%llu\t1\t0\t40000000\t10000000\t-\t-\t-\t-\t-\t-\t-\t-", 100 * MS);
	}
}

static struct report *loaded_within(struct path_limits limits)
{
	return path_loaded_with(&(struct report_options){ .path_limits = &limits });
}

static bool has_note(const struct report *r, const char *text)
{
	for (unsigned int i = 0; i < r->n_notes; i++)
		if (strstr(r->notes[i], text))
			return true;
	return false;
}

/* Returns the time in which the root made a batch. */
static uint64_t in_batches_ns(const struct report *r)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < r->path->root[0].sums.n; i++)
		ns += r->path->root[0].sums.v[i].leaf.doing == PATH_BATCHES ? r->path->root[0].sums.v[i].ns : 0;
	return ns;
}

static uint64_t of_kind_ns(const struct report *r, enum path_kind kind)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < r->path->root[0].sums.n; i++)
		ns += r->path->root[0].sums.v[i].leaf.kind == kind ? r->path->root[0].sums.v[i].ns : 0;
	return ns;
}

static void a_trace_within_the_limits_is_whole(void **state)
{
	struct report *r;

	put_job();
	r = loaded_within(path_limits_usual);
	assert_int_equal(in_batches_ns(r), 600 * MS);
	assert_int_equal(of_kind_ns(r, PATH_DISK_READ), 500 * MS);
	assert_int_equal(of_kind_ns(r, PATH_RUNQ), 100 * MS);
	assert_false(has_note(r, "where the time went"));
	report_free(r);
}

static void more_waits_than_fit_have_no_path(void **state)
{
	struct path_limits limits = path_limits_usual;
	struct report *r;

	put_job();
	limits.waits = FEW;
	r = loaded_within(limits);
	assert_int_equal(r->path->n, 0);
	assert_true(has_note(r, "there are too many rows: where the time went is not known"));
	assert_string_equal(r->why->rules->bottleneck.rule->code, "unknown");
	report_free(r);
}

static void short_waits_that_do_not_fit_count_as_computing(void **state)
{
	struct path_limits limits = path_limits_usual;
	struct report *r;

	put_job();
	limits.shorts = FEW;
	r = loaded_within(limits);
	assert_in_range(of_kind_ns(r, PATH_RUNQ), 1, 50 * MS);
	assert_int_equal(of_kind_ns(r, PATH_DISK_READ), 500 * MS);
	assert_true(has_note(r, "count as time on a CPU"));
	report_free(r);
}

static void regions_that_do_not_fit_say_nothing(void **state)
{
	struct path_limits limits = path_limits_usual;
	struct report *r;

	put_job();
	limits.doings = FEW;
	r = loaded_within(limits);
	assert_int_equal(in_batches_ns(r), FEW * 60 * MS);
	assert_int_equal(of_kind_ns(r, PATH_DISK_READ), 500 * MS);
	report_free(r);
}

/* Those that do not fit are whole: calls do not cut them. */
static void pieces_that_do_not_fit_add_up_all_the_same(void **state)
{
	struct path_limits limits = path_limits_usual;
	struct report *r;

	put_job();
	limits.pieces = FEW;
	r = loaded_within(limits);
	assert_int_equal(r->path->n, 1);
	assert_int_equal(of_kind_ns(r, PATH_DISK_READ), 500 * MS);
	report_free(r);
}

/* However far it has come: what is left is a path that adds up, or none, and a note of that. */
static void memory_may_run_out_at_any_row(void **state)
{
	unsigned int dropped = 0;

	put_job();
	for (unsigned int nth = 1; nth <= 20; nth++) {
		struct report *r;

		fails = nth;
		r = loaded_within(path_limits_usual);
		if (!r->path->n) {
			assert_true(has_note(r, "where the time went"));
			dropped++;
		}
		fails = 0;
		report_free(r);
	}
	assert_true(dropped > 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(a_trace_within_the_limits_is_whole),
		IN_TREE(more_waits_than_fit_have_no_path),
		IN_TREE(short_waits_that_do_not_fit_count_as_computing),
		IN_TREE(regions_that_do_not_fit_say_nothing),
		IN_TREE(pieces_that_do_not_fit_add_up_all_the_same),
		IN_TREE(memory_may_run_out_at_any_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
