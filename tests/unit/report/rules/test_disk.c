/* SPDX-License-Identifier: BSD-2-Clause */
/* The rules about page faults and disks, in made-up traces: ten seconds, a process that reads, and more. */
#include "report/rules/rules.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util.h"
#include "report/report.h"
#include "report/scan/model.h"
#include "report/why/why.h"
#include "tree.h"

#define BEGIN UINT64_C(1000000000000)
#define TIME "2026-11-21T01:02:03.000000000Z"
#define MS UINT64_C(1000000)
#define LIFE (10000 * MS)
#define MiB (UINT64_C(1) << 20)

/* --- making one ------------------------------------------------------------------------------------------ */

enum { BIO, FAULT, FILES, PIDS, RECLAIM, RW, SYNC, N_OUT };

static FILE *out[N_OUT];

static const struct {
	const char *name, *head;
} outs[N_OUT] = {
	[BIO] = { "bio",
		  "PID\tTID\tCOMM\tDONEPID\tDONECOMM\tDISK\tT\tSECTOR\tBYTES\tLAT_NS\tQLAT_NS\tFLAGS\tSTATUS\tKIND\tFID\tFOFF\t"
		  "EXTENTS\tWPID\tWTID\tWCOMM\tWN\tFILE" },
	[FAULT] = { "fault", "PID\tTID\tCOMM\tFUNC\tKIND\tLAT_NS\tADDR\tIP\tOFFSET\tDISK_BYTES\tFID\tFILE" },
	[FILES] = { "files", "FID\tDEV\tINO\tTYPE\tFSTYPE\tSIZE\tSTATE\tREALPATH" },
	[PIDS] = { "pids", "PID\tTID\tCOMM\tEVENT\tPPID\tCHILD_TID\tLIFE_NS\tUSER_NS\tSYS_NS\tSTATUS\tEXE\tARGS" },
	[RECLAIM] = { "reclaim", "PID\tTID\tCOMM\tKIND\tLAT_NS\tPAGES" },
	[RW] = { "vfs_rw",
		 "PID\tTID\tCOMM\tRW\tFUNC\tLAT_NS\tREQUESTED\tRETURNED\tOFFSET\tDISK_BYTES\tFD\tFLAGS\tFID\tFILE" },
	[SYNC] = { "sync", "PID\tTID\tCOMM\tFUNC\tLAT_NS\tRET\tFD\tFLAGS\tOFFSET\tLEN\tFID\tFILE" },
};

static FILE *row(unsigned int file, uint64_t at_ns)
{
	fprintf(out[file], "%" PRIu64 "\t" TIME "\t", BEGIN + at_ns);
	return out[file];
}

static void reads(uint64_t at_ns, uint64_t lat_ns)
{
	fprintf(row(RW, at_ns), "7\t7\tpython\tR\tread\t%" PRIu64 "\t4096\t4096\t0\t4096\t3\tRDONLY\t1\tdata.bin\n",
		lat_ns);
}

static int begin(void **state)
{
	if (tree_make(state) < 0)
		return -1;
	for (unsigned int i = 0; i < N_OUT; i++) {
		autofree char *name = util_fmt("%s.out", outs[i].name), *path = tree_path(name);

		out[i] = fopen(path, "we");
		if (!out[i])
			return -1;
		fprintf(out[i], "# dltraced %s 1\nTIMESTAMP\tTIME\t%s\n", outs[i].name, outs[i].head);
	}
	fprintf(row(FILES, 0), "1\t8:1\t11\treg\text4\t67108864\tok\t/data/data.bin\n");
	fprintf(row(FILES, 0), "2\t8:1\t12\treg\text4\t67108864\tok\t/out/model.pt\n");
	fprintf(row(PIDS, 0), "7\t7\tpython\tattach\t1\t-\t-\t-\t-\t-\t/usr/bin/python\tpython\n");
	reads(1 * MS, MS);
	return 0;
}

