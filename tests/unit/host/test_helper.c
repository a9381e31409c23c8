/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/helper.h"

#include "os/env.h"
#include "tree.h"

static void the_environment_is_a_few_names(void **state)
{
	static const char *const taken[] = { "DLT_HOST=unix:", "DLT_OTHER=", "DLT_UNSET=", NULL };
	char *own[] = { (char *)"TZ=UTC", NULL };
	autofree char **env = NULL, **bare = NULL;
	size_t n = 0;

	setenv("DLT_HOST", "ssh://elsewhere", 1);
	setenv("DLT_OTHER", "x", 1);
	setenv("LD_PRELOAD_X", "1", 1);
	env = helper_environ(own, taken);
	bare = helper_environ(NULL, NULL);
	while (env[n])
		n++;
	assert_int_equal(n, 4);
	assert_string_equal(env_find(env, "LC_ALL="), "LC_ALL=C");
	assert_string_equal(env_find(env, "TZ="), "TZ=UTC");
	assert_string_equal(env_find(env, "DLT_OTHER="), "DLT_OTHER=x");
	assert_non_null(env_find(env, "PATH="));
	assert_non_null(bare[1]);
	assert_null(bare[2]);
}

/* The first test, which must see the fixed folders: others trust PATH from then on. */
static void roots_are_looked_for_in_fixed_folders(void **state)
{
	autofree char *bin = tree_path("bin"), *tool = tree_path("bin/dlt-tool");
	autofree char *before = strdup(getenv("PATH"));
	char found[4096];

	tree_put("bin/dlt-tool", "#!/bin/sh\n");
	assert_int_equal(chmod(tool, 0755), 0);
	setenv("PATH", bin, 1);
	if (geteuid() == 0) {
		assert_null(strstr(helper_path(), bin));
		assert_int_equal(helper_find("dlt-tool", found, sizeof(found)), -ENOENT);
	}
	assert_int_equal(helper_find("sh", found, sizeof(found)), geteuid() == 0 ? 0 : -ENOENT);
	helper_trust_path();
	assert_int_equal(helper_find("dlt-tool", found, sizeof(found)), 0);
	assert_string_equal(found, tool);
	setenv("PATH", before, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_environment_is_a_few_names),
		IN_TREE(roots_are_looked_for_in_fixed_folders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
