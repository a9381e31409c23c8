/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests of several pieces, with the rows of bio_map.out, in made-up traces. */
#include "report/disk/causes.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/report.h"
#include "tree.h"

#define BEGIN UINT64_C(1000000000000)
#define TIME "2026-11-21T01:02:03.000000000Z"
#define MS UINT64_C(1000000)
#define N_FIDS (2 * CAUSES_SHOWN + 10)

/* --- making one ------------------------------------------------------------------------------------------ */

enum { BIO, BIO_MAP, FILES, PIDS, RW, N_OUT };

static FILE *out[N_OUT];

static const struct {
	const char *name, *head;
} outs[N_OUT] = {
	[BIO] = { "bio",
		  "PID\tTID\tCOMM\tDONEPID\tDONECOMM\tDISK\tT\tSECTOR\tBYTES\tLAT_NS\tQLAT_NS\tFLAGS\tSTATUS\tKIND\tFID\tFOFF\t"
		  "EXTENTS\tWPID\tWTID\tWCOMM\tWN\tFILE" },
	[BIO_MAP] = { "bio_map", "DISK\tSECTOR\tBYTES\tKIND\tFID\tFOFF\tWPID\tWTID\tFILE" },
	[FILES] = { "files", "FID\tDEV\tINO\tTYPE\tFSTYPE\tSIZE\tSTATE\tREALPATH" },
	[PIDS] = { "pids", "PID\tTID\tPPID\tCOMM\tEVENT\tSTATUS\tNSPID\tUID\tCGROUP\tRANK\tARGS" },
	[RW] = { "vfs_rw",
		 "PID\tTID\tCOMM\tRW\tFUNC\tLAT_NS\tREQUESTED\tRETURNED\tOFFSET\tDISK_BYTES\tFD\tFLAGS\tFID\tFILE" },
};

static FILE *row(unsigned int file, uint64_t at_ns)
{
	fprintf(out[file], "%" PRIu64 "\t" TIME "\t", BEGIN + at_ns);
	return out[file];
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
	for (unsigned int fid = 1; fid <= N_FIDS; fid++)
		fprintf(row(FILES, 0), "%u\t8:1\t1%u\treg\text4\t65536\tok\t/data/%u\n", fid, fid, fid);
	return 0;
}

static int end(void **state)
{
	return tree_remove(state);
}

/* A write of 16 KiB, queued 2 ms and given to the driver 1 ms before its end. */
static void request_of(uint64_t at_ns, unsigned int sector, const char *rest)
{
	fprintf(row(BIO, at_ns), "2\t2\tkworker\t0\tswapper/0\tsda\tW\t%u\t16384\t2000000\t1000000\t-\t0\t%s\n", sector,
		rest);
}

static void request(uint64_t at_ns, unsigned int sector)
{
	request_of(at_ns, sector, "data\t1\t0\t2\t7\t7\tone\t2\t1");
}

static void piece(uint64_t at_ns, unsigned int sector, uint64_t bytes, const char *rest)
{
	fprintf(row(BIO_MAP, at_ns), "sda\t%u\t%" PRIu64 "\t%s\n", sector, bytes, rest);
}

static struct report *load(void)
{
	struct report *r = NULL;

	for (unsigned int i = 0; i < N_OUT; i++)
		fclose(out[i]);
	assert_int_equal(report_load(&r, tree, &(struct report_options){ .timed = true }), 0);
	return r;
}

static const struct report_cause *file(const struct report *r, uint64_t fid)
{
	static const struct report_cause none;
	const struct report_cause *f = table_find(&r->causes->files, fid);

	return f ? f : &none;
}

static uint64_t written_by(const struct report *r, uint64_t pid)
{
	const struct report_cause_process *p = table_find(&r->causes->processes, pid);

	return p ? p->sum.write_bytes : 0;
}

