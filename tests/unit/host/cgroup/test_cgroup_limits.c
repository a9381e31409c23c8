/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/cgroup/cgroup_limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"
#include "tree.h"

/* The limits of TREE/root/a/b, whose hierarchy is mounted at TREE/root. */
static void read_tree(struct cgroup_limits *limits)
{
	autofree char *root = tree_path("root"), *dir = tree_path("root/a/b");

	*limits = (struct cgroup_limits){ 0 };
	cgroup_limits_append(limits, root, dir);
}

static void expect(const struct cgroup_limits *limits, unsigned int i, const char *cgroup, const char *file,
		   const char *value)
{
	assert_true(i < limits->n);
	assert_string_equal(limits->items[i].cgroup, cgroup);
	assert_string_equal(limits->items[i].file, file);
	assert_string_equal(limits->items[i].value, value);
}

static void limits_come_from_the_inside_outwards(void **state)
{
	struct cgroup_limits limits;

	tree_put("root/a/b/cpu.max", "60000 100000\n");
	tree_put("root/a/memory.max", "1073741824\n");
	tree_put("root/a/io.max", "8:0 rbps=1048576\n8:16 wiops=10\n");
	tree_put("root/pids.max", "100\n");
	tree_put("pids.max", "1\n"); /* above the mount: no cgroup */
	read_tree(&limits);
	assert_int_equal(limits.n, 4);
	expect(&limits, 0, "/a/b", "cpu.max", "60000 100000");
	expect(&limits, 1, "/a", "io.max", "8:0 rbps=1048576\n8:16 wiops=10");
	expect(&limits, 2, "/a", "memory.max", "1073741824");
	expect(&limits, 3, "/", "pids.max", "100");
	cgroup_limits_free(&limits);
}

static void what_limits_nothing_is_left_out(void **state)
{
	struct cgroup_limits limits;

	tree_put("root/a/b/cpu.max", "max 100000\n");
	tree_put("root/a/b/io.max", "");
	tree_put("root/a/b/cpu.weight", "100\n");
	tree_put("root/a/cpu.cfs_quota_us", "-1\n");
	tree_put("root/a/cpu.cfs_period_us", "100000\n");
	tree_put("root/a/memory.limit_in_bytes", "9223372036854771712\n");
	read_tree(&limits);
	assert_int_equal(limits.n, 0);
}

static void a_quota_of_v1_has_its_period(void **state)
{
	struct cgroup_limits limits;

	tree_put("root/a/b/cpu.cfs_quota_us", "50000\n");
	tree_put("root/a/b/cpu.cfs_period_us", "100000\n");
	read_tree(&limits);
	assert_int_equal(limits.n, 2);
	expect(&limits, 0, "/a/b", "cpu.cfs_quota_us", "50000");
	expect(&limits, 1, "/a/b", "cpu.cfs_period_us", "100000");
	cgroup_limits_free(&limits);
}

static void what_is_read_is_bounded(void **state)
{
	static char huge[1 << 20];
	struct cgroup_limits limits;

	memset(huge, '9', sizeof(huge) - 1);
	tree_put("root/a/b/memory.max", huge);
	read_tree(&limits);
	assert_int_equal(limits.n, 1);
	assert_in_range(strlen(limits.items[0].value), 1, 4096);
	for (unsigned int i = 0; i < 2 * CGROUP_LIMITS_MAX; i++) {
		autofree char *root = tree_path("root"), *dir = tree_path("root/a/b");

		cgroup_limits_append(&limits, root, dir);
	}
	assert_int_equal(limits.n, CGROUP_LIMITS_MAX);
	cgroup_limits_free(&limits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(limits_come_from_the_inside_outwards),
		IN_TREE(what_limits_nothing_is_left_out),
		IN_TREE(a_quota_of_v1_has_its_period),
		IN_TREE(what_is_read_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