static int end(void **state)
{
	return tree_remove(state);
}

static struct report *load(void)
{
	struct report *r = NULL;

	reads(LIFE, MS);
	for (unsigned int i = 0; i < N_OUT; i++)
		fclose(out[i]);
	assert_int_equal(report_load(&r, tree, &(struct report_options){ .timed = true }), 0);
	assert_non_null(r->why);
	assert_non_null(r->why->rules);
	return r;
}

static const struct finding *found(const struct report *r, const char *code)
{
	const struct rules *rules = r->why->rules;

	for (unsigned int i = 0; i < rules->n + rules->n_facts; i++)
		if (strcmp(rules->found[i].rule->code, code) == 0)
			return &rules->found[i];
	return NULL;
}

static bool shows(const struct finding *f, const char *text)
{
	for (unsigned int i = 0; i < f->n; i++)
		if (strstr(f->evidence[i], text))
			return true;
	return false;
}

static void near(double value, double wanted)
{
	if (value < 0.99 * wanted || value > 1.01 * wanted)
		fail_msg("%f, not %f", value, wanted);
}

static void fault(uint64_t at_ns, const char *kind, uint64_t lat_ns, uint64_t offset)
{
	fprintf(row(FAULT, at_ns), "7\t7\tpython\tuser\t%s\t%" PRIu64 "\t0x1000\t0x2000\t", kind, lat_ns);
	if (strcmp(kind, "swap") == 0)
		fprintf(out[FAULT], "-\t4096\t-\t-\n");
	else
		fprintf(out[FAULT], "%" PRIu64 "\t4096\t1\tdata.bin\n", offset);
}

static void request(uint64_t at_ns, char t, uint64_t bytes, uint64_t lat_ns, const char *rest)
{
	fprintf(row(BIO, at_ns), "7\t7\tpython\t0\tswapper/0\tsda\t%c\t8\t%" PRIu64 "\t%" PRIu64 "\t1000\t-\t0\t%s\n",
		t, bytes, lat_ns, rest);
}

#define READ "data\t1\t0\t1\t-\t-\t-\t-\tdata.bin"
#define WRITE "data\t2\t0\t1\t9\t9\tsaver\t1\tmodel.pt"
#define JOURNAL "journal\t-\t-\t1\t-\t-\t-\t-\t-"

/* --- page faults ------------------------------------------------------------------------------------------- */

static void swap_is_found_by_its_time(void **state)
{
	const struct finding *f;
	struct report *r;

	(void)state;
	for (uint64_t i = 0; i < 200; i++)
		fault((10 + 10 * i) * MS, "swap", 5 * MS, 0);
	r = load();
	f = found(r, "swap");
	assert_non_null(f);
	near(f->measure, 0.1);
	assert_true(shows(f, "200 page faults of memory that was swapped out waited 1.00 s"));
	assert_null(found(r, "fault-storm"));
	report_free(r);
}

static void a_little_swap_is_no_problem(void **state)
{
	struct report *r;

	(void)state;
	for (uint64_t i = 0; i < 200; i++)
		fault((10 + 10 * i) * MS, "swap", MS / 20, 0);
	r = load();
	assert_null(found(r, "swap"));
	report_free(r);
}

static void faults_in_order_are_a_storm_and_not_random(void **state)
{
	const struct finding *f;
	struct report *r;

	(void)state;
	for (uint64_t i = 0; i < 2000; i++)
		fault((10 + i) * MS, "file", MS / 2, 4096 * i);
	r = load();
	f = found(r, "fault-storm");
	assert_non_null(f);
	near(f->measure, 1000.0 / 1002);
	assert_true(shows(f, "longest for pages of /data/data.bin: 2000 faults, 1.00 s in all, 7.81 MiB from disk"));
	assert_null(found(r, "random-faults"));
	report_free(r);
}

