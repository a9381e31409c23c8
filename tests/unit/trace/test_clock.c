/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/timerfd.h>

#include <cmocka.h>

#include "base/util.h"

#define SEC ((int64_t)NSEC_PER_SEC)
#define OFFSET (1795000000 * SEC)

static struct clock_reading reading(uint64_t mono_ns, int64_t offset_ns, uint64_t error_ns)
{
	return (struct clock_reading){
		.mono_ns = mono_ns,
		.real_ns = mono_ns + (uint64_t)offset_ns,
		.boot_ns = mono_ns,
		.error_ns = error_ns,
	};
}

static struct clock_map map_at(uint64_t mono_ns, int64_t offset_ns, uint64_t error_ns)
{
	struct clock_reading r = reading(mono_ns, offset_ns, error_ns);
	struct clock_map m;

	clock_map_init(&m, &r);
	return m;
}

static enum clock_change update(struct clock_map *m, uint64_t mono_ns, int64_t offset_ns, uint64_t error_ns, bool step)
{
	struct clock_reading r = reading(mono_ns, offset_ns, error_ns);

	return clock_map_update(m, &r, step);
}

static void a_reading_lies_between_readings_around_it(void **state)
{
	uint64_t before = clock_now_ns(CLOCK_MONOTONIC);
	struct clock_reading r;
	uint64_t after;

	clock_read(&r, 8);
	after = clock_now_ns(CLOCK_MONOTONIC);
	assert_in_range(r.mono_ns, before, after);
	assert_true(r.error_ns <= (after - before + 1) / 2);
	assert_true(r.boot_ns + r.error_ns >= r.mono_ns);
	clock_read(&r, 0); /* it reads nevertheless */
	assert_true(r.mono_ns >= after);
}

static void one_offset_holds_before_and_after_the_start(void **state)
{
	struct clock_map m = map_at(1000, OFFSET, 50);

	assert_int_equal(clock_utc_ns(&m, 1000), OFFSET + 1000);
	assert_int_equal(clock_utc_ns(&m, 1), OFFSET + 1);
	assert_int_equal(clock_utc_ns(&m, 9 * SEC), OFFSET + 9 * SEC);
	assert_int_equal(m.steps, 0);
}

static void keeps_the_offset_while_the_bands_touch(void **state)
{
	struct clock_map m = map_at(1 * SEC, OFFSET, 50);

	assert_int_equal(update(&m, 2 * SEC, OFFSET + 80, 30, false), CLOCK_SAME);
	assert_int_equal(update(&m, 3 * SEC, OFFSET - 80, 30, false), CLOCK_SAME);
	assert_int_equal(update(&m, 4 * SEC, OFFSET + 5 * SEC, 6 * SEC, false), CLOCK_SAME);
	assert_int_equal(clock_utc_ns(&m, 5 * SEC), OFFSET + 5 * SEC);
	assert_int_equal(update(&m, 6 * SEC, OFFSET + 81, 30, false), CLOCK_ADJUSTED);
	assert_int_equal(clock_utc_ns(&m, 6 * SEC), OFFSET + 6 * SEC + 81);
	assert_int_equal(m.now.error_ns, 30);
	assert_int_equal(m.steps, 0);
}

static void earlier_times_keep_the_earlier_offset(void **state)
{
	struct clock_map m = map_at(1 * SEC, OFFSET, 50);

	assert_int_equal(update(&m, 5 * SEC, OFFSET + 1000, 50, false), CLOCK_ADJUSTED);
	assert_int_equal(clock_utc_ns(&m, 5 * SEC - 1), OFFSET + 5 * SEC - 1);
	assert_int_equal(clock_utc_ns(&m, 5 * SEC), OFFSET + 5 * SEC + 1000);
}

static void stands_still_rather_than_going_back(void **state)
{
	struct clock_map m = map_at(1 * SEC, OFFSET, 50);
	uint64_t last = 0;

	assert_int_equal(update(&m, 5 * SEC, OFFSET - 3000, 50, false), CLOCK_ADJUSTED);
	for (uint64_t t = 5 * SEC - 5000; t < 5 * (uint64_t)SEC + 5000; t += 100) {
		uint64_t utc = clock_utc_ns(&m, t);

		assert_true(utc >= last);
		last = utc;
	}
	assert_int_equal(clock_utc_ns(&m, 5 * SEC + 2999), OFFSET + 5 * SEC);
	assert_int_equal(clock_utc_ns(&m, 5 * SEC + 3001), OFFSET + 5 * SEC + 1);
}

