/* SPDX-License-Identifier: BSD-2-Clause */
/* drain/archiver.c on files that sinks have closed, without a trace around them. */
#include "drain/archiver.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util.h"
#include "tree.h"

#define MINUTE "2026-11-21T01:02"

static struct archiver k;
static struct sink x, files, marks;
static struct sink_split split = { .closed = archiver_closed, .ctx = &k };
static int dir;
static uint64_t time_ns;

static void open_one(struct sink *s, const char *name, bool reference)
{
	static const char title[] = "# dltraced x 1\n", columns[] = "TIMESTAMP\tTIME\tPID\tCOMM\tLAT_NS\tRET\n";

	assert_int_equal(sink_open(s, dir, name), 0);
	sink_split_by(s, &split);
	sink_header(s, title, sizeof(title) - 1);
	sink_header(s, columns, sizeof(columns) - 1);
	archiver_add(&k, s, reference);
}

static void begin(enum pack pack, uint64_t keep_bytes)
{
	const struct archiver_options o = { .pack = pack, .keep_bytes = keep_bytes };

	time_ns = 0;
	dir = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(dir >= 0);
	assert_int_equal(archiver_init(&k, &o, dir), 0);
	open_one(&x, "x.out", false);
	open_one(&files, "files.out", true);
	open_one(&marks, "marks.out", true);
}

/* Puts N rows into a segment of their own. */
static void put_segment(struct sink *s, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		char *p = sink_begin(s);

		time_ns++;
		sink_commit(s,
			    p + sprintf(p, "%llu\t" MINUTE ":03.%09lluZ\t100\tsh\t5\t0\n", (unsigned long long)time_ns,
					(unsigned long long)time_ns),
			    time_ns);
	}
	sink_split_now(s);
}

static uint64_t end(void)
{
	uint64_t left;

	sink_end(&x);
	sink_end(&files);
	left = archiver_finish(&k);
	return left;
}

static int close_all(void **state)
{
	archiver_free(&k);
	sink_close(&x);
	sink_close(&files);
	sink_close(&marks);
	close(dir);
	return tree_remove(state);
}

