/* SPDX-License-Identifier: BSD-2-Clause */
/* Where reads and writes are in their files: see ../job.h for the traces. */
#include "report/why/files.h"

#include "../job.h"

/* Whole files, again in each epoch, in two reads: none jumps, though half of them could. */
static void reading_a_file_again_is_no_jump(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < 1200; i++) {
		put_rw(101, BEGIN + (i + 1) * MS, 10, 'R', 65536, 0, 0, 2);
		put_rw(101, BEGIN + (i + 1) * MS + 100, 10, 'R', 4096, 65536, 0, 2);
	}
	r = loaded();
	assert_null(found(r, "random-reads"));
	assert_int_equal(r->why->sums.placed, 1200);
	assert_int_equal(r->why->sums.sequential, 1200);
	report_free(r);
}

/* Small reads that find everything in the page cache do not count for the disk: of 800 that fetch, 200 are small. */
static void small_reads_count_where_they_fetch(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < 800; i++) {
		put_rw(101, BEGIN + (i + 1) * MS, 10, 'R', 512, i * MiB, 0, 2);
		put_rw(102, BEGIN + (i + 1) * MS, 10, 'R', i % 4 ? 65536 : 61440, i * MiB, i % 4 ? 65536 : 61440, 2);
	}
	r = loaded();
	assert_int_equal(r->why->sums.disk_reads, 800);
	assert_int_equal(r->why->sums.small_disk_reads, 200);
	assert_null(found(r, "small-reads"));
	report_free(r);
}

/* Two threads, each with its own descriptor and half; and a header that each epoch skips. */
static void reads_in_order_by_each_descriptor_do_not_jump(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < 1500; i++)
		for (unsigned int fd = 7; fd <= 8; fd++)
			put(RW, BEGIN + (i + 1) * MS + fd, "101\t%u\tx\tR\tread\t10\t4096\t4096\t%llu\t0\t%u\t-\t2\tf",
			    101 + fd, (fd - 7) * 32ULL * MiB + i * 4096ULL, fd);
	r = loaded();
	assert_int_equal(r->why->sums.placed, 2998);
	assert_null(found(r, "random-reads"));
	report_free(r);
	put_job(0);
	for (unsigned int i = 0; i < 1500; i++) {
		put_rw(101, BEGIN + (i + 1) * MS, 10, 'R', 65536, 512, 0, 2);
		put_rw(101, BEGIN + (i + 1) * MS + 100, 10, 'R', 4096, 65536 + 512, 0, 2);
	}
	r = loaded();
	assert_int_equal(r->why->sums.placed, 1500);
	assert_null(found(r, "random-reads"));
	report_free(r);
}

/* Two processes in turn, neither of which continues where it ended; and with O_APPEND, whatever the offset is. */
static void appending_is_no_jump(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < 3000; i++)
		put_rw(100 + i % 2, BEGIN + (i + 1) * MS, 10, 'W', 100, i * 100, 0, 3);
	r = loaded();
	assert_int_equal(r->why->sums.placed_writes, 2998);
	assert_null(found(r, "random-writes"));
	report_free(r);
	put_job(0);
	for (unsigned int i = 0; i < 3000; i++)
		put(RW, BEGIN + (i + 1) * MS, "100\t100\tx\tW\twrite\t10\t100\t100\t%u\t0\t5\tAPPEND\t3\tf",
		    7 * (i % 100));
	r = loaded();
	assert_null(found(r, "random-writes"));
	report_free(r);
}

/* tar | gzip > x: blocks through a pipe into a file, and lines for another process of the job. */
static void data_is_no_output(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < 2000; i++) {
		put(RW, BEGIN + (i + 1) * MS, "100\t100\tx\tW\twrite\t10\t10240\t10240\t-\t0\t1\t-\t1\tpipe:[1]");
		put(RW, BEGIN + (i + 1) * MS + 1, "101\t101\tx\tR\tread\t10\t10240\t4096\t-\t0\t0\t-\t1\tpipe:[1]");
		put(RW, BEGIN + (i + 1) * MS + 2, "100\t100\tx\tW\twrite\t10\t4096\t4096\t-\t0\t1\t-\t1\tpipe:[1]");
		put_rw(101, BEGIN + (i + 1) * MS + 3, 10, 'W', 32768, i * 32768ULL, 0, 3);
		put(RW, BEGIN + (i + 1) * MS + 4, "101\t101\tx\tW\twrite\t10\t4096\t4096\t%u\t0\t1\t-\t3\tf", i * 4096);
	}
	r = loaded();
	assert_null(found(r, "stdout-heavy"));
	assert_int_equal(r->why->sums.stdout_writes, 0);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(reading_a_file_again_is_no_jump),
		IN_TREE(reads_in_order_by_each_descriptor_do_not_jump),
		IN_TREE(small_reads_count_where_they_fetch),
		IN_TREE(appending_is_no_jump),
		IN_TREE(data_is_no_output),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