static void faults_that_jump_are_random(void **state)
{
	const struct finding *f;
	struct report *r;

	(void)state;
	for (uint64_t i = 0; i < 2001; i++) /* every fourth continues where the last one ended */
		fault((10 + i) * MS, "file", MS / 100, i % 4 == 3 ? (i - 1) * 1000003 + 4096 : i * 1000003);
	r = load();
	f = found(r, "random-faults");
	assert_non_null(f);
	near(f->measure, 0.75);
	assert_null(found(r, "fault-storm")); /* 20 ms in all */
	report_free(r);
}

static void faults_without_latencies_fire_no_rule(void **state)
{
	bool missing = false;
	struct report *r;

	(void)state;
	for (uint64_t i = 0; i < 2000; i++)
		fprintf(row(FAULT, (10 + i) * MS), "7\t7\tpython\tuser\tfile\t-\t0x1000\t0x2000\t-\t-\t1\tdata.bin\n");
	r = load();
	for (unsigned int i = 0; i < r->why->rules->n_missing; i++)
		missing |= strncmp(r->why->rules->missing[i], "fault-storm: ", 13) == 0;
	assert_true(missing);
	assert_null(found(r, "fault-storm"));
	report_free(r);
}

/* --- memory -------------------------------------------------------------------------------------------------- */

static void reclaim(uint64_t at_ns, unsigned int tid, uint64_t lat_ns, const char *pages)
{
	fprintf(row(RECLAIM, at_ns), "7\t%u\tpython\tcgroup\t%" PRIu64 "\t%s\n", tid, lat_ns, pages);
}

static void reclaim_is_found_by_its_time(void **state)
{
	const struct finding *f;
	struct report *r;

	(void)state;
	for (uint64_t i = 0; i < 200; i++) {
		reclaim((10 + 10 * i) * MS, 7, 4 * MS, "32");
		reclaim((12 + 10 * i) * MS, 8, 4 * MS, "64"); /* half of it at the same time */
	}
	reclaim(LIFE, 7, MS, "?"); /* the trace ended first */
	r = load();
	f = found(r, "reclaim");
	assert_non_null(f);
	near(f->measure, 1201.0 / 10000);
	assert_true(shows(
		f,
		"at a cgroup's limit of memory (KIND cgroup): 401 times, 3.99 ms each, 1.60 s in all, 19200 pages freed"));
	assert_false(shows(f, "KIND machine"));
	report_free(r);
}

static void a_little_reclaim_is_no_problem(void **state)
{
	struct report *r;

	(void)state;
	for (uint64_t i = 0; i < 200; i++)
		reclaim((10 + 10 * i) * MS, 7, 2 * MS, "32");
	r = load();
	assert_null(found(r, "reclaim"));
	report_free(r);
}

/* Nothing else shows that a thread had to free memory: not the swap that it waited for. */
static void reclaim_without_rows_is_not_inferred(void **state)
{
	autofree char *path = tree_path("reclaim.out");
	bool missing = false;
	struct report *r;

	(void)state;
	for (uint64_t i = 0; i < 200; i++)
		fault((10 + 10 * i) * MS, "swap", 5 * MS, 0);
	assert_int_equal(unlink(path), 0);
	r = load();
	for (unsigned int i = 0; i < r->why->rules->n_missing; i++)
		missing |= strcmp(r->why->rules->missing[i], "reclaim: needs reclaim.out (probe reclaim)") == 0;
	assert_true(missing);
	assert_null(found(r, "reclaim"));
	assert_non_null(found(r, "swap"));
	report_free(r);
}

/* --- disks --------------------------------------------------------------------------------------------------- */

/* 200 reads alone, then as many between writes. */
static void two_halves(uint64_t alone_ns, uint64_t beside_ns)
{
	for (uint64_t i = 0; i < 200; i++)
		request((10 + 10 * i) * MS, 'R', 4096, alone_ns, READ);
	for (uint64_t i = 0; i < 200; i++) {
		request((3000 + 10 * i) * MS, 'W', MiB, MS, WRITE);
		request((3008 + 10 * i) * MS, 'R', 4096, beside_ns, READ);
	}
}

