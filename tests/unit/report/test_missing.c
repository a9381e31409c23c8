/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/missing.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"
#include "report/report.h"
#include "report/scan/model.h"
#include "report/show/show.h"
#include "tree.h"

#define OPEN "# dltraced open 1\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tFUNC\tLAT_NS\tFD\tRET\tFLAGS\tFID\tPATH\n"
#define OPEN_ROW "1000100000000\t-\t101\t101\tpython\topenat\t2000\t5\t5\t-\t1\t/a\n"
#define RW                                                                                                      \
	"# dltraced vfs_rw 1\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tRW\tFUNC\tLAT_NS\tREQUESTED\tRETURNED\tOFFSET\t" \
	"DISK_BYTES\tFD\tFLAGS\tFID\tFILE\n"
#define RW_ROW "1000100000000\t-\t101\t101\tpython\tR\tread\t2000000\t4096\t4096\t0\t4096\t5\t-\t1\ta\n"
#define PROBE(name, more) "{\"name\":\"" name "\",\"backend\":\"fentry\"" more "}"
#define MOST "18446744073709551615"
/* the other kinds of calls: recorded, without any call */
#define OTHERS PROBE("close", "") "," PROBE("create_del", "") "," PROBE("mmap", "") "," PROBE("sync", "") ","

static void put_manifest(const char *members, const char *probes)
{
	autofree char *text = util_fmt("{\"tool\":\"dltraced\",\"schema\":1,%s\"probes\":[%s]}", members, probes);

	tree_put("manifest.json", text);
}

/* Writes NAME with N rows, and TAIL after them. */
static void put_rows(const char *name, const char *head, const char *row, unsigned int n, const char *tail)
{
	autofree char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fputs(head, out);
	for (unsigned int i = 0; i < n; i++)
		fputs(row, out);
	fputs(tail, out);
	fclose(out);
	tree_put(name, text);
}

static struct report *loaded(void)
{
	struct report *r = NULL;

	assert_int_equal(report_load(&r, tree, &(struct report_options){ .timed = true }), 0);
	return r;
}

/* A trace with two opens and six reads in the manifest, of which the files have OPENS and READS. */
static struct report *of_rows(const char *members, unsigned int opens, unsigned int reads, const char *tail)
{
	put_manifest(members, OTHERS PROBE("open", ",\"rows\":2") "," PROBE("vfs_rw", ",\"rows\":6"));
	put_rows("open.out", OPEN, OPEN_ROW, opens, "");
	put_rows("vfs_rw.out", RW, RW_ROW, reads, tail);
	return loaded();
}

#define WHOLE "\"complete\":true,"
/* long enough for an answer */
#define LASTS "\"start\":{\"monotonic_ns\":1000000000000},\"end\":{\"monotonic_ns\":1002000000000},"

static void a_whole_trace_has_no_caveat(void **state)
{
	struct report *r = of_rows(WHOLE, 2, 6, "");

	assert_int_equal(r->missing.n, 0);
	assert_null(r->missing.caveat);
	assert_true(r->missing.complete);
	assert_false(r->missing.damaged);
	assert_true(missing_share(&r->missing) == 0);
	report_free(r);
}

static void rows_that_the_manifest_counts_and_the_file_lacks_are_an_error(void **state)
{
	struct report *r = of_rows(WHOLE, 2, 2, "");

	assert_int_equal(r->missing.n, 1);
	assert_int_equal(r->missing.reason[0].kind, MISSING_CUT);
	assert_string_equal(r->missing.reason[0].text,
			    "vfs_rw.out: 4 of 6 rows are not in the file: it was cut off, or "
			    "lines were removed "
			    "from it");
	assert_true(fabs(missing_share(&r->missing) - 4.0 / 8) < 1e-9);
	assert_true(fabs(r->missing.reason[0].share - 4.0 / 6) < 1e-9);
	assert_string_equal(r->missing.caveat, "50.0 % of the calls are missing: this may be otherwise");
	assert_true(r->missing.damaged);
	assert_false(r->missing.complete);
	assert_int_equal(r->op[REPORT_VFS_RW].rows, 2); /* the rest is read */
	report_free(r);
}

static void a_cut_row_shows_that_the_file_is_cut(void **state)
{
	struct report *r = of_rows(WHOLE, 2, 5, "10001000");

	assert_string_equal(r->missing.reason[0].text, "vfs_rw.out: 1 of 6 rows is not in the file: it was cut off");
	report_free(r);
}

