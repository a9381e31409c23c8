/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls about metadata by call and folder, in made-up traces. */
#include "report/files/meta.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/report.h"
#include "tree.h"

static FILE *out;
static uint64_t ns;

static int begin(void **state)
{
	autofree char *path = NULL;

	if (tree_make(state) < 0)
		return -1;
	tree_put("close.out",
		 "# dltraced close 1\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tFUNC\tLAT_NS\tRET\tFD\tLAST\tFID\tFILE\n");
	path = tree_path("meta_sums.out");
	ns = 1000000000000;
	out = fopen(path, "we");
	if (!out)
		return -1;
	fprintf(out,
		"# dltraced meta_sums 1\nTIMESTAMP\tTIME\tPID\tCOMM\tFUNC\tREQUEST\tSPAN_NS\tCOUNT\tFAILED\tERRNO\t"
		"TIME_NS\tMAX_NS\tDIR\n");
	return 0;
}

static int end(void **state)
{
	return tree_remove(state);
}

/* A row of process PID; its calls took a nanosecond each, but for one, which took MAX_NS in all. */
static void row(unsigned int pid, const char *func, const char *request, unsigned int count, const char *failed,
		uint64_t max_ns, const char *folder)
{
	fprintf(out,
		"%" PRIu64 "\t2026-11-21T01:02:03.000000000Z\t%u\tpython3\t%s\t%s\t1000000000\t%u\t%s\t%" PRIu64
		"\t%" PRIu64 "\t%s\n",
		ns += 1000, pid, func, request, count, failed, count - 1 + max_ns, max_ns, folder);
}

static struct report *loaded(void)
{
	struct report *r;

	assert_int_equal(fclose(out), 0);
	assert_int_equal(report_load(&r, tree, &(struct report_options){ .timed = true }), 0);
	return r;
}

static void expect(const struct report_meta_row *row, const char *func, const char *request, uint64_t count,
		   uint64_t failed, uint64_t error, uint64_t time_ns, uint64_t max_ns, const char *folder)
{
	assert_string_equal(row->func, func);
	assert_string_equal(row->request, request);
	assert_int_equal(row->count, count);
	assert_int_equal(row->failed, failed);
	assert_int_equal(row->error, error);
	assert_int_equal(row->ns, time_ns);
	assert_int_equal(row->max_ns, max_ns);
	assert_string_equal(row->folder, folder);
}

static void processes_and_intervals_add_up(void **state)
{
	const struct report_meta *meta;
	struct report *r;

	row(1, "stat", "-", 10, "0\t-", 50, "/data");
	row(2, "stat", "-", 5, "4\t2", 400, "/data");
	row(1, "stat", "-", 1, "0\t-", 50, "/data");
	row(1, "stat", "-", 1, "0\t-", 7, "/data/a"); /* another folder, */
	row(1, "lstat", "-", 1, "1\t13", 5, "/data"); /* another call, */
	row(1, "ioctl", "TCGETS", 1, "1\t25", 4, "/data"); /* and others by their requests */
	row(1, "ioctl", "FIONREAD", 2, "0\t-", 2, "-");
	r = loaded();
	meta = r->meta;
	assert_int_equal(meta->n, 5);
	expect(&meta->row[0], "stat", "-", 16, 4, 2, 59 + 404 + 50, 400, "/data");
	expect(&meta->row[1], "stat", "-", 1, 0, 0, 7, 7, "/data/a");
	expect(&meta->row[2], "lstat", "-", 1, 1, 13, 5, 5, "/data");
	expect(&meta->row[3], "ioctl", "TCGETS", 1, 1, 25, 4, 4, "/data");
	expect(&meta->row[4], "ioctl", "FIONREAD", 2, 0, 0, 3, 2, "-");
	report_free(r);
}

/* Those that took longest, in order, and all others as one row, whatever the order of the file. */
static void the_rest_is_one_row(void **state)
{
	const struct report_meta *meta;
	struct report *r;
	uint64_t rest = 0;

	for (unsigned int i = 0; i < META_SHOWN + 100; i++) {
		const unsigned int at = i * 7 % (META_SHOWN + 100);
		char folder[32];

		snprintf(folder, sizeof(folder), "/data/%u", at);
		row(1, "stat", "-", 1, "0\t-", 1000 + at, folder);
		rest += at < 100 ? 1000 + at : 0;
	}
	r = loaded();
	meta = r->meta;
	assert_int_equal(meta->n, META_SHOWN + 1);
	for (unsigned int i = 0; i < META_SHOWN; i++)
		assert_int_equal(meta->row[i].ns, 1000 + META_SHOWN + 100 - 1 - i);
	assert_null(meta->row[META_SHOWN].folder);
	assert_int_equal(meta->row[META_SHOWN].count, 100);
	assert_int_equal(meta->row[META_SHOWN].ns, rest);
	assert_int_equal(meta->row[META_SHOWN].max_ns, 1099);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(processes_and_intervals_add_up, begin, end),
		cmocka_unit_test_setup_teardown(the_rest_is_one_row, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
