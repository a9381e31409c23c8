/* SPDX-License-Identifier: BSD-2-Clause */
/* System calls by name, and by process and name, in made-up traces: as the rows add up by hand. */
#include "report/why/syscalls.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/report.h"
#include "report/show/show.h"
#include "tree.h"

#define TIME "2026-11-21T01:02:03.000000000Z"
#define SYSCALLS "# dltraced syscalls 1\nTIMESTAMP\tTIME\tPID\tCOMM\tCALL\tSPAN_NS\tCOUNT\tFAILED\tTIME_NS\tMAX_NS\n"

static struct report *loaded(const char *rows, const struct report_options *o)
{
	autofree char *text = util_fmt("%s%s", SYSCALLS, rows);
	struct report *r;

	tree_put("close.out",
		 "# dltraced close 1\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tFUNC\tLAT_NS\tRET\tFD\tLAST\tFID\tFILE\n");
	tree_put("syscalls.out", text);
	assert_int_equal(report_load(&r, tree, o), 0);
	return r;
}

static const struct report_options timed = { .timed = true };

static const struct report_syscalls_row *find(const struct table *in, uint64_t pid, const char *call)
{
	for (uint32_t i = 0; i < in->n; i++) {
		const struct report_syscalls_row *row = table_at(in, i);

		if (row->pid == pid && !strcmp(row->call, call))
			return row;
	}
	fail_msg("no row of %" PRIu64 ", %s", pid, call);
	return NULL;
}

static void expect(const struct report_syscalls_row *row, uint64_t count, uint64_t failed, uint64_t ns, uint64_t max_ns)
{
	assert_int_equal(row->count, count);
	assert_int_equal(row->failed, failed);
	assert_int_equal(row->ns, ns);
	assert_int_equal(row->max_ns, max_ns);
}

#define ROWS                                                                   \
	"1000000001000\t" TIME "\t7\tpython3\tread\t1000\t10\t1\t500\t90\n"    \
	"1000000001000\t" TIME "\t7\tpython3\tfutex\t1000\t2\t2\t9000\t8000\n" \
	"1000000002000\t" TIME "\t8\tworker\tread\t1000\t1\t0\t40\t40\n"       \
	"1000000003000\t" TIME "\t7\tpt_\\040main\tread\t1000\t5\t0\t100\t95\n"

static void intervals_and_processes_add_up(void **state)
{
	struct report *r = loaded(ROWS, &timed);

	assert_int_equal(r->syscalls->pairs.n, 3);
	assert_int_equal(r->syscalls->calls.n, 2);
	expect(find(&r->syscalls->pairs, 7, "read"), 15, 1, 600, 95);
	assert_string_equal(find(&r->syscalls->pairs, 7, "read")->comm, "pt_\\040main");
	expect(find(&r->syscalls->pairs, 7, "futex"), 2, 2, 9000, 8000);
	expect(find(&r->syscalls->pairs, 8, "read"), 1, 0, 40, 40);
	expect(find(&r->syscalls->calls, 0, "read"), 16, 1, 640, 95);
	assert_int_equal(find(&r->syscalls->calls, 0, "read")->processes, 2);
	expect(find(&r->syscalls->calls, 0, "futex"), 2, 2, 9000, 8000);
	assert_int_equal(find(&r->syscalls->calls, 0, "futex")->processes, 1);
	report_free(r);
}

static void a_part_has_its_intervals_alone(void **state)
{
	struct report *r =
		loaded(ROWS, &(struct report_options){ .timed = true, .window = { 1000000001500, 1000000002500 } });

	assert_int_equal(r->syscalls->pairs.n, 1);
	expect(find(&r->syscalls->pairs, 8, "read"), 1, 0, 40, 40);
	report_free(r);
}

static void the_text_has_the_longest_first(void **state)
{
	struct report *r = loaded(ROWS, &timed);
	char *text = NULL;
	const char *head, *futex, *read;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	report_text(r, out);
	fclose(out);
	head = strstr(text, "System calls, by process");
	assert_non_null(head);
	futex = strstr(head, "futex\n");
	read = strstr(head, "read\n");
	assert_true(futex && read && futex < read);
	assert_non_null(strstr(head, "100.0 %"));
	free(text);
	report_free(r);
}

static void without_the_probe_there_is_no_table(void **state)
{
	struct report *r;
	char *text = NULL;
	size_t len;
	FILE *out;

	tree_put("close.out",
		 "# dltraced close 1\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tFUNC\tLAT_NS\tRET\tFD\tLAST\tFID\tFILE\n");
	assert_int_equal(report_load(&r, tree, &timed), 0);
	out = open_memstream(&text, &len);
	report_text(r, out);
	fclose(out);
	assert_null(strstr(text, "System calls"));
	free(text);
	report_free(r);
}

/* The largest tables that the sums fit in: what has no room is one row, and nothing is lost. */
static void what_has_no_room_is_one_row(void **state)
{
	const uint32_t n = SYSCALLS_MAX + 10;
	struct report *r;
	uint64_t count = 0;
	char *rows = NULL;
	size_t len;
	FILE *out = open_memstream(&rows, &len);

	for (uint32_t i = 1; i <= n; i++)
		fprintf(out, "1000000001000\t-\t%u\tc\tread\t1\t1\t0\t3\t3\n", i);
	fclose(out);
	r = loaded(rows, &timed);
	free(rows);
	assert_int_equal(r->syscalls->pairs.n, SYSCALLS_MAX);
	for (uint32_t i = 0; i < r->syscalls->pairs.n; i++)
		count += ((struct report_syscalls_row *)table_at(&r->syscalls->pairs, i))->count;
	assert_int_equal(count, n);
	expect(find(&r->syscalls->pairs, 0, ""), 11, 0, 33, 3);
	expect(find(&r->syscalls->calls, 0, "read"), n, 0, 3ULL * n, 3);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(intervals_and_processes_add_up), IN_TREE(a_part_has_its_intervals_alone),
		IN_TREE(the_text_has_the_longest_first), IN_TREE(without_the_probe_there_is_no_table),
		IN_TREE(what_has_no_room_is_one_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
