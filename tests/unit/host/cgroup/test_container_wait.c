/* SPDX-License-Identifier: BSD-2-Clause */
/* In a made-up hierarchy, with scripts as runtimes: which of its folders are containers. */
#include "host/cgroup/container_wait.h"

#include <poll.h>

#include "host/helper.h"
#include "tree.h"

#define ID_A "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID_B "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"

static struct container_wait *wait;
static char *old_path;

/* Two hierarchies in the tree, one with folders already; its bin is PATH. */
static int world_make(void **state)
{
	struct cgroup_mounts mounts = {};
	int r = tree_make(state);
	autofree char *info = util_fmt("1 1 0:1 / %s/v2 rw - cgroup2 cgroup2 rw\n"
				       "2 1 0:2 / %s/memory rw - cgroup m rw,memory\n",
				       tree, tree);
	autofree char *bin = tree_path("bin/");

	tree_put("v2/system.slice/cgroup.procs", "");
	tree_put("memory/cgroup.procs", "");
	old_path = strdup(getenv("PATH"));
	helper_trust_path();
	setenv("PATH", bin, 1);
	alarm(60);
	r = r ?: cgroup_mounts_parse(&mounts, info, "4:memory:/\n0::/\n");
	return r ?: container_wait_open(&wait, &mounts);
}

static int world_remove(void **state)
{
	container_wait_close(TAKE_PTR(wait));
	alarm(0);
	setenv("PATH", old_path, 1);
	free(TAKE_PTR(old_path));
	return tree_remove(state);
}

/* A runtime that counts its calls in the tree, in asked.1, asked.2 ... */
static void runtime(const char *script)
{
	autofree char *path = tree_path("bin/docker");
	autofree char *text = util_fmt("#!/bin/sh\ncd %s; n=1\nwhile [ -e asked.$n ]; do n=$((n + 1)); done\n"
				       ": >asked.$n\n%s\n",
				       tree, script);

	tree_put("bin/docker", text);
	assert_int_equal(chmod(path, 0755), 0);
}

static void await_calls(unsigned int times)
{
	autofree char *path = util_fmt("%s/asked.%u", tree, times);

	while (access(path, F_OK) < 0)
		poll(NULL, 0, 1);
}

static void expect_found(const char *name, uint32_t hierarchy, const char *path)
{
	struct pollfd p = { .fd = container_wait_fd(wait), .events = POLLIN };
	struct container_found *f;

	assert_int_equal(poll(&p, 1, -1), 1);
	f = container_wait_take(wait);
	assert_string_equal(f->name, name);
	assert_int_equal(f->pid, 0);
	assert_int_equal(f->cgroups.n, 1);
	assert_int_equal(f->cgroups.items[0].path.hierarchy, hierarchy);
	assert_string_equal(f->cgroups.items[0].path.path, path);
	container_found_free(f);
}

static void found_when_its_cgroup_is_made(void **state)
{
	runtime("[ \"$6\" = web ] && [ -e known ] && echo 0 " ID_A);
	container_wait_for(wait, "web");
	assert_int_equal(container_wait_start(wait), 0);
	await_calls(1);
	assert_null(container_wait_take(wait));
	tree_put("known", "");
	tree_put("v2/system.slice/docker.slice/docker-" ID_A ".scope/cgroup.procs", "");
	expect_found("web", 0, "/system.slice/docker.slice/docker-" ID_A ".scope");
}

static void found_when_it_came_before_the_start(void **state)
{
	runtime("echo 0 " ID_A);
	container_wait_for(wait, "web");
	tree_put("memory/docker/" ID_A "/cgroup.procs", "");
	assert_int_equal(container_wait_start(wait), 0);
	expect_found("web", 4, "/docker/" ID_A);
}

static void others_are_not_it(void **state)
{
	runtime("[ -e known ] && echo 0 " ID_A);
	container_wait_for(wait, "web");
	container_wait_for(wait, "never");
	assert_int_equal(container_wait_start(wait), 0);
	await_calls(2); /* for each of them */
	tree_put("memory/docker/not-one/cgroup.procs", "");
	tree_put("memory/docker/" ID_B "/cgroup.procs", "");
	await_calls(4);
	assert_null(container_wait_take(wait));
	runtime("[ \"$6\" = web ] && echo 0 " ID_A);
	tree_put("memory/docker/" ID_A "/cgroup.procs", "");
	expect_found("web", 4, "/docker/" ID_A);
}

static void a_runtime_may_know_it_a_moment_later(void **state)
{
	runtime("[ $n -ge 3 ] && echo 0 " ID_A);
	container_wait_for(wait, "web");
	assert_int_equal(container_wait_start(wait), 0);
	await_calls(1);
	tree_put("v2/" ID_A "/cgroup.procs", "");
	expect_found("web", 0, "/" ID_A);
}

static void an_id_comes_without_a_runtime(void **state)
{
	container_wait_for(wait, "0123456789ab");
	assert_int_equal(container_wait_start(wait), 0);
	tree_put("v2/" ID_B "/cgroup.procs", "");
	tree_put("v2/" ID_A "/cgroup.procs", "");
	expect_found("0123456789ab", 0, "/" ID_A);
}

/* For days, containers come and go, and watches with them. */
static void folders_may_go_and_come_again(void **state)
{
	autofree char *dir = util_fmt("%s/v2/pod/" ID_B, tree), *file = util_fmt("%s/cgroup.procs", dir);
	autofree char *pod = util_fmt("%s/v2/pod", tree);

	runtime("[ -e known ] && echo 0 " ID_A);
	container_wait_for(wait, "web");
	assert_int_equal(container_wait_start(wait), 0);
	for (unsigned int i = 1; i < 5; i++) {
		tree_put("v2/pod/" ID_B "/cgroup.procs", "");
		await_calls(i);
		assert_int_equal(remove(file) || rmdir(dir) || rmdir(pod), 0);
	}
	tree_put("known", "");
	tree_put("v2/pod/" ID_A "/cgroup.procs", "");
	expect_found("web", 0, "/pod/" ID_A);
}

static void ends_in_the_middle_of_a_question(void **state)
{
	runtime(NEVER_ANSWERS);
	container_wait_for(wait, "web");
	assert_int_equal(container_wait_start(wait), 0);
	await_calls(1);
	container_wait_close(TAKE_PTR(wait));
}

static void a_found_container_may_stay_unused(void **state)
{
	struct pollfd p = { .fd = container_wait_fd(wait), .events = POLLIN };

	container_wait_for(wait, ID_A);
	assert_int_equal(container_wait_start(wait), 0);
	tree_put("v2/" ID_A "/cgroup.procs", "");
	assert_int_equal(poll(&p, 1, -1), 1);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, world_make, world_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_WORLD(found_when_its_cgroup_is_made),
		IN_WORLD(found_when_it_came_before_the_start),
		IN_WORLD(others_are_not_it),
		IN_WORLD(a_runtime_may_know_it_a_moment_later),
		IN_WORLD(an_id_comes_without_a_runtime),
		IN_WORLD(folders_may_go_and_come_again),
		IN_WORLD(ends_in_the_middle_of_a_question),
		IN_WORLD(a_found_container_may_stay_unused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