static void reads_that_wait_for_writes_are_found_with_the_writer(void **state)
{
	const struct finding *f;
	struct report *r;

	(void)state;
	two_halves(MS, 5 * MS);
	r = load();
	f = found(r, "write-back-interference");
	assert_non_null(f);
	near(f->measure, 4 * 199 / (199 * 5 + 201.0));
	assert_true(shows(f, "most was written by process 9 (saver), not of the job: 200 MiB of 200 MiB"));
	assert_true(shows(f, "most was written to /out/model.pt: 200 MiB"));
	report_free(r);
}

static void reads_as_fast_beside_writes_wait_for_nothing(void **state)
{
	struct report *r;

	(void)state;
	two_halves(MS, MS);
	r = load();
	assert_null(found(r, "write-back-interference"));
	report_free(r);
}

static void slow_reads_without_writes_are_not_the_writers(void **state)
{
	struct report *r;

	(void)state;
	for (uint64_t i = 0; i < 400; i++)
		request((10 + 10 * i) * MS, 'R', 4096, i % 2 ? MS : 5 * MS, READ);
	for (uint64_t i = 0; i < 200; i++)
		request((6000 + 10 * i) * MS, 'W', MiB, MS, WRITE);
	r = load();
	assert_null(found(r, "write-back-interference"));
	report_free(r);
}

static void write_half(uint64_t journals)
{
	for (uint64_t i = 0; i < 16; i++)
		request((10 + 10 * i) * MS, 'W', MiB, MS, i < journals ? JOURNAL : WRITE);
	for (uint64_t i = 0; i < 10; i++)
		fprintf(row(SYNC, (1000 + 100 * i) * MS),
			"7\t7\tpython\tfsync\t50000000\t0\t3\t-\t-\t-\t2\tmodel.pt\n");
}

static void journals_are_a_part_of_what_is_written(void **state)
{
	const struct finding *f;
	struct report *r;

	(void)state;
	write_half(8);
	r = load();
	f = found(r, "journal-writes");
	assert_non_null(f);
	near(f->measure, 0.5);
	assert_true(shows(f, "of 16.0 MiB that the disks wrote, 8.00 MiB were journals"));
	report_free(r);
}

static void a_small_journal_is_no_problem(void **state)
{
	struct report *r;

	(void)state;
	write_half(4);
	r = load();
	assert_null(found(r, "journal-writes"));
	report_free(r);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(swap_is_found_by_its_time, begin, end),
		cmocka_unit_test_setup_teardown(a_little_swap_is_no_problem, begin, end),
		cmocka_unit_test_setup_teardown(faults_in_order_are_a_storm_and_not_random, begin, end),
		cmocka_unit_test_setup_teardown(faults_that_jump_are_random, begin, end),
		cmocka_unit_test_setup_teardown(faults_without_latencies_fire_no_rule, begin, end),
		cmocka_unit_test_setup_teardown(reclaim_is_found_by_its_time, begin, end),
		cmocka_unit_test_setup_teardown(a_little_reclaim_is_no_problem, begin, end),
		cmocka_unit_test_setup_teardown(reclaim_without_rows_is_not_inferred, begin, end),
		cmocka_unit_test_setup_teardown(reads_that_wait_for_writes_are_found_with_the_writer, begin, end),
		cmocka_unit_test_setup_teardown(reads_as_fast_beside_writes_wait_for_nothing, begin, end),
		cmocka_unit_test_setup_teardown(slow_reads_without_writes_are_not_the_writers, begin, end),
		cmocka_unit_test_setup_teardown(journals_are_a_part_of_what_is_written, begin, end),
		cmocka_unit_test_setup_teardown(a_small_journal_is_no_problem, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
