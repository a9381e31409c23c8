/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/limits.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

/* Lowers the soft limit of RESOURCE to BYTES during the call; returns the text for R. */
static const char *under(__rlimit_resource_t resource, rlim_t bytes, int r)
{
	struct rlimit before, limit;
	const char *text;

	assert_int_equal(getrlimit(resource, &before), 0);
	limit = before;
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(resource, &limit), 0);
	text = limits_strerror(r);
	assert_int_equal(setrlimit(resource, &before), 0);
	return text;
}

static void limits_are_named_with_their_remedy(void **state)
{
	assert_string_equal(under(RLIMIT_FSIZE, 8192, -EFBIG),
			    "File too large: this process may write files of at most 8.00 KiB "
			    "(ulimit -f unlimited, LimitFSIZE= in a unit of systemd)");
	assert_non_null(strstr(under(RLIMIT_AS, 64UL << 30, -ENOMEM),
			       "address space of at most 64.0 GiB (ulimit -v unlimited"));
	assert_non_null(
		strstr(under(RLIMIT_DATA, 64UL << 30, -ENOMEM), "data of at most 64.0 GiB (ulimit -d unlimited"));
}

static void other_errors_keep_their_text(void **state)
{
	assert_string_equal(under(RLIMIT_FSIZE, 8192, -ENOSPC), strerror(ENOSPC));
	assert_string_equal(under(RLIMIT_AS, 64UL << 30, -EFBIG), strerror(EFBIG));
	assert_string_equal(under(RLIMIT_FSIZE, RLIM_INFINITY, -EFBIG),
			    strerror(EFBIG)); /* the file system's own limit */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits_are_named_with_their_remedy),
		cmocka_unit_test(other_errors_keep_their_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