/* Both tables contain all requests. */
static void is_whole(const struct report *r)
{
	const struct report_causes *c = r->causes;
	struct report_cause sum[2] = { 0 };

	for (unsigned int k = 0; k < 2; k++)
		for (unsigned int i = 0; i < (k ? c->n_processes : c->n_files); i++) {
			const struct report_cause *s = k ? &c->process[i].sum : &c->file[i].sum;

			sum[k].write_bytes += s->write_bytes;
			sum[k].requests += s->requests;
			sum[k].time_ns += s->time_ns;
		}
	for (unsigned int k = 0; k < 2; k++) {
		assert_int_equal(sum[k].write_bytes, c->all.write_bytes);
		assert_int_equal(sum[k].requests, c->all.requests);
		assert_int_equal(sum[k].time_ns, c->all.time_ns);
	}
}

/* --- tests ---------------------------------------------------------------------------------------------------- */

/* The kernel reads a program and its libraries when they are executed and mapped: there is no call on them. */
static void a_program_is_a_file_of_the_job(void **state)
{
	static const char read[] =
		"%u\t%u\tx\t0\tswapper/0\tsda\tR\t%u\t16384\t2000000\t1000000\t-\t0\tdata\t%u\t0\t1\t-\t-\t-\t-\t%u\n";
	struct report *r;

	(void)state;
	fprintf(row(PIDS, 0), "20\t20\t1\tpython3\texec\t-\t20\t0\t/\t-\tpython3\n");
	fprintf(row(BIO, 10 * MS), read, 20, 20, 100, 3, 3);
	fprintf(row(BIO, 11 * MS), read, 21, 21, 200, 4, 4);
	r = load();
	for (unsigned int i = 0; i < r->causes->n_files; i++)
		assert_int_equal(r->causes->file[i].of_job, r->causes->file[i].id == 3);
	assert_int_equal(r->causes->n_files, 2);
	report_free(r);
}

static void pieces_are_of_their_files_and_writers(void **state)
{
	struct report *r;

	(void)state;
	/* PID 9 has overwritten half of the pages that PID 8 made dirty */
	fprintf(row(RW, 5 * MS), "9\t9\tnine\tW\twrite\t1000\t8192\t8192\t4096\t0\t3\tWRONLY\t2\t2\n");
	piece(9 * MS, 100, 4096, "data\t1\t0\t7\t7\t1");
	piece(9 * MS, 108, 12288, "data\t2\t4096\t8\t8\t2");
	request(10 * MS, 100);
	r = load();
	assert_int_equal(file(r, 1)->write_bytes, 4096);
	assert_int_equal(file(r, 1)->requests, 1);
	assert_int_equal(file(r, 2)->write_bytes, 12288);
	assert_int_equal(file(r, 2)->time_ns, 3 * file(r, 1)->time_ns);
	assert_int_equal(written_by(r, 7), 4096);
	assert_int_equal(written_by(r, 8), 4096);
	assert_int_equal(written_by(r, 9), 8192);
	is_whole(r);
	report_free(r);
}

/* The disk writes one place twice; and a piece belongs to a request without a row. */
static void pieces_are_of_the_request_at_their_time(void **state)
{
	struct report *r;

	(void)state;
	piece(1 * MS, 100, 16384, "data\t3\t0\t7\t7\t3");
	piece(99 * MS, 100, 16384, "data\t1\t0\t7\t7\t1");
	piece(199 * MS, 100, 16384, "data\t2\t0\t8\t8\t2");
	request(100 * MS, 100);
	request(200 * MS, 100);
	r = load();
	assert_int_equal(file(r, 1)->write_bytes, 16384);
	assert_int_equal(file(r, 2)->write_bytes, 16384);
	assert_int_equal(file(r, 3)->write_bytes, 0);
	is_whole(r);
	report_free(r);
}

static void what_has_no_piece_is_of_several_files(void **state)
{
	struct report *r;

	(void)state;
	piece(9 * MS, 100, 4096, "journal\t-\t-\t-\t-\t-"); /* the other one was lost */
	piece(29 * MS, 300, 16384, "other\t-\t-\t-\t-\t-"); /* more than are listed */
	request(10 * MS, 100);
	request(20 * MS, 200);
	request(30 * MS, 300);
	r = load();
	assert_int_equal(r->causes->no_file[CAUSE_JOURNAL].write_bytes, 4096);
	assert_int_equal(r->causes->no_file[CAUSE_SEVERAL].write_bytes, 12288 + 2 * 16384);
	assert_int_equal(file(r, 1)->write_bytes, 0);
	is_whole(r);
	report_free(r);
}

