/* SPDX-License-Identifier: BSD-2-Clause */
/* The command by which a user runs this program with sudo works: it names this file, which sudo's search would not
 * find. */
#include "host/rights/sudo_command.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/shell.h"

static void names_a_program_outside_of_sudos_path(void **state)
{
	char self[PATH_MAX] = "", quoted[PATH_MAX] = "", wanted[PATH_MAX + 32], buf[PATH_MAX];

	assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	shell_append(quoted, sizeof(quoted), self); /* the build's folder may have a blank in its name */
	snprintf(wanted, sizeof(wanted), "sudo %s", quoted);
	assert_string_equal(sudo_command(buf, sizeof(buf)), wanted);
	snprintf(wanted, sizeof(wanted), " (sudo %s ...)", quoted);
	assert_string_equal(sudo_hint(buf, sizeof(buf)), wanted);
}

static void a_short_buffer_has_a_part(void **state)
{
	char buf[12];

	assert_true(strlen(sudo_command(buf, sizeof(buf))) < sizeof(buf));
	assert_memory_equal(buf, "sudo", 4);
	assert_true(strlen(sudo_hint(buf, sizeof(buf))) < sizeof(buf));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_a_program_outside_of_sudos_path),
		cmocka_unit_test(a_short_buffer_has_a_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
