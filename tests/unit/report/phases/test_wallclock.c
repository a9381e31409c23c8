/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/phases/wallclock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/util.h"

#define S NSEC_PER_SEC
#define REAL (1795334400 * S) /* when CLOCK_MONOTONIC is 1000 s */

static void one_reading_is_enough(void **state)
{
	struct wallclock w = { .n = 0 };
	uint64_t at[WALLCLOCK_INSTANTS];

	assert_int_equal(wallclock_mono(&w, REAL, at), 0);
	wallclock_add(&w, 1000 * S, REAL);
	for (unsigned int i = 1; i < 100; i++) /* drift within a millisecond does not count */
		wallclock_add(&w, (1000 + i) * S, REAL + i * S + i * 5000);
	assert_int_equal(w.n, 1);
	assert_int_equal(wallclock_mono(&w, REAL + 5 * S, at), 1);
	assert_int_equal(at[0], 1005 * S);
	assert_int_equal(wallclock_mono(&w, REAL - 5 * S, at), 1);
	assert_int_equal(at[0], 995 * S);
	assert_int_equal(wallclock_mono(&w, 1, at), 1); /* before the machine was started */
	assert_int_equal(at[0], 0);
}

static void times_come_twice_when_the_clock_is_set_back(void **state)
{
	struct wallclock w = { .n = 0 };
	uint64_t at[WALLCLOCK_INSTANTS];

	wallclock_add(&w, 1000 * S, REAL);
	wallclock_add(&w, 1010 * S, REAL + 5 * S);
	assert_int_equal(wallclock_mono(&w, REAL + 4 * S, at), 1);
	assert_int_equal(at[0], 1004 * S);
	assert_int_equal(wallclock_mono(&w, REAL + 7 * S, at), 2);
	assert_int_equal(at[0], 1007 * S);
	assert_int_equal(at[1], 1012 * S);
	assert_int_equal(wallclock_mono(&w, REAL + 11 * S, at), 1);
	assert_int_equal(at[0], 1016 * S);
}

static void times_are_left_out_when_the_clock_is_set_forward(void **state)
{
	struct wallclock w = { .n = 0 };
	uint64_t at[WALLCLOCK_INSTANTS];

	wallclock_add(&w, 1000 * S, REAL);
	wallclock_add(&w, 1010 * S, REAL + 100 * S);
	assert_int_equal(wallclock_mono(&w, REAL + 50 * S, at), 1);
	assert_int_equal(at[0], 1010 * S);
	assert_int_equal(wallclock_mono(&w, REAL + 101 * S, at), 1);
	assert_int_equal(at[0], 1011 * S);
	assert_int_equal(wallclock_mono(&w, REAL + 9 * S, at), 1);
	assert_int_equal(at[0], 1009 * S);
}

static void steps_beyond_the_room_are_not_known(void **state)
{
	static struct wallclock w;
	uint64_t at[WALLCLOCK_INSTANTS];

	for (uint64_t i = 0; i < 2 * WALLCLOCK_STEPS_MAX; i++)
		wallclock_add(&w, (1000 + i) * S, REAL - 3 * i * S);
	assert_int_equal(w.n, WALLCLOCK_STEPS_MAX);
	assert_true(wallclock_mono(&w, REAL, at) <= WALLCLOCK_INSTANTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_reading_is_enough),
		cmocka_unit_test(times_come_twice_when_the_clock_is_set_back),
		cmocka_unit_test(times_are_left_out_when_the_clock_is_set_forward),
		cmocka_unit_test(steps_beyond_the_room_are_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