static void pieces_of_a_journal_are_more_of_it(void **state)
{
	struct report *r;

	(void)state;
	request_of(10 * MS, 100, "journal\t-\t-\t4\t-\t-\t-\t-\t-");
	r = load();
	assert_int_equal(r->causes->no_file[CAUSE_JOURNAL].write_bytes, 16384);
	is_whole(r);
	report_free(r);
}

/* Half of the files are the job's. Files without a row of their own are in one of two rows. */
static void files_beyond_the_shown_ones_are_the_jobs_or_not(void **state)
{
	uint64_t of_job = 0, of_others = 0;
	const struct report_causes *c;
	struct report *r;

	(void)state;
	for (unsigned int fid = 1; fid <= N_FIDS; fid++) {
		autofree char *rest = util_fmt("data\t%u\t0\t1\t7\t7\tone\t1\t%u", fid, fid);

		if (fid % 2)
			fprintf(row(RW, fid), "7\t7\tone\tW\twrite\t1000\t16384\t16384\t0\t0\t3\tWRONLY\t%u\tf\n", fid);
		request_of(fid * MS, 100 * fid, rest);
	}
	r = load();
	c = r->causes;
	for (unsigned int i = 0; i < c->n_files; i++) {
		*(c->file[i].of_job ? &of_job : &of_others) += c->file[i].sum.write_bytes;
		if (!c->file[i].id)
			assert_string_equal(c->file[i].what,
					    c->file[i].of_job ? "(other files of the job)" : "(other files)");
	}
	assert_int_equal(c->n_files, CAUSES_SHOWN + 2);
	assert_int_equal(of_job, N_FIDS / 2 * 16384);
	assert_int_equal(of_others, N_FIDS / 2 * 16384);
	is_whole(r);
	report_free(r);
}

/* What is not the job's counts where the disks worked for a tenth of the time, and a tenth of that for it. */
static void shares_of_foreign_files(void **state)
{
	static struct report_causes causes = { .all.time_ns = 100, .n_files = 4 };
	static const uint64_t ns[] = { 40, 30, 20, 10 };
	struct report_foreign foreign;

	for (unsigned int i = 0; i < ARRAY_SIZE(ns); i++)
		causes.file[i] = (struct report_cause_row){ .sum.time_ns = ns[i], .of_job = i % 2 == 0 };
	assert_true(report_causes_foreign(&causes, 1000, &foreign));
	assert_float_equal(foreign.share, 0.4, 1e-9);
	assert_ptr_equal(foreign.file[0], &causes.file[1]);
	assert_ptr_equal(foreign.file[1], &causes.file[3]);
	assert_float_equal(foreign.file_share[1], 0.1, 1e-9);
	assert_false(report_causes_foreign(&causes, 1001, &foreign));
	causes.file[1].of_job = true;
	causes.file[3].sum.time_ns = 9;
	assert_false(report_causes_foreign(&causes, 1000, &foreign));
	causes.file[1].of_job = false;
	assert_true(report_causes_foreign(&causes, 1000, &foreign));
	assert_null(foreign.file[1]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_program_is_a_file_of_the_job, begin, end),
		cmocka_unit_test_setup_teardown(pieces_are_of_their_files_and_writers, begin, end),
		cmocka_unit_test_setup_teardown(pieces_are_of_the_request_at_their_time, begin, end),
		cmocka_unit_test_setup_teardown(what_has_no_piece_is_of_several_files, begin, end),
		cmocka_unit_test_setup_teardown(pieces_of_a_journal_are_more_of_it, begin, end),
		cmocka_unit_test_setup_teardown(files_beyond_the_shown_ones_are_the_jobs_or_not, begin, end),
		cmocka_unit_test(shares_of_foreign_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
