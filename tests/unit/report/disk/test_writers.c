/* SPDX-License-Identifier: BSD-2-Clause */
/* The last writer of each byte, against an array with the writer of each byte. */
#include "report/disk/writers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"

#define MiB (UINT64_C(1) << 20)

/* --- two models of one file ------------------------------------------------------------------------------- */

static struct {
	struct writers w;
	uint8_t byte[3 * MiB]; /* the PID that wrote it */
	uint64_t at;
} both;

static int begin(void **state)
{
	(void)state;
	memset(&both, 0, sizeof(both));
	writers_init(&both.w);
	return 0;
}

static int end(void **state)
{
	(void)state;
	writers_free(&both.w);
	return 0;
}

static void writes(uint64_t off, uint64_t len, uint32_t pid)
{
	writers_write(&both.w, 1, off, len, pid);
	memset(both.byte + off, (int)pid, len);
}

static void compare(void *ctx, uint64_t len, uint32_t pid)
{
	(void)ctx;
	assert_true(len > 0);
	for (uint64_t i = 0; i < len; i++)
		if (both.byte[both.at + i] != pid)
			fail_msg("byte %llu: %u wrote it, not %u", (unsigned long long)(both.at + i),
				 both.byte[both.at + i], pid);
	both.at += len;
}

static void takes(uint64_t off, uint64_t len)
{
	both.at = off;
	writers_take(&both.w, 1, off, len, compare, NULL);
	assert_int_equal(both.at, off + len);
	memset(both.byte + off, 0, len);
}

/* --- tests ---------------------------------------------------------------------------------------------------- */

static void pages_in_turn_have_their_own_writers(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 512; i++)
		writes(i * 4096, 4096, 1 + (uint32_t)(i % 2));
	takes(0, 3 * MiB);
	takes(0, 3 * MiB);
}

static void the_last_writer_counts(void **state)
{
	(void)state;
	writes(0, MiB, 1);
	writes(MiB / 2, MiB, 2);
	writes(MiB / 4, MiB / 8, 3);
	takes(1000, 2 * MiB);
	takes(0, 1000);
}

static void a_page_may_have_many_writers(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 3000; i++)
		writes(i * 1000, 1000, 1 + (uint32_t)(i % 2));
	for (uint64_t i = 0; i < 3 * MiB / 4096; i++)
		takes(i * 4096, 4096);
}

static void writes_and_write_backs_at_random_agree(void **state)
{
	uint32_t dice = 1;

	(void)state;
	for (uint32_t i = 0; i < 20000; i++) {
		const uint64_t off = (dice = dice * 1664525 + 1013904223) >> 4;
		const uint64_t len = 1 + ((dice = dice * 1664525 + 1013904223) >> 8) % (i % 16 ? 5000 : MiB);
		const uint64_t at = off % (3 * MiB - len);

		if (i % 5)
			writes(at, len, 1 + i % 7);
		else
			takes(at, len);
	}
	takes(0, 3 * MiB);
	assert_int_equal(both.w.left_out, 0);
	assert_int_equal(both.w.bytes, 0); /* nothing is dirty any more */
}

static void count(void *ctx, uint64_t len, uint32_t pid)
{
	((uint64_t *)ctx)[pid != 0] += len;
}

static void files_are_apart_and_keys_are_bounded(void **state)
{
	uint64_t sum[2] = { 0 };

	(void)state;
	writers_write(&both.w, 1, 0, 4096, 1);
	writers_write(&both.w, 1ULL << 40, 0, 4096, 1);
	writers_write(&both.w, 1, 1ULL << 60, 4096, 1);
	assert_int_equal(both.w.left_out, 2 * 4096);
	writers_take(&both.w, 2, 0, 4096, count, sum);
	writers_take(&both.w, 1, 1ULL << 60, 4096, count, sum);
	assert_int_equal(sum[0], 2 * 4096);
	writers_take(&both.w, 1, 0, 8192, count, sum);
	assert_int_equal(sum[0], 3 * 4096);
	assert_int_equal(sum[1], 4096);
}

/* Single bytes in turn: 24 bytes of memory for two of them. */
static void memory_is_bounded(void **state)
{
	uint64_t sum[2] = { 0 };

	(void)state;
	for (uint64_t i = 0; i < WRITERS_BYTES_MAX / 12 + MiB; i++)
		writers_write(&both.w, 1, i, 1, 1 + (uint32_t)(i % 2));
	assert_true(both.w.bytes <= WRITERS_BYTES_MAX);
	assert_true(both.w.left_out > 0);
	writers_take(&both.w, 1, 0, 16 * MiB, count, sum);
	assert_int_equal(sum[1], WRITERS_BYTES_MAX / 12 + MiB - both.w.left_out);
	assert_int_equal(both.w.bytes, 0);
}

static uint64_t taken_bytes, taken_times;

static void count_taken(void *ctx, uint64_t len, uint32_t pid)
{
	(void)ctx, (void)pid;
	taken_bytes += len;
	taken_times++;
}

/* A trace may come from anybody: lengths that no kernel has take no longer than the longest that it has. */
static void lengths_that_no_kernel_has_are_bounded(void **state)
{
	(void)state;
	writers_write(&both.w, 1, 0, UINT64_MAX, 7);
	assert_int_equal(both.w.left_out, UINT64_MAX - WRITERS_CALL_MAX);
	writers_write(&both.w, 1, UINT64_MAX - 5, UINT64_MAX, 7);
	taken_bytes = taken_times = 0;
	writers_take(&both.w, 1, 0, UINT64_MAX, count_taken, NULL);
	assert_int_equal(taken_bytes, UINT64_MAX);
	assert_true(taken_times <= WRITERS_BIO_MAX / MiB + 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(pages_in_turn_have_their_own_writers, begin, end),
		cmocka_unit_test_setup_teardown(the_last_writer_counts, begin, end),
		cmocka_unit_test_setup_teardown(a_page_may_have_many_writers, begin, end),
		cmocka_unit_test_setup_teardown(writes_and_write_backs_at_random_agree, begin, end),
		cmocka_unit_test_setup_teardown(files_are_apart_and_keys_are_bounded, begin, end),
		cmocka_unit_test_setup_teardown(memory_is_bounded, begin, end),
		cmocka_unit_test_setup_teardown(lengths_that_no_kernel_has_are_bounded, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
