/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Folders in a place where another writes. That other program acts within mkdirat(2), which is replaced here: as soon
 * as the folder is made, something else has its name.
 */
#include "os/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../tree.h"

#define SOMEBODY 54321 /* no user has this number */

static void (*other)(const char *name); /* what the other program does */

int mkdirat(int at, const char *name, mode_t mode)
{
	long r = syscall(SYS_mkdirat, at, name, mode);

	if (r == 0 && other)
		other(name);
	return (int)r;
}

static int begin(void **state)
{
	int r = tree_make(state);

	tree_put("victim/precious", "text");
	tree_put("victim/marks.out", "text");
	return r;
}

static int end(void **state)
{
	other = NULL;
	return tree_remove(state);
}

static void move_away(const char *name)
{
	autofree char *made = util_fmt("%s/%s", tree, name), *away = util_fmt("%s/away", tree);

	assert_int_equal(rename(made, away), 0);
}

static void link_to_the_victim(const char *name)
{
	autofree char *made = util_fmt("%s/%s", tree, name), *victim = tree_path("victim");

	move_away(name);
	assert_int_equal(symlink(victim, made), 0);
}

static void move_the_victim_there(const char *name)
{
	autofree char *made = util_fmt("%s/%s", tree, name), *victim = tree_path("victim");

	move_away(name);
	assert_int_equal(rename(victim, made), 0);
}

static void expect_victim_at(const char *name)
{
	autofree char *precious = util_fmt("%s/precious", name), *marks = util_fmt("%s/marks.out", name);
	autofree char *a = tree_get(precious), *b = tree_get(marks);

	assert_string_equal(a, "text");
	assert_string_equal(b, "text");
}

static void a_link_in_its_place_is_not_followed(void **state)
{
	autofree char *path = tree_path("new");
	struct new_folder f;

	other = link_to_the_victim;
	assert_int_equal(new_folder_make(&f, path), -EAGAIN);
	assert_int_equal(f.fd, -1);
	expect_victim_at("victim");
	if (geteuid() == 0) { /* now root's own, at first, then in a folder of another user */
		close(folder_open(path, 0700));
		assert_int_equal(chown(tree, SOMEBODY, SOMEBODY), 0);
		assert_int_equal(folder_open(path, 0700), -ENOTDIR);
	}
}

static void a_folder_in_its_place_is_left_alone(void **state)
{
	autofree char *path = tree_path("new");
	struct new_folder f;

	other = move_the_victim_there;
	assert_int_equal(new_folder_make(&f, path), -EAGAIN);
	expect_victim_at("new");
}

static void only_its_own_entries_are_removed(void **state)
{
	autofree char *path = tree_path("new");
	struct new_folder f;
	int fd;

	assert_int_equal(new_folder_make(&f, path), 0);
	fd = new_folder_create(&f, "ours");
	assert_true(fd >= 0);
	close(fd);
	tree_put("new/theirs", "text");
	assert_int_equal(new_folder_create(&f, "theirs"), -EEXIST);
	assert_int_equal(new_folder_remove(&f), -ENOTEMPTY);
	new_folder_close(&f);
	autofree char *theirs = tree_get("new/theirs"), *ours = tree_path("new/ours");

	assert_string_equal(theirs, "text");
	assert_int_equal(access(ours, F_OK), -1);
}

static void a_folder_that_took_the_name_later_stays(void **state)
{
	autofree char *path = tree_path("new"), *away = tree_path("away");
	struct new_folder f;

	assert_int_equal(new_folder_make(&f, path), 0);
	close(new_folder_create(&f, "marks.out"));
	link_to_the_victim("new");
	assert_int_equal(new_folder_remove(&f), -EAGAIN);
	new_folder_close(&f);
	expect_victim_at("victim");
	assert_int_equal(rmdir(away), 0); /* our file is gone from where the folder is now */
}

static void a_new_folder_is_all_new(void **state)
{
	autofree char *path = tree_path("new/er"), *parent = tree_path("new");
	struct new_folder f;
	struct stat st;

	assert_int_equal(new_folder_make(&f, path), 0);
	assert_int_equal(fstat(f.fd, &st), 0);
	assert_int_equal(st.st_mode & 07777 & ~S_ISGID, 0700);
	new_folder_close(&f);
	assert_int_equal(new_folder_make(&f, path), -EEXIST);
	assert_int_equal(new_folder_make(&f, parent), -EEXIST);
	assert_int_equal(new_folder_make(&f, "/"), -EEXIST);
}

static void an_old_folder_is_opened(void **state)
{
	autofree char *path = tree_path("victim"), *file = tree_path("victim/precious");
	int fd = folder_open(path, 0700);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(folder_open(file, 0700), -ENOTDIR);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_folder_in_its_place_is_left_alone),
		TEST(a_folder_that_took_the_name_later_stays),
		TEST(a_link_in_its_place_is_not_followed),
		TEST(a_new_folder_is_all_new),
		TEST(an_old_folder_is_opened),
		TEST(only_its_own_entries_are_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
