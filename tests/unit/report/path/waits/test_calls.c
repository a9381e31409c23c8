/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/waits/calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct path_call *call(const char *name)
{
	return &path_calls[path_call_of((struct reader_field){ name, strlen(name) })];
}

/* The table is searched, so its order matters. */
static void each_call_is_found(void **state)
{
	static const char *const names[] = { "access", "clock_nanosleep", "fault", "flock", "futex", "fsync", "open",
					     "poll",   "stopped",         "writev" };

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_string_equal(call(names[i])->name, names[i]);
	for (unsigned int i = 2; path_calls[i].name && strcmp(path_calls[i].name, "writev"); i++)
		assert_true(strcmp(path_calls[i - 1].name, path_calls[i].name) < 0);
}

static void another_call_is_none_of_them(void **state)
{
	static const char *const names[] = { "", "-", "writ", "writevv", "zzz", "fsynd" };

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_string_equal(call(names[i])->name, "");
		assert_int_equal(call(names[i])->storage, PATH_DISK_READ);
	}
}

static void what_a_wait_for_storage_is(void **state)
{
	assert_int_equal(call("pread64")->storage, PATH_DISK_READ);
	assert_int_equal(call("fault")->storage, PATH_DISK_FAULT);
	assert_int_equal(call("openat")->storage, PATH_DISK_METADATA);
	assert_int_equal(call("fsync")->storage, PATH_DISK_SYNC);
	assert_int_equal(call("write")->storage, PATH_DISK_WRITE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_call_is_found),
		cmocka_unit_test(another_call_is_none_of_them),
		cmocka_unit_test(what_a_wait_for_storage_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