/* Set back again before the first stall is over: the lower limit is what was shown, not the clock. */
static void two_stalls_do_not_add_a_way_back(void **state)
{
	struct clock_map m = map_at(1 * SEC, OFFSET, 50);

	assert_int_equal(update(&m, 5 * SEC, OFFSET - 3000, 50, false), CLOCK_ADJUSTED);
	assert_int_equal(update(&m, 5 * SEC + 1000, OFFSET - 4000, 50, false), CLOCK_ADJUSTED);
	assert_int_equal(clock_utc_ns(&m, 5 * SEC + 999), OFFSET + 5 * SEC);
	assert_int_equal(clock_utc_ns(&m, 5 * SEC + 1000), OFFSET + 5 * SEC);
	assert_int_equal(clock_utc_ns(&m, 5 * SEC + 5000), OFFSET + 5 * SEC + 1000);
}

static void a_step_may_go_back(void **state)
{
	struct clock_map m = map_at(1 * SEC, OFFSET, 50);

	assert_int_equal(update(&m, 5 * SEC, OFFSET - 3000, 50, true), CLOCK_STEPPED);
	assert_int_equal(clock_utc_ns(&m, 5 * SEC - 1), OFFSET + 5 * SEC - 1);
	assert_int_equal(clock_utc_ns(&m, 5 * SEC), OFFSET + 5 * SEC - 3000);
	assert_int_equal(m.steps, 1);
}

static void a_large_change_is_a_step_unannounced(void **state)
{
	struct clock_map m = map_at(1 * SEC, OFFSET, 50);

	assert_int_equal(update(&m, 5 * SEC, OFFSET - SEC, 50, false), CLOCK_ADJUSTED);
	assert_int_equal(update(&m, 9 * SEC, OFFSET - 2 * SEC - 1, 50, false), CLOCK_STEPPED);
	assert_int_equal(clock_utc_ns(&m, 9 * SEC), OFFSET + 7 * SEC - 1);
	assert_int_equal(update(&m, 10 * SEC, OFFSET + 3600 * SEC, 50, false), CLOCK_STEPPED);
	assert_int_equal(m.steps, 2);
}

/* The reading came first, the kernel's notice after it. */
static void a_late_announcement_ends_the_stall(void **state)
{
	struct clock_map m = map_at(1 * SEC, OFFSET, 50);

	assert_int_equal(update(&m, 5 * SEC, OFFSET - SEC / 2, 50, false), CLOCK_ADJUSTED);
	assert_int_equal(clock_utc_ns(&m, 5 * SEC + 10), OFFSET + 5 * SEC);
	assert_int_equal(update(&m, 5 * SEC + 20, OFFSET - SEC / 2, 50, true), CLOCK_STEPPED);
	assert_int_equal(clock_utc_ns(&m, 5 * SEC + 20), OFFSET - SEC / 2 + 5 * SEC + 20);
	assert_int_equal(clock_utc_ns(&m, 5 * SEC - 1), OFFSET + 5 * SEC - 1);
	assert_int_equal(m.steps, 1);
}

static void a_clock_set_before_the_epoch_gives_zero(void **state)
{
	struct clock_map m = map_at(1000 * SEC, -990 * SEC, 50);

	assert_int_equal(clock_utc_ns(&m, 1000 * SEC), 10 * SEC);
	assert_int_equal(clock_utc_ns(&m, 500 * SEC), 0);
}

/* Tests that own a machine set the machine's clock. */
/* No clock shows it, but a forged row or a broken record may. UBSan notices it. */
static void a_time_beyond_all_clocks_is_no_overflow(void **state)
{
	struct clock_map m = map_at(1000, OFFSET, 0);

	assert_int_equal(clock_utc_ns(&m, INT64_MAX), 0);
	assert_int_equal(clock_utc_ns(&m, UINT64_MAX), OFFSET - 1);
}

static void the_step_fd_is_armed_and_quiet(void **state)
{
	autoclose int fd = clock_step_fd();
	struct itimerspec left;
	uint64_t ticks;

	assert_true(fd >= 0);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(read(fd, &ticks, sizeof(ticks)), -1);
		assert_int_equal(errno, EAGAIN);
		assert_int_equal(timerfd_gettime(fd, &left), 0);
		assert_true(left.it_value.tv_sec > 100LL * 365 * 86400);
		assert_int_equal(clock_step_rearm(fd), 0);
	}
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(clock_step_rearm(-1), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reading_lies_between_readings_around_it),
		cmocka_unit_test(one_offset_holds_before_and_after_the_start),
		cmocka_unit_test(keeps_the_offset_while_the_bands_touch),
		cmocka_unit_test(earlier_times_keep_the_earlier_offset),
		cmocka_unit_test(stands_still_rather_than_going_back),
		cmocka_unit_test(two_stalls_do_not_add_a_way_back),
		cmocka_unit_test(a_step_may_go_back),
		cmocka_unit_test(a_large_change_is_a_step_unannounced),
		cmocka_unit_test(a_late_announcement_ends_the_stall),
		cmocka_unit_test(a_clock_set_before_the_epoch_gives_zero),
		cmocka_unit_test(a_time_beyond_all_clocks_is_no_overflow),
		cmocka_unit_test(the_step_fd_is_armed_and_quiet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