static void a_file_that_is_gone_is_all_missing(void **state)
{
	autofree char *path = util_fmt("%s/open.out", tree);
	struct report *r = of_rows(WHOLE, 2, 6, "");

	report_free(r);
	assert_int_equal(remove(path), 0);
	r = loaded();
	assert_string_equal(r->missing.reason[0].text,
			    "open.out: 2 of 2 rows are not in the file: the file is missing");
	report_free(r);
}

static void a_row_with_no_number_is_missing(void **state)
{
	static const char row[] = "1000100000000\t-\tx\t101\tpython\tR\tread\t2\t4096\t4096\t0\t0\t5\t-\t1\ta\n";
	struct report *r = of_rows(WHOLE, 2, 5, row);

	assert_string_equal(r->missing.reason[0].text, "vfs_rw.out: 1 of 6 rows is not in the file: lines in it are "
						       "damaged");
	report_free(r);
}

static void rows_too_many_are_an_error(void **state)
{
	struct report *r = of_rows(WHOLE, 2, 8, "");

	assert_int_equal(r->missing.n, 1);
	assert_int_equal(r->missing.reason[0].kind, MISSING_SURPLUS);
	assert_int_equal(r->missing.reason[0].n, 2);
	assert_true(r->missing.damaged);
	assert_string_equal(r->missing.caveat, "25.0 % of vfs_rw.out is not of this trace: this may be otherwise");
	report_free(r);
}

/* While a trace runs, the manifest is older than the files, and its counts do not hold. */
static void a_trace_without_an_end_is_not_damaged(void **state)
{
	struct report *r = of_rows("\"complete\":false,", 1, 8, "");

	assert_int_equal(r->missing.n, 1);
	assert_int_equal(r->missing.reason[0].kind, MISSING_NO_END);
	assert_string_equal(r->missing.caveat, "the trace has no end: this may be otherwise");
	assert_false(r->missing.damaged);
	assert_false(r->missing.complete);
	report_free(r);
}

static void a_trace_without_a_manifest_is_not_complete(void **state)
{
	struct report *r;

	put_rows("vfs_rw.out", RW, RW_ROW, 2, "");
	r = loaded();
	assert_int_equal(r->missing.reason[0].kind, MISSING_NO_END);
	assert_false(r->missing.complete);
	report_free(r);
}

/* A lost row has a reason; rows without one in the manifest are called lost. */
static void each_loss_has_its_reason(void **state)
{
	struct report *r;

	put_manifest(WHOLE,
		     OTHERS PROBE("open", ",\"rows\":0") "," PROBE(
			     "vfs_rw", ",\"rows\":2,\"lost\":8,\"lost_by\":{\"buffer\":3,\"unseen\":1,\"disk\":2}"));
	put_rows("vfs_rw.out", RW, RW_ROW, 2, "");
	put_rows("open.out", OPEN, OPEN_ROW, 0, "");
	r = loaded();
	assert_int_equal(r->missing.n, 4);
	assert_string_equal(r->missing.reason[0].text,
			    "2 of 10 calls (2 vfs_rw) were lost while tracing: there was no room for them in "
			    "memory or on the disk");
	assert_string_equal(r->missing.reason[1].text,
			    "3 of 10 calls (3 vfs_rw) were lost while tracing: the ring buffers were full "
			    "(use a larger --buffer)");
	assert_string_equal(r->missing.reason[2].text,
			    "2 of 10 calls (2 vfs_rw) were lost while tracing: the disk was full, refused "
			    "them, or had less than --min-free left (put the trace on another disk)");
	assert_string_equal(r->missing.reason[3].text,
			    "1 of 10 calls (1 vfs_rw) was not recorded: the kernel did not report the "
			    "beginning or the end");
	report_free(r);
}

