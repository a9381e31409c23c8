/* SPDX-License-Identifier: BSD-2-Clause */
/* Write-backs and the writes before them, in whatever order the writes end. */
#include "report/disk/writebacks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"

#define PIDS 8
#define MiB (1ULL << 20)

static struct writebacks b;
static uint64_t sum[PIDS];

static void take(void *ctx, const struct writeback *x, uint64_t len, uint32_t pid)
{
	(void)ctx, (void)x;
	sum[pid] += len;
}

static int begin(void **state)
{
	(void)state;
	memset(sum, 0, sizeof(sum));
	writebacks_init(&b, take, NULL);
	return 0;
}

static int end(void **state)
{
	(void)state;
	writebacks_free(&b);
	return 0;
}

static void back(uint64_t issued_ns, uint64_t off, uint64_t bytes)
{
	assert_true(writebacks_add(&b, &(struct writeback){
					       .issued_ns = issued_ns, .fid = 1, .off = off, .bytes = bytes }));
}

static void writes(uint64_t begin_ns, uint64_t off, uint64_t len, uint32_t pid)
{
	writebacks_write(&b, &(struct writebacks_write){ begin_ns, 1, off, len, pid });
}

/* A call of 200 MiB, whose first half is written back before it ends, and others that begin later and end before. */
static void a_write_counts_from_its_begin(void **state)
{
	(void)state;
	back(50, 0, 100 * MiB);
	back(2000000, 100 * MiB, 100 * MiB);
	for (uint32_t i = 0; i < 1000; i++)
		writes(100 + i, 300 * MiB + i, 1, 2);
	writes(10, 0, 200 * MiB, 1);
	writebacks_end(&b);
	assert_int_equal(sum[1], 200 * MiB);
	assert_int_equal(sum[0] + sum[2], 0);
	assert_int_equal(b.out_of_order, 0);
}

static void of_two_writes_the_one_that_began_last_counts(void **state)
{
	(void)state;
	back(100, 0, 4096);
	back(300, 0, 4096);
	writes(20, 0, 4096, 2);
	writes(10, 0, 4096, 1); /* began first, ended last */
	writes(200, 0, 1000, 3);
	writebacks_end(&b);
	assert_int_equal(sum[2], 4096);
	assert_int_equal(sum[3], 1000);
	assert_int_equal(sum[0], 3096); /* nothing has written these since */
}

static void later_writes_do_not_count(void **state)
{
	(void)state;
	back(100, 0, 4096);
	writes(100, 0, 4096, 1);
	writebacks_end(&b);
	assert_int_equal(sum[0], 4096);
}

/* More writes than are kept, so that the first are compared early; every eighth of them ends late. */
static void order_is_kept_beyond_the_room(void **state)
{
	const uint64_t n = 3 * (uint64_t)WRITEBACKS_WRITES;

	(void)state;
	for (uint64_t i = n; i-- > 0;)
		if (i % 1024 == 1023)
			back(10 * i + 5, (i - 1023) * 16, UINT64_C(1024) * 16);
	for (uint64_t i = 0; i < n + 1000; i++) {
		if (i < n && i % 8)
			writes(10 * i, i * 16, 16, 1);
		if (i >= 1000 && i % 8 == 0 && i - 1000 < n)
			writes(10 * (i - 1000), (i - 1000) * 16, 16, 2);
	}
	writebacks_end(&b);
	assert_int_equal(b.out_of_order, 0);
	assert_int_equal(sum[2], n / 8 * 16);
	assert_int_equal(sum[1], n / 8 * 7 * 16);
	assert_int_equal(sum[0], 0);
}

static void room_is_bounded(void **state)
{
	uint64_t n = 0;

	(void)state;
	while (writebacks_add(&b, &(struct writeback){ .issued_ns = 1, .fid = 1, .bytes = 1 }))
		n++;
	assert_int_equal(n, WRITEBACKS_MAX);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_write_counts_from_its_begin, begin, end),
		cmocka_unit_test_setup_teardown(of_two_writes_the_one_that_began_last_counts, begin, end),
		cmocka_unit_test_setup_teardown(later_writes_do_not_count, begin, end),
		cmocka_unit_test_setup_teardown(order_is_kept_beyond_the_room, begin, end),
		cmocka_unit_test_setup_teardown(room_is_bounded, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
