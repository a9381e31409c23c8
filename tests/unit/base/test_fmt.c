/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/fmt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/util.h"

static void shows(const char *text, int width, const char *want)
{
	autofree char *got = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&got, &len);

	fmt_text(out, text, width);
	fclose(out);
	assert_string_equal(got, want);
}

static void names_are_shown_without_the_escapes_that_do_no_harm(void **state)
{
	shows("epoch\\04038", 0, "epoch 38");
	shows("/data/my\\040set/a\\043b\\042c", 0, "/data/my set/a#b\"c");
	shows("a\\040b", 6, "a b   ");
}

/* A blank that would be overlooked, an escaped backslash with digits behind it, and what could steer a terminal. */
static void other_escapes_stay(void **state)
{
	shows("\\040a", 0, "\\040a");
	shows("a\\040", 0, "a\\040");
	shows("a\\040\\040b", 0, "a\\040\\040b");
	shows("a\\134040b", 0, "a\\134040b");
	shows("a\\012b\\033[2J", 0, "a\\012b\\033[2J");
	shows("a\nb", 0, "a\\012b");
	shows("a\\04", 0, "a\\04");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_shown_without_the_escapes_that_do_no_harm),
		cmocka_unit_test(other_escapes_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
