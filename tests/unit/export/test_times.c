/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/times.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/util.h"

#define END 64

static uint64_t random_below(uint64_t *seed, uint64_t n)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (*seed >> 33) % n;
}

static void joins_what_touches(void **state)
{
	struct time_span v[] = { { 5, 7 }, { 9, 9 }, { 1, 2 }, { 7, 8 }, { 20, 30 }, { 22, 25 }, { 12, 11 } };

	assert_int_equal(times_join(v, ARRAY_SIZE(v)), 3);
	assert_int_equal(v[0].begin_ns, 1);
	assert_int_equal(v[0].end_ns, 2);
	assert_int_equal(v[1].begin_ns, 5);
	assert_int_equal(v[1].end_ns, 8);
	assert_int_equal(v[2].begin_ns, 20);
	assert_int_equal(v[2].end_ns, 30);
	assert_int_equal(times_join(v, 0), 0);
}

/* Compares each instant, and each pair of them, with a table of instants. */
static void has_what_any_interval_has(void **state)
{
	uint64_t seed = 26;

	for (unsigned int round = 0; round < 2000; round++) {
		struct time_span v[6];
		bool in[END + 1] = { false };
		struct host_times host = { v, 0 };
		const struct export_times t = { &host, 1 };

		for (unsigned int i = 0, n = (unsigned int)random_below(&seed, 7); i < n; i++) {
			v[i] = (struct time_span){ random_below(&seed, END), random_below(&seed, END) };
			for (uint64_t ns = v[i].begin_ns; ns < v[i].end_ns; ns++)
				in[ns] = true;
			host.n++;
		}
		host.n = times_join(v, host.n);
		for (uint64_t a = 0; a <= END; a++) {
			bool any = false;

			assert_int_equal(times_have(&t, 0, a), in[a]);
			for (uint64_t b = a; b <= END; b++) {
				any |= in[b];
				assert_int_equal(times_overlap(&t, 0, a, b), any);
			}
		}
	}
}

static void without_cuts_all_times_are_there(void **state)
{
	const struct times_options none = { 0 };
	struct export_times t;

	assert_int_equal(times_init(&t, &none, NULL, 0), 0);
	assert_true(times_have(&t, 7, 0));
	assert_false(times_cut(&t, "vfs_rw"));
	times_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(joins_what_touches),
		cmocka_unit_test(has_what_any_interval_has),
		cmocka_unit_test(without_cuts_all_times_are_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
