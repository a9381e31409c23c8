/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/scan/scan.h"

#include <stdlib.h>
#include <unistd.h>

#include "report/scan/clocks.h"
#include "tree.h"

#define HEAD "# dltraced sched 1\nTIMESTAMP\tPID\tRUN_NS\n"

/* The sum of RUN_NS; a row without one is bad. */
static bool add_run(struct scan *s, void *own)
{
	uint64_t run_ns, *sum = own;

	if (!scan_u64(s, COL_RUN_NS, &run_ns))
		return false;
	*sum += run_ns;
	return true;
}

static struct scan_folder *open_tree(int *dirfd)
{
	*dirfd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return scan_folder_new(*dirfd);
}

static void a_file_is_opened_once_and_walked_as_often_as_need_be(void **state)
{
	struct scan_folder *folder;
	struct scan s = { .row = 0 };
	autoclose int dirfd = -1;
	uint64_t sum = 0, offset;

	tree_put("sched.000001.out", HEAD "1\t7\t100\n2\t7\t20\n");
	tree_put("sched.out", HEAD "3\t7\t3\n");
	folder = open_tree(&dirfd);
	for (unsigned int i = 1; i <= 3; i++) {
		struct scan_taker taker = { .take = add_run, .own = &sum };

		assert_int_equal(scan_walk(folder, "sched", &taker)->error, 0);
		assert_int_equal(sum, 123 * i);
		assert_int_equal(taker.bad_rows, 0);
	}
	assert_int_equal(folder->n, 1);
	/* the removed file was already open */
	assert_int_equal(unlinkat(dirfd, "sched.out", 0), 0);
	assert_int_equal(scan_begin(&s, folder, "sched"), 0);
	assert_int_equal(scan_next(&s), 1);
	assert_int_equal(scan_next(&s), 1);
	offset = s.ahead[s.row].offset;
	assert_int_equal(scan_next(&s), 1);
	assert_int_equal(s.time_ns, 3);
	assert_int_equal(scan_next(&s), 0);
	assert_int_equal(scan_seek(&s, folder, "sched", offset), 0);
	assert_int_equal(scan_number(&s, COL_PID), 7);
	assert_int_equal(scan_number(&s, COL_RUN_NS), 20);
	assert_int_equal(scan_number(&s, COL_TID), 0); /* no such column */
	scan_folder_free(folder);
}

static void rows_that_cannot_be_taken_are_counted(void **state)
{
	struct scan_folder *folder;
	autoclose int dirfd = -1;
	uint64_t sum = 0;
	struct scan_taker taker = { .take = add_run, .own = &sum };

	tree_put("sched.out", HEAD "1\t7\t100\n-\t7\t20\n3\t7\t-\n");
	folder = open_tree(&dirfd);
	assert_int_equal(scan_walk(folder, "sched", &taker)->error, 0);
	assert_int_equal(sum, 100);
	assert_int_equal(taker.bad_rows, 2);
	assert_int_equal(scan_walk(folder, "sched_switch", &taker)->error, -ENOENT);
	assert_int_equal(taker.bad_rows, 2);
	scan_folder_free(folder);
}

/* Of times and bytes that no kernel counts to; so sums and differences of those that are read never overflow. */
static void rows_with_impossible_numbers_are_damaged(void **state)
{
	struct scan_folder *folder;
	autoclose int dirfd = -1;
	uint64_t sum = 0;
	struct scan_taker taker = { .take = add_run, .own = &sum };

	tree_put("sched.out",
		 HEAD "1\t7\t100\n18446744073709551615\t7\t20\n3\t7\t4611686018427387904\n4\t7\t4611686018427387903\n");
	folder = open_tree(&dirfd);
	assert_int_equal(scan_walk(folder, "sched", &taker)->error, 0);
	assert_int_equal(sum, 4611686018427387903 + 100);
	assert_int_equal(taker.bad_rows, 2);
	scan_folder_free(folder);
}

/* Set by 50 s, asleep for 10 s, for a while without a row. */
static void one_reading_of_clocks_is_for_phases_and_gaps(void **state)
{
	struct scan_clocks *c = calloc(1, sizeof(*c));
	struct scan_taker taker = { .take = scan_clocks_take, .own = c };
	struct scan_folder *folder;
	autoclose int dirfd = -1;

	tree_put("time_align.out", "# dltraced time_align 1\nTIMESTAMP\tREALTIME_NS\tBOOTTIME_NS\tEVENT\n"
				   "1000000000\t5000000000\t1000000000\tstart\n"
				   "2000000000\t56000000000\t2000000000\tstep\n"
				   "3000000000\t67000000000\t13000000000\tsample\n"
				   "9000000000\t73000000000\t19000000000\tsample\n"
				   "10000000000\t-\t20000000000\tsample\n");
	folder = open_tree(&dirfd);
	assert_int_equal(scan_walk(folder, "time_align", &taker)->error, 0);
	assert_int_equal(taker.bad_rows, 1);
	assert_int_equal(c->gaps.n, 3);
	assert_int_equal(c->gaps.v[0].kind, GAP_STEP);
	assert_int_equal(c->gaps.v[0].ns, 50000000000);
	assert_int_equal(c->gaps.v[1].kind, GAP_SUSPEND);
	assert_int_equal(c->gaps.v[1].ns, 10000000000);
	assert_int_equal(c->gaps.v[2].kind, GAP_STALLED);
	assert_int_equal(c->gaps.v[2].begin_ns, 3000000000);
	assert_int_equal(c->phases.begin_ns, 1000000000);
	assert_int_equal(c->phases.wall.n, 3);
	scan_folder_free(folder);
	scan_clocks_free(c);
}

static void a_sentence_is_there_once(void **state)
{
	unsigned int n = 0;
	char *v[2];
	const struct notes notes = { v, &n, ARRAY_SIZE(v) };

	for (unsigned int i = 0; i < 4; i++)
		notes_add(&notes, "note %u", i / 2);
	notes_add(&notes, "no room");
	assert_int_equal(n, 2);
	assert_string_equal(v[0], "note 0");
	assert_string_equal(v[1], "note 1");
	free(v[0]);
	free(v[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(a_file_is_opened_once_and_walked_as_often_as_need_be),
		IN_TREE(rows_that_cannot_be_taken_are_counted),
		IN_TREE(rows_with_impossible_numbers_are_damaged),
		IN_TREE(one_reading_of_clocks_is_for_phases_and_gaps),
		cmocka_unit_test(a_sentence_is_there_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
