/* SPDX-License-Identifier: BSD-2-Clause */
/* A file that is written and split off while it is read: each row once, or those of its end. */
#include "report/scan/follow.h"

#include <unistd.h>

#include "tree.h"

#define ALL UINT64_MAX

static struct scan_follow f;
static int dirfd = -1;

static int begin(void **state)
{
	int res = tree_make(state);

	dirfd = res == 0 ? open(tree, O_RDONLY | O_DIRECTORY) : -1;
	return dirfd < 0 ? -1 : 0;
}

static int end(void **state)
{
	scan_follow_close(&f);
	util_close(&dirfd);
	return tree_remove(state);
}

static void append(const char *text)
{
	autofree char *path = tree_path("x.out");
	FILE *out = fopen(path, "a");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

/* Rows of the times FROM to TO, of 20 bytes each. */
static void rows(unsigned int from, unsigned int to)
{
	for (unsigned int i = from; i <= to; i++) {
		char row[32];

		snprintf(row, sizeof(row), "%09u\t%09u\n", i, i);
		append(row);
	}
}

/* A new file, after the one before was split off as number NR; 0: there is none yet. */
static void split(unsigned int nr)
{
	autofree char *from = tree_path("x.out"), *name = util_fmt("x.%06u.out", nr), *to = tree_path(name);
	autofree char *header = util_fmt("# dltraced x 1 segment=%u\nTIMESTAMP\tTID\n", nr + 1);

	if (nr)
		assert_int_equal(rename(from, to), 0);
	append(header);
}

/* The times of the rows that were taken. */
static struct {
	uint64_t first, last;
	unsigned int n;
	bool gap;
} taken;

static bool take(struct scan *s, void *own)
{
	taken.gap |= taken.n && s->time_ns != taken.last + 1;
	taken.first = taken.n++ ? taken.first : s->time_ns;
	taken.last = s->time_ns;
	return scan_number(s, COL_TID) == s->time_ns;
}

static void expect(unsigned int from, unsigned int to)
{
	assert_false(taken.gap);
	assert_int_equal(taken.n, to >= from ? to - from + 1 : 0);
	if (taken.n)
		assert_int_equal(taken.first, from);
	taken.n = 0;
}

static int whole(uint64_t bytes)
{
	struct scan_taker taker = { .take = take };
	const int res = scan_follow_take(&f, &taker, bytes);

	assert_int_equal(taker.bad_rows, 0);
	return res;
}

static int last(uint64_t bytes, uint64_t keep_ns)
{
	struct scan_taker taker = { .take = take };
	int res = scan_follow_look(&f);

	if (res == 0)
		res = scan_follow_end(&f, &taker, bytes, keep_ns);
	assert_int_equal(taker.bad_rows, 0);
	return res;
}

static void each_row_comes_once(void **state)
{
	split(0);
	rows(1, 5);
	assert_int_equal(scan_follow_open(&f, dirfd, "x", true), 0);
	assert_int_equal(whole(ALL), 0);
	expect(1, 5);
	assert_int_equal(whole(ALL), 0);
	expect(1, 0);
	/* the begin of a row, and its end */
	append("0000");
	assert_int_equal(whole(ALL), 0);
	expect(1, 0);
	append("00006\t6\n");
	assert_int_equal(whole(ALL), 0);
	expect(6, 6);
}

static void segments_follow_each_other(void **state)
{
	split(0);
	rows(1, 5);
	split(1);
	rows(6, 10);
	assert_int_equal(scan_follow_open(&f, dirfd, "x", true), 0);
	rows(11, 12);
	split(2);
	rows(13, 14);
	assert_int_equal(whole(ALL), 0);
	expect(1, 14);
	rows(15, 15);
	split(3);
	assert_int_equal(whole(ALL), 0);
	expect(15, 15);
	/* two at once: one was missed */
	split(4);
	rows(16, 16);
	split(5);
	assert_int_equal(whole(ALL), -ESTALE);
}

static void a_large_file_takes_several_turns(void **state)
{
	unsigned int turns = 0;

	split(0);
	rows(1, 30000);
	assert_int_equal(scan_follow_open(&f, dirfd, "x", true), 0);
	while (whole(100000) == 1)
		turns++;
	expect(1, 30000);
	assert_in_range(turns, 2, 6);
}

static void the_end_is_read_anew(void **state)
{
	split(0);
	rows(1, 1000);
	assert_int_equal(scan_follow_open(&f, dirfd, "x", false), 0);
	assert_int_equal(last(ALL, 0), 0);
	expect(1, 1000);
	assert_int_equal(last(ALL, 991), 0);
	expect(991, 1000);
	rows(1001, 1001);
	assert_int_equal(last(ALL, 991), 0);
	expect(991, 1001);
	/* none is wanted; nor is what was passed over then */
	assert_int_equal(last(ALL, 5000), 0);
	expect(1, 0);
	assert_int_equal(last(ALL, 0), 0);
	expect(1001, 1001);
	assert_int_equal(f.from_ns, 0);
}

static void rows_beyond_the_bytes_are_left_out(void **state)
{
	split(0);
	rows(1, 1000);
	assert_int_equal(scan_follow_open(&f, dirfd, "x", false), 0);
	/* five rows, and a part of one more */
	assert_int_equal(last(110, 0), 0);
	expect(996, 1000);
	assert_int_equal(f.from_ns, 996);
	rows(1001, 1002);
	assert_int_equal(last(ALL, 0), 0);
	expect(996, 1002);
	assert_int_equal(last(ALL, 1001), 0);
	expect(1001, 1002);
	assert_int_equal(f.from_ns, 996);
}

static void a_new_file_is_what_is_left_of_the_end(void **state)
{
	split(0);
	rows(1, 10);
	assert_int_equal(scan_follow_open(&f, dirfd, "x", false), 0);
	assert_int_equal(last(ALL, 0), 0);
	expect(1, 10);
	assert_int_equal(f.from_ns, 0);
	split(1);
	rows(11, 12);
	assert_int_equal(last(ALL, 0), 0);
	expect(11, 12);
	assert_int_equal(f.from_ns, 11);
	split(2);
	assert_int_equal(last(ALL, 0), 0);
	expect(1, 0);
	assert_int_equal(f.from_ns, UINT64_MAX);
	scan_follow_close(&f);
	/* likewise of one that looks only now */
	rows(13, 13);
	assert_int_equal(scan_follow_open(&f, dirfd, "x", false), 0);
	assert_int_equal(last(ALL, 0), 0);
	expect(13, 13);
	assert_int_equal(f.from_ns, 13);
}

/* Its header comes later. */
static void a_file_that_has_just_begun_is_waited_for(void **state)
{
	for (unsigned int all = 0; all < 2; all++) {
		autofree char *from = tree_path("x.out"), *to = tree_path("x.000001.out");

		split(0);
		rows(1, 3);
		assert_int_equal(scan_follow_open(&f, dirfd, "x", all), 0);
		assert_int_equal(all ? whole(ALL) : last(ALL, 0), 0);
		expect(1, 3);
		assert_int_equal(rename(from, to), 0);
		append("");
		for (unsigned int i = 0; i < 2; i++)
			assert_int_equal(all ? whole(ALL) : last(ALL, 0), -EAGAIN);
		append("# dltraced x 1 segment=2\nTIMESTAMP\tTID\n");
		rows(4, 5);
		assert_int_equal(all ? whole(ALL) : last(ALL, 0), 0);
		expect(4, 5);
		scan_follow_close(&f);
		unlink(from);
		unlink(to);
	}
}

static void what_is_not_there_is_not_opened(void **state)
{
	assert_int_equal(scan_follow_open(&f, dirfd, "x", true), -ENOENT);
	assert_int_equal(scan_follow_open(&f, dirfd, "x", false), -ENOENT);
	append("# dltraced x 1\n");
	assert_true(scan_follow_open(&f, dirfd, "x", false) < 0);
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIR(a_file_that_has_just_begun_is_waited_for),
		IN_DIR(a_large_file_takes_several_turns),
		IN_DIR(a_new_file_is_what_is_left_of_the_end),
		IN_DIR(each_row_comes_once),
		IN_DIR(rows_beyond_the_bytes_are_left_out),
		IN_DIR(segments_follow_each_other),
		IN_DIR(the_end_is_read_anew),
		IN_DIR(what_is_not_there_is_not_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
