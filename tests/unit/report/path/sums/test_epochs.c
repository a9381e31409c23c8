/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/sums/epochs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/util.h"
#include "report/phases/phases.h"

#define S NSEC_PER_SEC

/* A trace from 1000 to 1100 s whose epochs begin and end at these seconds; 0 ends the list. */
static struct path_epochs epochs_of(const uint64_t *at_s)
{
	struct phases *p = phases_new();
	struct path_epochs epochs;

	assert_non_null(p);
	for (; *at_s; at_s += 2)
		phases_add(p, PHASE_MARKS, "epoch", at_s[0] * S, at_s[1] * S, false);
	assert_int_equal(phases_close(p, 1000 * S), 0);
	phases_end(p, 1000 * S, 1100 * S);
	epochs = path_epochs_of(p);
	phases_free(p);
	return epochs;
}

#define EPOCHS(...) epochs_of((const uint64_t[]){ __VA_ARGS__, 0 })

/* Expects that the moment AT_S is in WHEN, which lasts until UNTIL_S; 0: for ever. */
static void expect_at(const struct path_epochs *epochs, uint64_t at_s, enum path_when when, uint64_t until_s)
{
	uint64_t until_ns = 1;

	assert_int_equal(path_epochs_at(epochs, at_s * S, &until_ns), when);
	assert_int_equal(until_ns, until_s ? until_s * S : UINT64_MAX);
}

static void each_moment_is_in_one_part(void **state)
{
	const struct path_epochs epochs = EPOCHS(1010, 1020, 1020, 1030, 1040, 1050);

	assert_int_equal(epochs.n, 3);
	expect_at(&epochs, 0, PATH_BEFORE, 1010);
	expect_at(&epochs, 1009, PATH_BEFORE, 1010);
	expect_at(&epochs, 1010, PATH_FIRST, 1020);
	expect_at(&epochs, 1019, PATH_FIRST, 1020);
	expect_at(&epochs, 1020, PATH_LATER, 1050);
	expect_at(&epochs, 1035, PATH_LATER, 1050); /* between two of them, too */
	expect_at(&epochs, 1049, PATH_LATER, 1050);
	expect_at(&epochs, 1050, PATH_AFTER, 0);
	expect_at(&epochs, 2000, PATH_AFTER, 0);
}

/* The pieces of all time, one after the other, end. */
static void parts_follow_each_other(void **state)
{
	const struct path_epochs epochs = EPOCHS(1010, 1020, 1030, 1040);
	uint64_t at_ns = 0;

	for (unsigned int when = PATH_BEFORE; when < PATH_WHENS; when++) {
		uint64_t until_ns;

		assert_int_equal(path_epochs_at(&epochs, at_ns, &until_ns), when);
		assert_true(until_ns > at_ns);
		at_ns = until_ns;
	}
	assert_true(at_ns == UINT64_MAX);
}

static void one_epoch_has_no_later_ones(void **state)
{
	const struct path_epochs epochs = EPOCHS(1010, 1020);

	assert_int_equal(epochs.n, 1);
	expect_at(&epochs, 1005, PATH_BEFORE, 1010);
	expect_at(&epochs, 1015, PATH_FIRST, 1020);
	expect_at(&epochs, 1020, PATH_AFTER, 0);
}

/* The trace was attached within it: nothing was before. */
static void an_epoch_that_began_before_the_trace(void **state)
{
	const struct path_epochs epochs = EPOCHS(990, 1020, 1020, 1030);

	expect_at(&epochs, 1000, PATH_FIRST, 1020);
	expect_at(&epochs, 1025, PATH_LATER, 1030);
}

static void without_epochs_nothing_is_known(void **state)
{
	const struct path_epochs none = path_epochs_of(NULL), empty = EPOCHS(0);

	assert_int_equal(none.n, 0);
	expect_at(&none, 1010, PATH_WHENS, 0);
	assert_int_equal(empty.n, 0);
	expect_at(&empty, 1010, PATH_WHENS, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_moment_is_in_one_part),
		cmocka_unit_test(parts_follow_each_other),
		cmocka_unit_test(one_epoch_has_no_later_ones),
		cmocka_unit_test(an_epoch_that_began_before_the_trace),
		cmocka_unit_test(without_epochs_nothing_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
