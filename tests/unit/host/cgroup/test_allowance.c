/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/cgroup/allowance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace/rlimits.h"

static void limits_are_found_by_their_lines(void **state)
{
	struct allowance a = { 0 };

	allowance_parse_limits(&a, "Limit                     Soft Limit           Hard Limit           Units     \n"
				   "Max processes             96365                96366                processes \n"
				   "Max open files            1024                 524288               files     \n"
				   "Max locked memory         unlimited            unlimited            bytes     \n");
	assert_int_equal(a.limit[DLT_RLIMIT_NPROC].soft, 96365);
	assert_int_equal(a.limit[DLT_RLIMIT_NPROC].hard, 96366);
	assert_int_equal(a.limit[DLT_RLIMIT_NOFILE].soft, 1024);
	assert_int_equal(a.limit[DLT_RLIMIT_NOFILE].hard, 524288);
	assert_true(a.limit[DLT_RLIMIT_MEMLOCK].soft == RLIMIT_UNLIMITED);
	assert_true(a.limit[DLT_RLIMIT_MEMLOCK].hard == RLIMIT_UNLIMITED);
}

static void what_has_no_line_is_not_known(void **state)
{
	struct allowance a = { 0 };

	allowance_parse_limits(&a, "Max open files");
	allowance_parse_limits(&a, "");
	assert_false(a.limit[DLT_RLIMIT_NPROC].known);
	assert_false(a.limit[DLT_RLIMIT_MEMLOCK].known);
}

static void a_name_does_not_hide_the_priority(void **state)
{
	struct allowance a = { 0 };

	allowance_parse_stat(&a, "77 (a) R 5 (b) S 1 77 77 0 -1 4194560 100 0 0 0 1 2 0 0 30 10 1 0 4711 1000 200 "
				 "18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 3 0 0 0 0 0 0");
	assert_true(a.has_schedule);
	assert_int_equal(a.nice, 10);
	assert_int_equal(a.policy, 3);
	allowance_parse_stat(&a, "77 (a) R 5");
	assert_false(a.has_schedule);
}

static const char *by(unsigned int n_cpus, unsigned int n_cpuset, bool fresh)
{
	struct allowance a = { .n_cpus = n_cpus, .n_cpuset = n_cpuset };

	allowance_judge(&a, 4, fresh);
	return a.cpus_by ? a.cpus_by : "nobody";
}

static void the_fewest_cpus_name_the_limit(void **state)
{
	assert_string_equal(by(4, 4, true), "nobody");
	assert_string_equal(by(2, 2, true), "cgroup");
	assert_string_equal(by(2, 3, true), "inherited");
	assert_string_equal(by(2, 4, true), "inherited");
	assert_string_equal(by(2, 4, false), "affinity");
	assert_string_equal(by(2, 0, true), "inherited"); /* its cgroup is not known */
	assert_string_equal(by(0, 0, true), "nobody"); /* nor what it may use */
}

static void this_process_may_use_something(void **state)
{
	struct allowance a;

	allowance_read(&a, getpid(), false);
	assert_true(a.n_cpus > 0 && a.cpus[0]);
	assert_true(a.has_schedule);
	assert_true(a.limit[DLT_RLIMIT_NOFILE].known && a.limit[DLT_RLIMIT_NOFILE].soft > 0);
	assert_true(a.shm_used_bytes <= a.shm_bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits_are_found_by_their_lines),   cmocka_unit_test(what_has_no_line_is_not_known),
		cmocka_unit_test(a_name_does_not_hide_the_priority), cmocka_unit_test(the_fewest_cpus_name_the_limit),
		cmocka_unit_test(this_process_may_use_something),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
