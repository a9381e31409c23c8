/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that are only in sums count in all totals as their rows would, in made-up traces. */
#include "report/brief.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/report.h"
#include "tree.h"

#define UTC "2026-11-21T01:02:03.000000000Z"
#define FILES                                                                                       \
	"# dltraced files 1\nTIMESTAMP\tTIME\tFID\tDEV\tINO\tTYPE\tFSTYPE\tSIZE\tSTATE\tREALPATH\n" \
	"1000000000000\t" UTC "\t1\t259:2\t5\treg\text4\t4096\tok\t/data/a\n"                       \
	"1000000000000\t" UTC "\t2\t0:30\t6\treg\ttmpfs\t4096\tok\t/dev/b\n"
#define RW                                                                                              \
	"# dltraced vfs_rw 1\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tRW\tFUNC\tLAT_NS\tREQUESTED\tRETURNED\t" \
	"OFFSET\tDISK_BYTES\tFD\tFLAGS\tFID\tFILE\n"
#define SUMS                                                                                             \
	"# dltraced vfs_rw_sums 1\nTIMESTAMP\tTIME\tPID\tCOMM\tRW\tFUNC\tSPAN_NS\tCOUNT\tEMPTY\tBYTES\t" \
	"TIME_NS\tMAX_NS\tTIMES\tFID\tFILE\n"

static struct report *loaded(const char *rows, const char *sums, struct window window)
{
	struct report *r;

	tree_put("files.out", FILES);
	tree_put("vfs_rw.out", rows);
	tree_put("vfs_rw_sums.out", sums);
	assert_int_equal(report_load(&r, tree, &(struct report_options){ .timed = true, .window = window }), 0);
	return r;
}

#define ROW(ms, pid, rw, func, ns, bytes, fid)                                                           \
	"10000000" ms "000000\t" UTC "\t" pid "\t" pid "\tpython\t" rw "\t" func "\t" ns "\t100\t" bytes \
	"\t0\t0\t3\t-\t" fid "\ta\n"

static const struct report_file *file(const struct report *r, uint64_t fid)
{
	const struct report_file *f = table_find(&r->files, fid);

	assert_non_null(f);
	return f;
}

static void expect_equal(const struct report *a, const struct report *b)
{
	for (unsigned int side = 0; side < 2; side++) {
		assert_int_equal(a->rw[side].rows, b->rw[side].rows);
		assert_int_equal(a->rw[side].bytes, b->rw[side].bytes);
		assert_int_equal(a->rw[side].lat.n, b->rw[side].lat.n);
		assert_int_equal(a->rw[side].lat.sum, b->rw[side].lat.sum);
		assert_int_equal(a->rw[side].lat.max, b->rw[side].lat.max);
		assert_int_equal(a->rw[side].size.n, b->rw[side].size.n);
		assert_int_equal(a->rw[side].size.sum, b->rw[side].size.sum);
	}
	assert_memory_equal(a->by_type, b->by_type, sizeof(a->by_type));
	assert_memory_equal(a->source, b->source, sizeof(a->source));
	for (uint64_t fid = 1; fid <= 2; fid++) {
		assert_int_equal(file(a, fid)->calls, file(b, fid)->calls);
		assert_int_equal(file(a, fid)->read_bytes, file(b, fid)->read_bytes);
		assert_int_equal(file(a, fid)->write_bytes, file(b, fid)->write_bytes);
		assert_int_equal(file(a, fid)->time_ns, file(b, fid)->time_ns);
		assert_int_equal(file(a, fid)->users, file(b, fid)->users);
	}
	for (uint64_t pid = 7; pid <= 8; pid++) {
		const struct report_proc *p = table_find(&a->procs, pid), *q = table_find(&b->procs, pid);

		assert_true(p && q);
		assert_int_equal(p->calls, q->calls);
		assert_int_equal(p->reads, q->reads);
		assert_int_equal(p->writes, q->writes);
		assert_int_equal(p->read_bytes, q->read_bytes);
		assert_int_equal(p->write_bytes, q->write_bytes);
		assert_int_equal(p->file_ns, q->file_ns);
	}
	assert_int_equal(a->n_funcs, b->n_funcs);
}

