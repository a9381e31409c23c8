/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/util.h"
#include "tree.h"

/* Returns how many names the current folder has, with hidden ones. */
static int names(void)
{
	FILE *f = popen("ls -A | wc -l", "r");
	int n = -1;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &n), 1);
	pclose(f);
	return n;
}

static void has(const char *path, const char *wanted)
{
	autofree char *text = NULL;

	assert_int_equal(util_read_file(path, 4096, &text, NULL), 0);
	assert_string_equal(text, wanted);
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static int enter(void **state)
{
	return tree_make(state) < 0 || chdir(tree) < 0;
}

static int leave(void **state)
{
	return chdir("/") < 0 || tree_remove(state) != 0;
}

static void is_there_whole_or_not_at_all(void **state)
{
	struct new_file f;
	struct stat st;
	mode_t old = umask(027);

	assert_int_equal(new_file_open(&f, "page"), 0);
	fputs("new", f.stream);
	assert_int_equal(access("page", F_OK), -1);
	assert_int_equal(new_file_commit(&f), 0);
	umask(old);
	has("page", "new");
	assert_int_equal(stat("page", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(names(), 1);

	/* the old file stays until the new one is complete, and if the new one is given up */
	assert_int_equal(new_file_open(&f, "./page"), 0);
	fputs("half", f.stream);
	has("page", "new");
	new_file_drop(&f);
	has("page", "new");
	assert_int_equal(names(), 1);
	new_file_drop(&f);
}

static void nothing_but_a_regular_file_is_replaced(void **state)
{
	struct new_file f;

	put("other", "other's");
	assert_int_equal(symlink("other", "link"), 0);
	assert_int_equal(symlink("nowhere", "dangling"), 0);
	assert_int_equal(mkdir("folder", 0700), 0);
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(new_file_open(&f, "link"), -ELOOP);
	assert_int_equal(new_file_open(&f, "dangling"), -ELOOP);
	assert_int_equal(new_file_open(&f, "folder"), -EISDIR);
	assert_int_equal(new_file_open(&f, "folder/"), -EISDIR);
	assert_int_equal(new_file_open(&f, "."), -EISDIR);
	assert_int_equal(new_file_open(&f, ""), -EISDIR);
	assert_int_equal(new_file_open(&f, "fifo"), -EEXIST);
	assert_int_equal(new_file_open(&f, "/dev/null"), -EEXIST);
	assert_int_equal(new_file_open(&f, "missing/page"), -ENOENT);
	assert_int_equal(new_file_open(&f, "other/page"), -ENOTDIR);
	assert_null(f.stream);
	has("other", "other's");
	assert_int_equal(names(), 5);
}

static void a_link_that_is_planted_meanwhile_is_not_followed(void **state)
{
	struct new_file f;

	put("secret", "secret");
	assert_int_equal(new_file_open(&f, "page"), 0);
	fputs("new", f.stream);
	assert_int_equal(symlink("secret", "page"), 0);
	assert_int_equal(new_file_commit(&f), -ELOOP);
	has("secret", "secret");
	assert_int_equal(names(), 2);
}

static void a_full_disk_leaves_nothing(void **state)
{
	struct new_file f;
	int full;

	put("page", "old");
	assert_int_equal(new_file_open(&f, "page"), 0);
	full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	assert_true(full >= 0);
	assert_true(dup2(full, fileno(f.stream)) >= 0);
	close(full);
	fputs("new", f.stream);
	assert_int_equal(new_file_commit(&f), -ENOSPC);
	has("page", "old");
	assert_int_equal(names(), 1);
	/* nor if a write has failed before the end */
	assert_int_equal(new_file_open(&f, "page"), 0);
	full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	assert_true(dup2(full, fileno(f.stream)) >= 0);
	close(full);
	fputs("new", f.stream);
	assert_int_equal(fflush(f.stream), EOF);
	assert_int_equal(new_file_commit(&f), -ENOSPC);
	assert_int_equal(names(), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(is_there_whole_or_not_at_all, enter, leave),
		cmocka_unit_test_setup_teardown(nothing_but_a_regular_file_is_replaced, enter, leave),
		cmocka_unit_test_setup_teardown(a_link_that_is_planted_meanwhile_is_not_followed, enter, leave),
		cmocka_unit_test_setup_teardown(a_full_disk_leaves_nothing, enter, leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
