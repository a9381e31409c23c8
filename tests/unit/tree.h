/* SPDX-License-Identifier: BSD-2-Clause */
/* A folder of made-up files for one test: tree_make() and tree_remove() are its fixture. */
#ifndef TREE_H
#define TREE_H

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/util.h"
#include "temp.h"

static char tree[TEMP_MAX];

static inline int tree_make(void **state)
{
	return mkdtemp(temp_template(tree, "test")) ? 0 : -1;
}

static inline int tree_rm(const char *path, const struct stat *st, int type, struct FTW *at)
{
	return remove(path);
}

static inline int tree_remove(void **state)
{
	return nftw(tree, tree_rm, 16, FTW_DEPTH | FTW_PHYS);
}

/* Returns the path of NAME, and makes the folders on the way. */
static inline char *tree_path(const char *name)
{
	char *path = util_fmt("%s/%s", tree, name);

	for (char *slash = path + strlen(tree) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
		*slash = '/';
	}
	return path;
}

static inline void tree_put(const char *name, const char *text)
{
	autofree char *path = tree_path(name);
	autoclose int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(util_write_all(fd, text, strlen(text)), 0);
}

/* Returns the text of the file NAME, to be freed. */
static inline char *tree_get(const char *name)
{
	autofree char *path = tree_path(name);
	char *text = NULL;

	assert_int_equal(util_read_file(path, 1 << 20, &text, NULL), 0);
	return text;
}

#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, tree_make, tree_remove)

#endif
