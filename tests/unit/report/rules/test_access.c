/* SPDX-License-Identifier: BSD-2-Clause */
/* Sizes and order of reads: see ../job.h for the traces. */
#include "report/rules/rules.h"

#include "../job.h"

static void sizes_and_order_of_reads(void **state)
{
	struct report *r;

	put_job(0);
	put_reads(1000, 512, 100000, 4096, 2);
	r = loaded();
	expect_near(found(r, "tiny-reads")->measure, 1);
	expect_near(found(r, "small-reads")->measure, 1);
	expect_near(found(r, "random-reads")->measure, 1);
	assert_non_null(found(r, "misaligned"));
	assert_null(found(r, "no-readahead"));
	expect_near(r->why->epoch[0].sequential, 0);
	report_free(r);
}

static void fewer_than_many_do_not_matter(void)
{
	put_job(0);
	put_reads(400, 512, 100000, 4096, 2);
}

/* As large as the buffer, known by files.out, and shorter than it. */
static void small_files_read_whole_are_no_small_reads(void **state)
{
	struct report *r;

	put_job(0);
	put_file(4, "reg", "ext4", 1000, "/data/a.jpg");
	for (unsigned int i = 0; i < 1500; i++) {
		put_rw(101, BEGIN + (i + 1) * MS, 10, 'R', 1000, 0, 4096, 4);
		put(RW, BEGIN + (i + 1) * MS, "102\t102\tx\tR\tread\t10\t1001\t1000\t0\t4096\t5\t-\t2\tf");
	}
	r = loaded();
	assert_int_equal(r->why->sums.disk_reads, 3000);
	assert_null(found(r, "small-reads"));
	assert_null(found(r, "tiny-reads"));
	report_free(r);
}

/* The first of two reads of a file fetches all of it. */
static void small_files_in_two_reads(void)
{
	put_job(0);
	put_file(4, "reg", "ext4", 1000, "/data/a.jpg");
	for (unsigned int i = 0; i < 1500; i++) {
		put_rw(101, BEGIN + (i + 1) * MS, 10, 'R', 500, 0, 4096, 4);
		put_rw(101, BEGIN + (i + 1) * MS + 10, 10, 'R', 500, 500, 0, 4);
	}
}

static void small_parts_of_a_large_file(void)
{
	put_job(0);
	for (unsigned int i = 0; i < 1500; i++)
		put_rw(101, BEGIN + (i + 1) * MS, 10, 'R', 500, 9000ULL * i, 4096, 2);
}

/* Of reads of 8 KiB in order one in 16 fetches 128 KiB: the disk gets no small requests, and no read is wasted. */
static void read_ahead_makes_reads_large(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < 20000; i++)
		put_rw(101, BEGIN + (i + 1) * MS / 10, 10, 'R', 8192, i * 8192ULL, i % 16 ? 0 : 131072, 2);
	r = loaded();
	assert_int_equal(r->why->sums.disk_reads, 1250);
	assert_null(found(r, "small-reads"));
	assert_null(found(r, "no-readahead"));
	report_free(r);
}

/* Of reads of 64 KiB. */
static void every_second_read_fetches(void)
{
	put_job(0);
	for (unsigned int i = 0; i < 2000; i++)
		put_rw(101, BEGIN + (i + 1) * MS, 10, 'R', 65536, i * 65536ULL, i % 2 ? 0 : 131072, 2);
}

static void read_ahead_that_gains_nothing(void)
{
	put_job(0);
	put_reads(600, 32768, 32768, 32768, 2);
}

static void what_came_from_disk_again(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int again = 0; again < 2; again++)
		for (unsigned int i = 0; i < 64; i++)
			put_rw(101, BEGIN + (again * 64 + i + 1) * MS, 1000, 'R', MiB, i * MiB, MiB, 2);
	r = loaded();
	expect_near(found(r, "cache-too-small")->measure, 0.5);
	assert_int_equal(r->why->sums.again_bytes, 64 * MiB);
	assert_null(found(r, "redundant-reads")); /* no epochs are known */
	assert_non_null(found(r, "read-intensive"));
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(sizes_and_order_of_reads),
		RULES(fewer_than_many_do_not_matter, ABSENT("tiny-reads"), ABSENT("small-reads"),
		      ABSENT("random-reads")),
		IN_TREE(read_ahead_makes_reads_large),
		IN_TREE(small_files_read_whole_are_no_small_reads),
		RULES(read_ahead_that_gains_nothing, FOUND("no-readahead", 1), ABSENT("random-reads"),
		      ABSENT("tiny-reads"), ABSENT("misaligned")),
		IN_TREE(what_came_from_disk_again),
		RULES(small_files_in_two_reads, ABSENT("small-reads"), FOUND("tiny-reads", 1)),
		RULES(small_parts_of_a_large_file, FOUND("small-reads", 1)),
		RULES(every_second_read_fetches, ABSENT("no-readahead")),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
