/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/rows/live_regions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static bool add(struct live_regions *r, uint32_t tgid, uint64_t id)
{
	const struct dlt_hdr begin = { .tgid = tgid };
	const struct dltraced_msg m = { .id = id };

	return live_regions_add(r, &begin, &m);
}

static void count(void *ctx, const struct dlt_hdr *begin, const struct dltraced_msg *m)
{
	++*(unsigned int *)ctx;
}

static unsigned int kept(const struct live_regions *r)
{
	unsigned int n = 0;

	live_regions_each(r, count, &n);
	return n;
}

static void a_region_is_kept_once_until_it_ends(void **state)
{
	struct live_regions *r = live_regions_new();

	assert_non_null(r);
	assert_true(add(r, 7, 1));
	assert_false(add(r, 7, 1)); /* a second begin of it */
	assert_true(add(r, 8, 1)); /* another process's */
	assert_false(add(r, 0, 1)); /* of no process */
	assert_int_equal(kept(r), 2);
	assert_false(live_regions_remove(r, 7, 2));
	assert_true(live_regions_remove(r, 7, 1));
	assert_false(live_regions_remove(r, 7, 1));
	assert_int_equal(kept(r), 1);
	free(r);
	assert_false(live_regions_remove(NULL, 7, 1));
	assert_int_equal(kept(NULL), 0);
}

static void a_process_ends_with_its_regions_alone(void **state)
{
	struct live_regions *r = live_regions_new();
	unsigned int ended = 0;

	assert_non_null(r);
	for (uint64_t id = 0; id < 10; id++)
		assert_true(add(r, 7, id) && add(r, 8, id));
	live_regions_end(r, 7, count, &ended);
	assert_int_equal(ended, 10);
	assert_int_equal(kept(r), 10);
	live_regions_end(r, 0, count, &ended); /* the trace */
	assert_int_equal(ended, 20);
	assert_int_equal(kept(r), 0);
	free(r);
}

/* Whatever a program sends: memory does not grow, and regions that are kept still end. */
static void what_finds_no_room_is_left_out(void **state)
{
	struct live_regions *r = live_regions_new();
	unsigned int taken = 0, ended = 0;

	assert_non_null(r);
	for (uint64_t id = 0; id < 100000; id++)
		taken += add(r, 7, id);
	assert_true(taken > 1000 && taken < 100000);
	assert_int_equal(kept(r), taken);
	live_regions_end(r, 7, count, &ended);
	assert_int_equal(ended, taken);
	assert_true(add(r, 7, 99999));
	free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_region_is_kept_once_until_it_ends),
		cmocka_unit_test(a_process_ends_with_its_regions_alone),
		cmocka_unit_test(what_finds_no_room_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
