/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/disk_limit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS 1000000ULL

/* Each 100 ms one request of 10 ms, and two at a time of which the second one takes SECOND after the first. */
static struct disk_limit mixed(uint64_t second)
{
	struct disk_limit limit = { 0 };

	for (uint64_t at = 100 * MS; at <= 1000 * MS; at += 100 * MS) {
		disk_limit_add(&limit, at, at + 10 * MS, 4096);
		disk_limit_add(&limit, at + 50 * MS, at + 60 * MS, 4096);
		disk_limit_add(&limit, at + 50 * MS, at + 60 * MS + second, 4096);
	}
	return limit;
}

static void requests_that_wait_for_one_another_are_at_the_limit(void **state)
{
	const struct disk_limit limit = mixed(10 * MS);

	assert_true(disk_limit_is_reached(&limit));
	assert_int_equal(disk_limit_busy_ns(&limit), 300 * MS);
	assert_int_equal(limit.alone.requests, 20);
	assert_int_equal(limit.behind.ns, 100 * MS);
}

static void requests_side_by_side_are_not(void **state)
{
	const struct disk_limit limit = mixed(3 * MS);

	assert_false(disk_limit_is_reached(&limit));
}

/* Requests of several sizes take as long each: their number is limited. */
static void a_limit_may_be_one_of_requests(void **state)
{
	struct disk_limit limit = { 0 };

	for (uint64_t at = 100 * MS; at <= 1000 * MS; at += 100 * MS) {
		disk_limit_add(&limit, at, at + 10 * MS, 4096);
		disk_limit_add(&limit, at + 1, at + 20 * MS, 1 << 20);
	}
	assert_true(disk_limit_is_reached(&limit));
}

static void one_at_a_time_shows_no_limit(void **state)
{
	struct disk_limit limit = { 0 };

	for (uint64_t at = 0; at < 1000 * MS; at += 10 * MS)
		disk_limit_add(&limit, at, at + 10 * MS, 4096);
	assert_false(disk_limit_is_reached(&limit));
	assert_int_equal(disk_limit_busy_ns(&limit), 1000 * MS);
}

static void ends_that_come_late_take_no_time(void **state)
{
	struct disk_limit limit = { 0 };

	disk_limit_add(&limit, 0, 10 * MS, 4096);
	disk_limit_add(&limit, 2 * MS, 5 * MS, 4096);
	disk_limit_add(&limit, 20 * MS, 19 * MS, 4096);
	assert_int_equal(disk_limit_busy_ns(&limit), 10 * MS);
	assert_int_equal(limit.behind.requests, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_that_wait_for_one_another_are_at_the_limit),
		cmocka_unit_test(requests_side_by_side_are_not),
		cmocka_unit_test(a_limit_may_be_one_of_requests),
		cmocka_unit_test(one_at_a_time_shows_no_limit),
		cmocka_unit_test(ends_that_come_late_take_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