/* The first screen has one reason: the few unseen requests of a disk do not hide that --keep has dropped most calls. */
static void the_reason_that_matters_is_first(void **state)
{
	struct report *r;

	put_manifest(
		WHOLE,
		OTHERS PROBE("bio", ",\"rows\":1000,\"lost\":1,\"lost_by\":{\"unseen\":1},\"dropped\":1000") "," PROBE(
			"open", ",\"rows\":0") "," PROBE("vfs_rw", ",\"rows\":6,\"dropped\":4"));
	put_rows("vfs_rw.out", RW, RW_ROW, 2, "");
	put_rows("open.out", OPEN, OPEN_ROW, 0, "");
	r = loaded();
	assert_int_equal(r->missing.n, 3);
	assert_string_equal(r->missing.reason[0].text,
			    "4 of 6 calls (4 vfs_rw) were dropped by --keep: rollup.out has the sums");
	assert_string_equal(r->missing.reason[1].text,
			    "bio.out: 1 of 1001 rows was not recorded: the kernel did not report the "
			    "beginning or the end");
	report_free(r);
}

/* Rows that --keep dropped, that were lost, or that --keep sums summed up are known, and not an error. */
static void rows_that_were_given_up_are_known(void **state)
{
	struct report *r;

	put_manifest(WHOLE, OTHERS PROBE("open", ",\"rows\":0,\"summed\":4") "," PROBE(
				    "vfs_rw", ",\"rows\":6,\"dropped\":4,\"lost\":2"));
	put_rows("vfs_rw.out", RW, RW_ROW, 2, "");
	put_rows("open.out", OPEN, OPEN_ROW, 0, "");
	r = loaded();
	assert_int_equal(r->missing.n, 3);
	assert_string_equal(r->missing.reason[0].text,
			    "2 of 12 calls (2 vfs_rw) were lost while tracing: there was no room "
			    "for them in "
			    "memory or on the disk");
	assert_string_equal(r->missing.reason[1].text,
			    "4 of 12 calls (4 vfs_rw) were dropped by --keep: rollup.out has "
			    "the sums");
	assert_string_equal(r->missing.reason[2].text, "4 of 12 calls (4 open) were only summed up (--keep sums): "
						       "rollup.out has the sums");
	assert_true(fabs(missing_share(&r->missing) - 10.0 / 12) < 1e-9);
	assert_false(r->missing.damaged);
	assert_false(r->missing.complete);
	report_free(r);
}

/* All syncs are few calls, but the job may have waited for them. */
static void a_kind_of_call_that_is_lost_matters_however_few_they_are(void **state)
{
	struct report *r;

	put_manifest(WHOLE, PROBE("close", "") "," PROBE("create_del", "") "," PROBE("mmap", "") "," PROBE(
				    "open", "") "," PROBE("sync", ",\"lost\":2") "," PROBE("vfs_rw", ",\"rows\":1000"));
	put_rows("vfs_rw.out", RW, RW_ROW, 1000, "");
	r = loaded();
	assert_true(missing_share(&r->missing) < MISSING_MATTERS);
	assert_string_equal(r->missing.caveat, "100.0 % of the calls of sync are missing: this may be otherwise");
	report_free(r);
}

/* Context switches that the kernel did not report do not call for a larger --buffer. */
static void rows_of_files_that_are_not_read_have_their_reasons(void **state)
{
	struct report *r;

	put_manifest(WHOLE, OTHERS PROBE("open", "") "," PROBE("vfs_rw", "") "," PROBE(
				    "sched_switch",
				    ",\"rows\":94,\"lost\":6,\"lost_by\":{\"buffer\":1,\"unseen\":5},\"unseen\":5"));
	tree_put("sched_switch.out", "# dltraced sched_switch 1\nTIMESTAMP\tTIME\n1\t-\n");
	r = loaded();
	assert_int_equal(r->missing.n, 2);
	assert_string_equal(r->missing.reason[0].text,
			    "sched_switch.out: 1 of 100 rows was lost while tracing: the ring buffers were "
			    "full (use a larger --buffer)");
	assert_string_equal(r->missing.reason[1].text,
			    "sched_switch.out: 5 of 100 rows were not recorded: the kernel did not report "
			    "the beginning or the end");
	report_free(r);
}

