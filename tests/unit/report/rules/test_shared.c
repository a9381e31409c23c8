/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that several processes use, and what is done again: see ../job.h for the traces. */
#include "report/rules/rules.h"

#include "../job.h"

/*
 * All of a file twice in an epoch, and a file for each epoch that is overwritten; from one epoch to the next it does
 * not count.
 */
static void what_is_read_and_written_again_in_an_epoch(void **state)
{
	struct report *r;

	put_job(0);
	for (unsigned int epoch = 0; epoch < 2; epoch++) {
		put(MARKS, step(10 * epoch), "100\tepoch_start");
		put(MARKS, step(10 * epoch + 9), "100\tepoch_stop");
		for (unsigned int i = 0; i < 64; i++) {
			const uint64_t at = step(10 * epoch) + (i + 1) * MS;

			put_rw(101, at, 1000, 'R', MiB, i % 32 * MiB, 0, 2);
			put_rw(100, at + 10, 1000, 'W', MiB, i % 48 * MiB, 0, 3);
		}
	}
	r = loaded_with(true);
	assert_int_equal(r->why->n_epochs, 2);
	expect_near(found(r, "redundant-reads")->measure, 0.5);
	expect_near(found(r, "redundant-writes")->measure, 0.25);
	report_free(r);
}

/* Loaders that read one file, one of them much more; in small pieces. */
static void what_several_share(void)
{
	put_job(0);
	for (unsigned int i = 0; i < 1000; i++) {
		put_rw(101, BEGIN + (i + 1) * MS, 10, 'R', 32768, i * 32768, 0, 2);
		if (i % 4 == 0)
			put_rw(102, BEGIN + (i + 1) * MS + 100, 10, 'R', 65536, i * 32768, 0, 2);
	}
}

static void files_of_their_own(void)
{
	put_job(0);
	put_file(4, "reg", "ext4", 64 * MiB, "/data/cold.tar");
	for (unsigned int i = 0; i < 1000; i++) {
		put_rw(101, BEGIN + (i + 1) * MS, 10, 'R', 32768, i * 32768, 0, 2);
		put_rw(102, BEGIN + (i + 1) * MS, 10, 'R', 16384, i * 32768, 0, 4);
	}
}

static void writes_that_jump(void)
{
	put_job(0);
	for (unsigned int i = 0; i < 2001; i++)
		put_rw(100, BEGIN + (i + 1) * MS, 10, 'W', 8192, i % 2 ? (i - 1) * 8192 + 8192 : i * 16384, 0, 3);
}

/* They do not make the writes jump. */
static void reads_between_writes(void)
{
	put_job(0);
	for (unsigned int i = 0; i < 2001; i++) {
		put_rw(100, BEGIN + (i + 1) * MS, 10, 'W', 8192, i * 8192, 0, 3);
		put_rw(100, BEGIN + (i + 1) * MS + 100, 10, 'R', 8192, (2001 - i) * 8192, 0, 3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(what_is_read_and_written_again_in_an_epoch),
		RULES(what_several_share,
		      FOUND("file-imbalance", 0.5,
			    "/data/shard.tar: process 101 read and wrote 31.2 MiB of it, process 102"),
		      FOUND("small-shared", 0.8), FOUND("read-often", 1)),
		RULES(writes_that_jump, FOUND("random-writes", NAN), FOUND("write-often", 1)),
		RULES(files_of_their_own, ABSENT("file-imbalance"), ABSENT("small-shared")),
		RULES(reads_between_writes, ABSENT("random-writes"), ABSENT("write-often"), FOUND("random-reads", 1)),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
