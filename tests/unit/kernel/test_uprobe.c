/* SPDX-License-Identifier: BSD-2-Clause */
/* The instruction of our own library that is probed, and those that must not be. */
#include "kernel/uprobe.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util.h"
#include "dlt/alloc.h"
#include "tree.h"

#define STRING_(s) #s
#define STRING(s) STRING_(s)
#define POINT STRING(DLT_ALLOC_POINT)

/* build/tests/kernel/test_uprobe: build/libdltraced-alloc.so */
static char *library(void)
{
	autofree char *self = realpath("/proc/self/exe", NULL);

	for (int i = 0; i < 3; i++)
		*strrchr(self, '/') = '\0';
	return util_fmt("%s/" DLT_ALLOC_LIBRARY, self);
}

static void the_point_is_a_nop_of_one_byte(void **state)
{
	autofree char *path = library();
	char why[128];
	unsigned char code[2];
	uint64_t offset;
	autoclose int fd = -1;

	assert_int_equal(uprobe_find(path, POINT, &offset, why, sizeof(why)), 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(pread(fd, code, sizeof(code), (off_t)offset), sizeof(code));
#if defined(__x86_64__)
	assert_int_equal(code[0], 0x90); /* nop */
	assert_int_equal(code[1], 0xc3); /* ret */
#endif
}

/* The same library with another instruction there. */
static void a_nop_of_five_bytes_is_refused(void **state)
{
	static const unsigned char nop5[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
	autofree char *path = library(), *text = NULL, *copy = NULL;
	char why[128] = "";
	uint64_t offset;
	size_t len;

	assert_int_equal(uprobe_find(path, POINT, &offset, why, sizeof(why)), 0);
	assert_int_equal(util_read_file(path, 1 << 24, &text, &len), 0);
	memcpy(text + offset, nop5, sizeof(nop5));
	copy = tree_path("copy.so");
	{
		autoclose int fd = open(copy, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

		assert_int_equal(write(fd, text, len), len);
	}
	assert_int_equal(uprobe_find(copy, POINT, &offset, why, sizeof(why)), -ENOTSUP);
	assert_non_null(strstr(why, "five bytes"));
}

static void what_has_no_such_function_is_not_probed(void **state)
{
	autofree char *path = library(), *text = tree_path("text");
	char why[128];
	uint64_t offset;

	assert_int_equal(uprobe_find(path, "no_such_function", &offset, why, sizeof(why)), -ENOENT);
	assert_int_equal(uprobe_find("/nonexistent", POINT, &offset, why, sizeof(why)), -ENOENT);
	tree_put("text", "not a program");
	assert_int_equal(uprobe_find(text, POINT, &offset, why, sizeof(why)), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_point_is_a_nop_of_one_byte),
		cmocka_unit_test_setup_teardown(a_nop_of_five_bytes_is_refused, tree_make, tree_remove),
		cmocka_unit_test_setup_teardown(what_has_no_such_function_is_not_probed, tree_make, tree_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
