/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/cpus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define CPUS 12

/* Expects LIST as a string of one character per CPU. */
static void expect_cpus(const char *list, const char *wanted)
{
	bool in[CPUS + 1];
	char got[CPUS + 1] = "";

	memset(in, 1, sizeof(in)); /* old values do not count */
	cpus_in(list, in, CPUS);
	for (unsigned int i = 0; i < CPUS; i++)
		got[i] = in[i] ? 'x' : '.';
	assert_string_equal(got, wanted);
	assert_true(in[CPUS]); /* beyond the array */
}

static void cpus_are_those_of_the_list(void **state)
{
	expect_cpus("0", "x...........");
	expect_cpus("0-3,8", "xxxx....x...");
	expect_cpus("0-3,8\n", "xxxx....x...");
	expect_cpus("1,3,5-6,11", ".x.x.xx....x");
	expect_cpus("0-11", "xxxxxxxxxxxx");
}

static void cpus_beyond_what_there_are_do_no_harm(void **state)
{
	expect_cpus("10-255", "..........xx");
	expect_cpus("12", "............");
	expect_cpus("0-99999999999999999999999", "xxxxxxxxxxxx");
	expect_cpus("99999999999999999999999,1", ".x..........");
}

static void a_list_without_sense_ends_where_it_has_none(void **state)
{
	expect_cpus("", "............");
	expect_cpus("none", "............");
	expect_cpus("-1", "............");
	expect_cpus("3-1", "............");
	expect_cpus("1,,2", ".x..........");
	expect_cpus("1,x,2", ".x..........");
	expect_cpus("2-", "............");
	expect_cpus("1-2-3,4", ".xx.........");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpus_are_those_of_the_list),
		cmocka_unit_test(cpus_beyond_what_there_are_do_no_harm),
		cmocka_unit_test(a_list_without_sense_ends_where_it_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