/* Not every row of gpu.out and sched.out has to be read. */
static void other_files_are_held_against_their_bytes(void **state)
{
	struct report *r;

	put_manifest(WHOLE "\"collectors\":[{\"name\":\"gpu\",\"rows\":9,\"bytes\":80}],",
		     OTHERS PROBE("open", "") "," PROBE("vfs_rw", "") "," PROBE(
			     "sched", ",\"rows\":9,\"lost\":1,\"bytes\":5000"));
	tree_put("gpu.out", "# dltraced gpu 1\nTIMESTAMP\tTIME\n1\t-\n");
	r = loaded();
	assert_int_equal(r->missing.n, 3);
	assert_string_equal(r->missing.reason[0].text, "gpu.out: 44 B of 80 B are not in the file: it was cut off");
	assert_string_equal(r->missing.reason[1].text, "sched.out: 4.88 KiB of 4.88 KiB are not in the file: it is not "
						       "there");
	assert_string_equal(r->missing.reason[2].text,
			    "sched.out: 1 of 10 rows was lost while tracing: there was no room for them "
			    "in memory or on the disk");
	assert_string_equal(r->missing.caveat,
			    "55.0 % of gpu.out is missing, 100.0 % of sched.out is missing: this may be "
			    "otherwise");
	report_free(r);
}

static void probes_that_are_off_are_named(void **state)
{
	struct report *r;

	put_manifest(WHOLE, PROBE("vfs_rw", ",\"rows\":2") ",{\"name\":\"open\",\"backend\":\"none\",\"why\":\"no\"}");
	put_rows("vfs_rw.out", RW, RW_ROW, 2, "");
	r = loaded();
	assert_int_equal(r->missing.n, 2);
	assert_int_equal(r->missing.reason[0].kind, MISSING_UNTRACED);
	assert_int_equal(r->missing.reason[1].kind, MISSING_NOT_RECORDED);
	assert_true(isnan(r->missing.reason[1].share));
	assert_string_equal(r->missing.caveat,
			    "open could not be traced, calls of close, create_del, mmap, sync were not "
			    "recorded: this may "
			    "be otherwise");
	report_free(r);
}

/* Two calls in addition to the eight with rows; some of the two may not be on files. */
static void calls_that_were_only_counted_are_a_share_at_most(void **state)
{
	struct report *r = of_rows(WHOLE "\"compat_calls\":2,\"skipped_runs\":0,", 2, 6, "");

	assert_int_equal(r->missing.n, 1);
	assert_int_equal(r->missing.reason[0].kind, MISSING_COMPAT);
	assert_true(fabs(r->missing.reason[0].share - 2.0 / 10) < 1e-9);
	assert_string_equal(r->missing.caveat,
			    "32-bit calls, which have no rows, may be up to 20.0 % of the calls: this "
			    "may be otherwise");
	assert_true(r->missing.complete);
	report_free(r);
}

static void io_uring_matters_where_it_is_used(void **state)
{
	static const char members[] = WHOLE "\"io_uring\":{\"why\":\"this kernel has no tracepoints\"},";
	struct report *r = of_rows(members, 2, 6, "");

	assert_int_equal(r->missing.n, 0);
	report_free(r);
	tree_put("files.out",
		 "# dltraced files 1\nTIMESTAMP\tTIME\tFID\tDEV\tINO\tTYPE\tFSTYPE\tSIZE\tSTATE\tREALPATH\n"
		 "1000\t-\t1\t0:16\t2\tanon\tanon_inodefs\t0\tok\tanon_inode:[io_uring]\n");
	r = loaded();
	assert_int_equal(r->missing.n, 1);
	assert_int_equal(r->missing.reason[0].kind, MISSING_IO_URING);
	assert_string_equal(r->missing.reason[0].text, "the job uses io_uring, whose requests were not recorded: this "
						       "kernel has no "
						       "tracepoints");
	report_free(r);
}

static void a_forged_manifest_makes_no_share_beyond_all(void **state)
{
	struct report *r;

	put_manifest(WHOLE "\"compat_calls\":" MOST ",\"skipped_runs\":" MOST ",",
		     OTHERS PROBE("open", ",\"rows\":" MOST ",\"lost\":" MOST) "," PROBE(
			     "vfs_rw",
			     ",\"rows\":" MOST
			     ",\"dropped\":18446744073709551614,\"summed\":" MOST) "," PROBE("sched",
											     ",\"rows\":" MOST
											     ",\"bytes\":" MOST));
	put_rows("vfs_rw.out", RW, RW_ROW, 2, "");
	r = loaded();
	assert_true(missing_share(&r->missing) > 0.99 && missing_share(&r->missing) <= 1);
	for (unsigned int i = 0; i < r->missing.n; i++)
		assert_true(r->missing.reason[i].share >= 0 && r->missing.reason[i].share <= 1);
	report_free(r);
}

