/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/logtail.h"

#include "tree.h"

static int dirfd_ = -1;

static int tree_open(void **state)
{
	int r = tree_make(state);

	dirfd_ = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return r;
}

static int tree_close(void **state)
{
	util_close(&dirfd_);
	return tree_remove(state);
}

static int open_log(void)
{
	struct logtail t;
	int r = logtail_open(&t, dirfd_, "log");

	assert_int_equal(r < 0, t.fd < 0);
	logtail_close(&t);
	return r;
}

static void opens_the_log(void **state)
{
	tree_put("log", "a line\n");
	assert_int_equal(open_log(), 0);
}

/* A FIFO would wait for a writer, for ever. */
static void a_file_put_in_its_place_is_not_opened(void **state)
{
	autofree char *log = tree_path("log"), *other = tree_path("other");

	assert_int_equal(open_log(), -ENOENT);
	assert_int_equal(mkfifo(log, 0600), 0);
	assert_int_equal(open_log(), -EBADMSG);
	assert_int_equal(unlink(log), 0);
	tree_put("other", "not to be read\n");
	assert_int_equal(symlink(other, log), 0);
	assert_int_equal(open_log(), -EBADMSG);
}

static void a_hard_link_to_what_is_anothers_is_not_read(void **state)
{
	autofree char *log = tree_path("log"), *other = tree_path("other");

	if (geteuid() != 0) {
		print_message("skipped: needs root, for files of others\n");
		skip();
	}
	tree_put("other", "not to be read\n");
	assert_int_equal(link(other, log), 0);
	assert_int_equal(open_log(), 0);
	assert_int_equal(fchown(dirfd_, 54321, 54321), 0);
	assert_int_equal(open_log(), -ESTALE);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, tree_open, tree_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(opens_the_log),
		IN_FOLDER(a_file_put_in_its_place_is_not_opened),
		IN_FOLDER(a_hard_link_to_what_is_anothers_is_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
