/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/scan/clip.h"

#include <inttypes.h>

#include "report/scan/scan.h"
#include "tree.h"

#define HEAD "# dltraced sched 1\nTIMESTAMP\tPID\tSPAN_NS\tRUN_NS\tSLEEP_NS\tCOUNT\n"

struct sums {
	uint64_t run_ns, sleep_ns, count, rows, first_ns, last_ns, clipped;
};

static bool add(struct scan *s, void *own)
{
	struct sums *sums = own;

	sums->run_ns += scan_number(s, COL_RUN_NS);
	sums->sleep_ns += scan_number(s, COL_SLEEP_NS);
	sums->count += scan_clipped(s, scan_number(s, COL_COUNT));
	sums->clipped += scan_is_clipped(s);
	sums->first_ns = sums->rows++ ? sums->first_ns : s->time_ns - scan_number(s, COL_SPAN_NS);
	sums->last_ns = s->time_ns;
	return true;
}

static struct sums sums_of(const char *name, uint64_t begin_ns, uint64_t end_ns)
{
	struct sums sums = { 0 };
	struct scan_taker taker = { .take = add, .own = &sums };
	autoclose int dirfd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct scan_folder *folder = scan_folder_new(dirfd);

	folder->window = folder->part = (struct window){ begin_ns, end_ns };
	assert_int_equal(scan_walk(folder, name, &taker)->error, 0);
	scan_folder_free(folder);
	return sums;
}

/* Rows that begin before the part, end behind it, both, and the last one's wait is longer than its interval. */
static void put_rows(void)
{
	tree_put("sched.out", HEAD "100\t1\t100\t60\t-\t7\n"
				   "200\t1\t100\t100\t-\t1\n"
				   "300\t1\t100\t31\t-\t3\n"
				   "400\t1\t100\t-\t350\t2\n");
}

static void a_row_counts_by_its_piece(void **state)
{
	struct sums sums;

	put_rows();
	sums = sums_of("sched", 150, 250);
	assert_int_equal(sums.run_ns, 50 + 15);
	assert_int_equal(sums.sleep_ns, 100);
	assert_int_equal(sums.rows, 3);
	assert_int_equal(sums.clipped, 3);
	assert_int_equal(sums.first_ns, 150);
	assert_int_equal(sums.last_ns, 250);
	/* a row that ends where the part begins, or begins where it ends, has none */
	sums = sums_of("sched", 100, 200);
	assert_int_equal(sums.run_ns, 100);
	assert_int_equal(sums.rows, 2);
	assert_int_equal(sums.clipped, 1);
	/* one of whose sums not a nanosecond is in it neither */
	assert_int_equal(sums_of("sched", 100, 201).rows, 2);
}

static void parts_add_up_to_the_whole(void **state)
{
	struct sums whole;

	put_rows();
	whole = sums_of("sched", 0, UINT64_MAX);

	assert_int_equal(whole.run_ns, 191);
	assert_int_equal(whole.clipped, 0);
	for (uint64_t each = 7; each < 400; each += 13) {
		struct sums all = { 0 };

		for (uint64_t begin = 0; begin <= 400; begin += each) {
			const struct sums part = sums_of("sched", begin, begin + each);

			assert_true(part.run_ns <= each && part.sleep_ns <= each);
			all.run_ns += part.run_ns;
			all.sleep_ns += part.sleep_ns;
			all.count += part.count;
		}
		assert_int_equal(all.run_ns, whole.run_ns);
		assert_int_equal(all.sleep_ns, whole.sleep_ns);
		assert_in_range(all.count, whole.count - 4, whole.count); /* of a row without time, none is in a part */
	}
}

/* More rows than are read at once, of which few are in the part: the numbers stay with their rows. */
static void rows_stay_whole_where_others_are_left_out(void **state)
{
	autofree char *text = malloc(128 * 64);
	size_t n = (size_t)sprintf(text, HEAD);
	struct sums sums;

	for (uint64_t i = 1; i <= 100; i++)
		n += (size_t)sprintf(text + n, "%" PRIu64 "\t1\t10\t%" PRIu64 "\t-\t1\n", i % 2 ? i * 10 : i,
				     i % 2 ? i % 10 : 0);
	tree_put("sched.out", text);
	sums = sums_of("sched", 500, 600);
	assert_int_equal(sums.run_ns, 1 + 3 + 5 + 7 + 9);
	assert_int_equal(sums.rows, 5);
}

/* Rows of other files are of a moment, and a whole trace's of all their time. */
static void nothing_else_is_clipped(void **state)
{
	struct sums sums;

	put_rows();
	tree_put("other.out", "# dltraced other 1\nTIMESTAMP\tPID\tSPAN_NS\tRUN_NS\tSLEEP_NS\tCOUNT\n"
			      "200\t1\t100\t100\t-\t1\n"
			      "300\t1\t100\t31\t-\t3\n");
	sums = sums_of("other", 150, 250);
	assert_int_equal(sums.run_ns, 100);
	assert_int_equal(sums.clipped, 0);
	sums = sums_of("sched", 0, 0);
	assert_int_equal(sums.run_ns, 191);
	assert_int_equal(sums.count, 13);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(a_row_counts_by_its_piece),
		IN_TREE(parts_add_up_to_the_whole),
		IN_TREE(rows_stay_whole_where_others_are_left_out),
		IN_TREE(nothing_else_is_clipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