#define LEFT(end_ns)                                                                                       \
	WHOLE "\"job\":{\"left_running\":3,\"left_running_cpu_us\":2000000,"                               \
	      "\"processes\":[{\"comm\":\"a b\"},{\"comm\":\"sh\"},{\"comm\":\"a b\"},{\"comm\":\"s\"}]}," \
	      "\"end\":{\"monotonic_ns\":1000},\"workload\":{\"end\":{\"monotonic_ns\":" #end_ns "}},"
#define PIDS                                                                                    \
	"# dltraced pids 1\nTIMESTAMP\tTIME\tEVENT\tPID\tTID\tPPID\tCOMM\tRANK\tSTATUS\tARGS\n" \
	"1000\t-\tfork\t101\t101\t1\tpython\t-\t-\t-\n"                                         \
	"2000\t-\texit\t101\t101\t1\tpython\t-\t0\tutime=1000000000\\040stime=1000000000\n"

static void processes_that_outlive_the_job_are_a_part_of_it(void **state)
{
	struct report *r;

	tree_put("pids.out", PIDS);
	r = of_rows(LEFT(900), 2, 6, "");
	assert_int_equal(r->missing.n, 1);
	assert_int_equal(r->missing.reason[0].kind, MISSING_LEFT_RUNNING);
	assert_string_equal(r->missing.reason[0].text,
			    "3 of the job's 3 processes were still running when the trace ended "
			    "(a b, sh, s; 50.0 % of "
			    "the job's CPU time until then); --wait-all traces them");
	assert_string_equal(r->missing.caveat, "3 of the job's 3 processes went on: this may be otherwise");
	assert_false(r->missing.complete);
	assert_false(r->missing.damaged);
	report_free(r);
}

/* By stop or --duration: the answer is for the requested time. */
static void a_trace_that_ends_before_the_job_is_complete(void **state)
{
	struct report *r = of_rows(LEFT(1100), 2, 6, "");

	assert_int_equal(r->missing.n, 1);
	assert_int_equal(r->missing.reason[0].kind, MISSING_ENDED_BEFORE);
	assert_null(r->missing.caveat);
	assert_true(r->missing.complete);
	report_free(r);
}

/* The first line has the caveat, and the facts begin with the reasons: on the first screen. */
static void text_has_it_beside_the_answer(void **state)
{
	struct report *r = of_rows(WHOLE LASTS, 2, 2, "");
	autofree char *text = NULL;
	const char *line;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	unsigned int n = 1;

	report_text(r, out);
	fclose(out);
	report_free(r);
	line = strstr(text, "(50.0 % of the calls are missing: this may be otherwise)\n");
	assert_non_null(line);
	assert_ptr_equal(strchr(text, '\n'), strchr(line, '\n'));
	line = strstr(text, "\nmissing      vfs_rw.out: 4 of 6 rows");
	assert_non_null(line);
	for (const char *p = text; p < line; p++)
		n += *p == '\n';
	assert_true(n < 20);
	assert_null(strstr(text, "files        complete"));
	assert_non_null(strstr(text, "files        NOT complete"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(a_file_that_is_gone_is_all_missing),
		IN_TREE(a_forged_manifest_makes_no_share_beyond_all),
		IN_TREE(a_kind_of_call_that_is_lost_matters_however_few_they_are),
		IN_TREE(a_cut_row_shows_that_the_file_is_cut),
		IN_TREE(a_row_with_no_number_is_missing),
		IN_TREE(a_trace_that_ends_before_the_job_is_complete),
		IN_TREE(a_trace_without_a_manifest_is_not_complete),
		IN_TREE(a_trace_without_an_end_is_not_damaged),
		IN_TREE(a_whole_trace_has_no_caveat),
		IN_TREE(calls_that_were_only_counted_are_a_share_at_most),
		IN_TREE(io_uring_matters_where_it_is_used),
		IN_TREE(other_files_are_held_against_their_bytes),
		IN_TREE(rows_of_files_that_are_not_read_have_their_reasons),
		IN_TREE(processes_that_outlive_the_job_are_a_part_of_it),
		IN_TREE(rows_that_the_manifest_counts_and_the_file_lacks_are_an_error),
		IN_TREE(each_loss_has_its_reason),
		IN_TREE(the_reason_that_matters_is_first),
		IN_TREE(rows_that_were_given_up_are_known),
		IN_TREE(rows_too_many_are_an_error),
		IN_TREE(text_has_it_beside_the_answer),
		IN_TREE(probes_that_are_off_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
