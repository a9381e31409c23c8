/* SPDX-License-Identifier: BSD-2-Clause */
/* Which long waits are kept: those that lasted for all of a look, until a while after they ended. */
#include "session/hung.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util.h"

#define SECOND NSEC_PER_SEC
#define NOBODY_TID 0x3fffffffU /* above the largest one that a kernel gives */

static struct hung hung;
static struct hung_now now;
static struct open_waits found;

static int set_up(void **state)
{
	hung_free(&hung);
	hung.kept = calloc(1, sizeof(*hung.kept));
	hung.looked_ns = 10 * SECOND;
	now = (struct hung_now){ .v = { { (uint64_t)getpid(), 5 * SECOND } }, .n = 1, .now_ns = 11 * SECOND };
	found = (struct open_waits){ .n = 1 };
	found.v[0] = (struct open_wait){ .pid = (uint64_t)getpid(), .tid = (uint64_t)getpid() };
	return hung.kept ? 0 : -1;
}

static void a_wait_that_lasted_is_kept_with_its_begin(void **state)
{
	hung_take(&hung, &found, &now);
	assert_int_equal(hung.kept->n, 1);
	assert_int_equal(hung.kept->v[0].since_ns, 5 * SECOND);
	hung_take(&hung, &found, &now);
	assert_int_equal(hung.kept->n, 1);
}

static void one_that_began_during_the_look_is_not(void **state)
{
	now.v[0].since_ns = 10 * SECOND + 1;
	hung_take(&hung, &found, &now);
	assert_int_equal(hung.kept->n, 0);
	now.n = 0;
	hung_take(&hung, &found, &now);
	assert_int_equal(hung.kept->n, 0);
}

static void what_has_ended_is_dropped_a_while_later(void **state)
{
	hung_take(&hung, &found, &now);
	now.n = 0; /* the thread, this one, goes on */
	now.now_ns += 9 * SECOND;
	hung_settle(&hung, &now);
	assert_int_equal(hung.kept->n, 1);
	now.now_ns += 2 * SECOND;
	hung_settle(&hung, &now);
	assert_int_equal(hung.kept->n, 0);
}

static void what_is_gone_or_lasts_stays(void **state)
{
	found.n = now.n = 2;
	now.v[1] = (struct hung_thread){ NOBODY_TID, 5 * SECOND };
	found.v[1] = (struct open_wait){ .pid = NOBODY_TID, .tid = NOBODY_TID };
	hung_take(&hung, &found, &now);
	now.n = 1;
	now.now_ns += 3600 * SECOND;
	hung_settle(&hung, &now);
	assert_int_equal(hung.kept->n, 2);
}

static void a_look_without_time_takes_nothing_from_an_earlier_one(void **state)
{
	found.v[0].known = true;
	hung_take(&hung, &found, &now);
	found.v[0].known = false;
	now.now_ns += SECOND;
	hung_take(&hung, &found, &now);
	assert_true(hung.kept->v[0].known);
	assert_int_equal(hung.seen_ns[0], now.now_ns);
}

static void what_lasts_is_open(void **state)
{
	struct open_waits open;

	found.n = now.n = 2;
	now.v[1] = (struct hung_thread){ NOBODY_TID, 5 * SECOND };
	found.v[1] = (struct open_wait){ .pid = NOBODY_TID, .tid = NOBODY_TID };
	hung_take(&hung, &found, &now);
	hung_open(&hung, &now, &open);
	assert_int_equal(open.n, 2);
	now.n = 1; /* the other one is gone */
	now.v[0].since_ns++; /* this one waits anew */
	hung_open(&hung, &now, &open);
	assert_int_equal(open.n, 0);
}

static int tear_down(void **state)
{
	hung_free(&hung);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_wait_that_lasted_is_kept_with_its_begin, set_up),
		cmocka_unit_test_setup(one_that_began_during_the_look_is_not, set_up),
		cmocka_unit_test_setup(what_has_ended_is_dropped_a_while_later, set_up),
		cmocka_unit_test_setup(what_lasts_is_open, set_up),
		cmocka_unit_test_setup(what_is_gone_or_lasts_stays, set_up),
		cmocka_unit_test_setup(a_look_without_time_takes_nothing_from_an_earlier_one, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, tear_down);
}