static void totals_are_those_of_rows(void **state)
{
	struct report *rows =
		loaded(RW ROW("10", "7", "R", "read", "600", "100", "1") ROW("11", "7", "R", "read", "1100", "100", "1")
			       ROW("12", "7", "R", "read", "700", "0", "1")
				       ROW("13", "7", "W", "pwrite64", "2100", "50", "2")
					       ROW("14", "8", "R", "read", "900", "100", "2")
						       ROW("15", "8", "R", "read", "9000", "70", "1"),
		       SUMS, (struct window){ 0 });
	struct report *sums =
		loaded(RW ROW("15", "8", "R", "read", "9000", "70", "1"),
		       SUMS "1000000013000000\t" UTC "\t7\tpython\tR\tread\t4000000\t3\t1\t200\t2400\t1100"
			    "\t512=2,1024=1\t1\ta\n"
			    "1000000013000000\t" UTC "\t7\tpython\tW\tpwrite64\t4000000\t1\t0\t50\t2100\t"
			    "2100\t2048=1\t2\tb\n"
			    "1000000014000000\t" UTC "\t8\tpython\tR\tread\t4000000\t1\t0\t100\t900\t900"
			    "\t512=1\t2\tb\n",
		       (struct window){ 0 });
	bool noted = false;

	expect_equal(rows, sums);
	assert_int_equal(sums->brief[0].calls, 4);
	assert_int_equal(sums->brief[0].bytes, 300);
	assert_int_equal(sums->brief[1].calls, 1);
	for (unsigned int i = 0; i < sums->n_notes; i++)
		noted |= !!strstr(sums->notes[i], "4 reads (300 B) and 1 write (50 B), short and without a disk");
	assert_true(noted);
	for (unsigned int i = 0; i < rows->n_notes; i++)
		assert_null(strstr(rows->notes[i], "without a disk"));
	report_free(rows);
	report_free(sums);
}

/* A sum counts evenly over its time, so that the parts of a trace add up to the whole. */
static void parts_add_up(void **state)
{
	const char *sum = SUMS "1000001000000000\t" UTC "\t7\tpython\tR\tread\t1000000000\t11\t1\t1001\t5001\t900\t"
			       "256=7,512=4\t1\ta\n";
	const uint64_t begin = 1000000000000000, third = begin + 333333333, end = begin + 1000000001;
	struct report *a = loaded(RW, sum, (struct window){ begin, third });
	struct report *b = loaded(RW, sum, (struct window){ third, end });

	assert_true(a->brief[0].calls > 0 && b->brief[0].calls > a->brief[0].calls);
	assert_int_equal(a->brief[0].calls + b->brief[0].calls, 11);
	assert_int_equal(a->brief[0].bytes + b->brief[0].bytes, 1001);
	assert_int_equal(file(a, 1)->time_ns + file(b, 1)->time_ns, 5001);
	report_free(a);
	report_free(b);
}

/* A damaged row is counted, and in no sum. */
static void damaged_rows_are_in_no_sum(void **state)
{
	static const char *const times[] = { "",    "x",      "=1", "512=", "512", "512=1,", "512=1;1024=1",
					     "0=1", "512=-1", "?" };

	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		autofree char *sums =
			util_fmt(SUMS "1000001000000000\t" UTC "\t7\tpython\tR\tread\t1000000000\t1\t0\t9\t5\t"
				      "5\t%s\t1\ta\n",
				 times[i]);
		struct report *r = loaded(RW, sums, (struct window){ 0 });

		if (strcmp(times[i], "512=1,"))
			assert_int_equal(r->brief[0].calls, 0);
		report_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(damaged_rows_are_in_no_sum),
		IN_TREE(parts_add_up),
		IN_TREE(totals_are_those_of_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