static bool is_there(const char *name)
{
	return faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static uint64_t rows_in(const char *file)
{
	struct reader_row row;
	struct reader r;
	uint64_t rows;

	assert_int_equal(reader_open(&r, dir, file), 0);
	while (reader_next(&r, &row) > 0)
		;
	assert_int_equal(r.bad_rows + r.missing + r.bad + r.damaged + r.cut, 0);
	rows = r.rows;
	reader_close(&r);
	return rows;
}

/* Returns the sum of column ROWS. */
static uint64_t rows_summed(void)
{
	struct reader_row row;
	struct reader r;
	uint64_t sum = 0, n;

	assert_int_equal(reader_open(&r, dir, "rollup.out"), 0);
	while (reader_next(&r, &row) > 0) {
		assert_true(reader_u64(reader_field(&row, reader_column(&r, "ROWS")), &n));
		sum += n;
	}
	reader_close(&r);
	return sum;
}

static void count(void *ctx, const struct archiver_segment *s)
{
	uint64_t *sums = ctx;

	sums[0]++;
	sums[1] += s->seg.rows;
	sums[2] += s->seg.bytes;
	sums[3] += s->stored_bytes;
}

static void packs_all_and_the_last_one_too(void **state)
{
	uint64_t sums[4] = { 0 };

	begin(PACK_GZIP, 0);
	put_segment(&x, 1000);
	put_segment(&files, 10);
	assert_int_equal(archiver_start(&k), 0);
	put_segment(&x, 2000);
	assert_int_equal(end(), 0);
	assert_true(is_there("x.000001.out.gz") && is_there("x.000002.out.gz") && is_there("x.out.gz"));
	assert_false(is_there("x.000001.out") || is_there("x.000002.out") || is_there("x.out"));
	assert_false(is_there("x.000001.out.gz.tmp"));
	assert_int_equal(rows_in("x.out"), 3000);
	assert_int_equal(rows_in("files.out"), 10);
	archiver_each(&k, count, sums);
	assert_int_equal(sums[0], 5);
	assert_int_equal(sums[1], 3010);
	assert_int_equal(sums[2], x.bytes + files.bytes);
	assert_int_equal(sums[3], k.packed_bytes);
	assert_true(sums[3] < sums[2]);
}

static void drops_the_oldest_and_sums_them_up(void **state)
{
	uint64_t sums[4] = { 0 };

	begin(PACK_NONE, 100000);
	for (int i = 0; i < 10; i++) {
		put_segment(&x, 500); /* of 50 bytes */
		put_segment(&files, 2);
	}
	assert_int_equal(archiver_start(&k), 0);
	assert_int_equal(end(), 0);
	assert_false(is_there("x.000001.out"));
	assert_true(is_there("x.000010.out"));
	assert_true(archiver_file(&k, &x)->dropped_rows > 0);
	assert_int_equal(rows_in("x.out") + archiver_file(&k, &x)->dropped_rows, 5000);
	assert_int_equal(rows_summed(), archiver_file(&k, &x)->dropped_rows);
	/* files that other rows need stay, though they are older */
	assert_int_equal(archiver_file(&k, &files)->dropped_rows, 0);
	assert_int_equal(rows_in("files.out"), 20);
	assert_int_equal(k.not_summed, 0);
	archiver_each(&k, count, sums);
	assert_true(sums[3] <= 100000);
	assert_int_equal(sums[2] + archiver_file(&k, &x)->dropped_bytes, x.bytes + files.bytes);
}

/* The largest of these files loses its oldest segment; all rows of others are dropped before. */
static void drops_reference_files_only_where_they_alone_are_too_large(void **state)
{
	uint64_t sums[4] = { 0 };

	begin(PACK_NONE, 100000);
	put_segment(&marks, 5);
	for (int i = 0; i < 10; i++) {
		put_segment(&files, 500);
		put_segment(&x, 500);
	}
	assert_int_equal(archiver_start(&k), 0);
	assert_int_equal(end(), 0);
	assert_int_equal(archiver_file(&k, &x)->dropped_rows, 5000);
	assert_int_equal(archiver_file(&k, &marks)->dropped_rows, 0);
	assert_int_equal(rows_in("marks.out"), 5);
	assert_false(is_there("files.000001.out"));
	assert_true(is_there("files.000010.out"));
	assert_int_equal(rows_in("files.out") + archiver_file(&k, &files)->dropped_rows, 5000);
	archiver_each(&k, count, sums);
	assert_true(sums[2] <= 100000 && sums[2] > 60000);
}

static void requests_a_split_where_nothing_can_be_dropped(void **state)
{
	begin(PACK_NONE, 1000);
	for (int i = 0; i < 100; i++) {
		char *p = sink_begin(&x);

		sink_commit(&x, p + sprintf(p, "%d\t" MINUTE ":03.000000000Z\t1\tsh\t5\t0\n", i), (uint64_t)i);
	}
	sink_flush(&x);
	assert_int_equal(archiver_start(&k), 0);
	for (int i = 0; i < 6000 && !archiver_wants_split(&k); i++)
		usleep(1000);
	sink_split_now(&x);
	for (int i = 0; i < 6000 && !__atomic_load_n(&k.dropped, __ATOMIC_RELAXED); i++)
		usleep(1000);
	assert_int_equal(end(), 0);
	assert_int_equal(archiver_file(&k, &x)->dropped_rows, 100);
	assert_int_equal(rows_summed(), 100);
}

/* The folder belongs to the user: a file that replaced a segment is neither read nor trusted. */
static void does_not_follow_a_link_in_place_of_a_segment(void **state)
{
	begin(PACK_GZIP, 0);
	put_segment(&x, 10);
	put_segment(&x, 10);
	put_segment(&x, 10);
	tree_put("secret", "of somebody else\n");
	assert_int_equal(unlinkat(dir, "x.000001.out", 0), 0);
	assert_int_equal(symlinkat("secret", dir, "x.000001.out"), 0);
	assert_int_equal(unlinkat(dir, "x.000002.out", 0), 0);
	assert_int_equal(linkat(dir, "secret", dir, "x.000002.out", 0), 0);
	assert_int_equal(archiver_start(&k), 0);
	assert_int_equal(end(), 0);
	assert_false(is_there("x.000001.out.gz") || is_there("x.000002.out.gz"));
	assert_true(is_there("x.000003.out.gz") && is_there("secret"));
}

/* Nor when another process holds the temporary name. That the next segment can be packed does not suppress the message.
 */
static void what_cannot_be_packed_stays_plain(void **state)
{
	begin(PACK_GZIP, 0);
	put_segment(&x, 10);
	put_segment(&x, 10);
	assert_int_equal(mkdirat(dir, "x.000001.out.gz.tmp", 0700), 0);
	assert_int_equal(archiver_start(&k), 0);
	assert_int_equal(end(), 1);
	assert_int_equal(k.error, -EISDIR);
	assert_true(is_there("x.000001.out") && is_there("x.000002.out.gz"));
	assert_false(is_there("x.000001.out.gz"));
	assert_int_equal(rows_in("x.out"), 20);
	assert_int_equal(unlinkat(dir, "x.000001.out.gz.tmp", AT_REMOVEDIR), 0);
}

/* A segment that could not get its name stays the plain file, whose rows are summed up when it is dropped. */
static void segments_packed_in_vain_are_dropped_plain(void **state)
{
	begin(PACK_GZIP, 40000);
	put_segment(&x, 500); /* of 50 bytes */
	assert_int_equal(mkdirat(dir, "x.000001.out.gz", 0700), 0);
	assert_int_equal(archiver_start(&k), 0);
	for (int i = 0; i < 6000 && !__atomic_load_n(&k.error, __ATOMIC_RELAXED); i++)
		usleep(1000);
	assert_int_equal(__atomic_load_n(&k.error, __ATOMIC_RELAXED), -EISDIR);
	put_segment(&x, 500);
	for (int i = 0; i < 6000 && !__atomic_load_n(&k.dropped, __ATOMIC_RELAXED); i++)
		usleep(1000);
	assert_int_equal(end(), 0);
	assert_int_equal(k.not_summed, 0);
	assert_int_equal(archiver_file(&k, &x)->dropped_rows, 500);
	assert_int_equal(rows_summed(), 500);
	assert_int_equal(unlinkat(dir, "x.000001.out.gz", AT_REMOVEDIR), 0);
}

static void a_stop_leaves_the_rest_plain(void **state)
{
	uint64_t left;

	begin(PACK_GZIP, 0);
	for (int i = 0; i < 5; i++)
		put_segment(&x, 20000);
	sink_end(&x);
	sink_end(&files);
	assert_int_equal(archiver_start(&k), 0);
	archiver_hurry(&k); /* a signal */
	left = archiver_finish(&k);
	assert_true(left <= 7);
	assert_int_equal(rows_in("x.out"), 100000);
}

#define KEEPER(test) cmocka_unit_test_setup_teardown(test, tree_make, close_all)

int main(void)
{
	const struct CMUnitTest tests[] = {
		KEEPER(drops_reference_files_only_where_they_alone_are_too_large),
		KEEPER(requests_a_split_where_nothing_can_be_dropped),
		KEEPER(does_not_follow_a_link_in_place_of_a_segment),
		KEEPER(drops_the_oldest_and_sums_them_up),
		KEEPER(packs_all_and_the_last_one_too),
		KEEPER(a_stop_leaves_the_rest_plain),
		KEEPER(what_cannot_be_packed_stays_plain),
		KEEPER(segments_packed_in_vain_are_dropped_plain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
