/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/phases/data_dirs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct data_dirs dirs;

static int make(void **state)
{
	memset(&dirs, 0, sizeof(dirs));
	return 0;
}

static int drop(void **state)
{
	data_dirs_free(&dirs);
	return 0;
}

static void add(const char *text)
{
	data_dirs_add(&dirs, text, strlen(text));
}

static bool have(const char *path)
{
	return data_dirs_have(&dirs, path, strlen(path));
}

static void files_at_and_below_are_meant(void **state)
{
	assert_true(have("/usr/lib/a.so"));
	add("/data/");
	add("");
	add("relative");
	assert_true(data_dirs_any(&dirs));
	assert_true(have("/data"));
	assert_true(have("/data/a/b"));
	assert_false(have("/data2/a")); /* the near miss */
	assert_false(have("/dat"));
	assert_false(have("/usr/lib/a.so"));
	assert_false(have("-"));
}

static void several_are_between_colons_and_count_once(void **state)
{
	add("/a:/b/c::x:/a");
	add("/b/c");
	assert_int_equal(dirs.n, 2);
	assert_true(have("/a/1"));
	assert_true(have("/b/c/1"));
	assert_false(have("/b/1"));
}

static void all_means_all(void **state)
{
	add("/a");
	add("all");
	assert_false(data_dirs_any(&dirs));
	assert_true(have("/b"));
}

static void the_root_means_all(void **state)
{
	add("/a://");
	assert_true(have("/b"));
	assert_true(have("/"));
}

/* What may have been cut, and what there is no room for, hides nothing. */
static void what_is_not_known_hides_nothing(void **state)
{
	char text[200] = "/";

	memset(text + 1, 'a', sizeof(text) - 2);
	text[sizeof(text) - 1] = '\0';
	add(text);
	assert_true(have("/b"));
	drop(state);
	make(state);
	for (unsigned int i = 0; i <= DATA_DIRS_MAX; i++) {
		assert_int_equal(data_dirs_any(&dirs), i > 0);
		snprintf(text, sizeof(text), "/a%u", i);
		add(text);
	}
	assert_true(have("/b"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, drop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(files_at_and_below_are_meant),
		TEST(several_are_between_colons_and_count_once),
		TEST(all_means_all),
		TEST(the_root_means_all),
		TEST(what_is_not_known_hides_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
