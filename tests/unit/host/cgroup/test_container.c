/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/cgroup/container.h"

#include <sys/eventfd.h>

#include "host/helper.h"
#include "tree.h"

#define ID_A "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID_B "0123456789abffff0123456789abcdef0123456789abcdef0123456789abcdef"

static void knows_the_names_that_runtimes_give(void **state)
{
	static const char *const names[] = {
		ID_A,         "docker-" ID_A ".scope", "libpod-" ID_A ".scope", "cri-containerd-" ID_A ".scope",
		"crio-" ID_A, ID_A ".scope",
	};
	static const char *const others[] = {
		"",
		"user.slice",
		"libpod-conmon-" ID_A ".scope",
		"crio-conmon-" ID_A ".scope",
		".scope",
		"docker-" ID_A ".slice",
		ID_A "x",
		"docker.scope",
		"0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef",
		"123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", /* 63 */
		"docker-23456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *id = container_id_in(names[i]);

		if (!id || strncmp(id, ID_A, 64))
			fail_msg("%s", names[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (container_id_in(others[i]))
			fail_msg("%s", others[i]);
}

/* --- by /proc/PID/cgroup ---------------------------------------------------------------------- */

static struct cgroup_mounts mounts;
static struct cgroup_list list;
static char error[512];
static char *old_path;

/* Hierarchies v2 and 4 in the tree, and its folder bin as PATH. */
static int world_make(void **state)
{
	int r = tree_make(state);
	autofree char *info = util_fmt("1 1 0:1 / %s/v2 rw - cgroup2 cgroup2 rw\n"
				       "2 1 0:2 / %s/memory rw - cgroup m rw,memory\n",
				       tree, tree);
	autofree char *bin = tree_path("bin/");

	tree_put("v2/cgroup.procs", "");
	tree_put("memory/cgroup.procs", "");
	old_path = strdup(getenv("PATH"));
	helper_trust_path();
	setenv("PATH", bin, 1);
	return r < 0 ? r : cgroup_mounts_parse(&mounts, info, "4:memory:/\n0::/\n");
}

static int world_remove(void **state)
{
	setenv("PATH", old_path, 1);
	free(TAKE_PTR(old_path));
	cgroup_list_free(&list);
	cgroup_mounts_free(&mounts);
	return tree_remove(state);
}

static void expect_path(unsigned int i, uint32_t hierarchy, const char *path)
{
	assert_true(i < list.n);
	assert_int_equal(list.items[i].path.hierarchy, hierarchy);
	assert_string_equal(list.items[i].path.path, path);
}

static void takes_the_innermost_container_of_every_hierarchy(void **state)
{
	static const char text[] = "9:pids:/docker/" ID_A "\n" /* not mounted */
				   "4:memory:/docker/" ID_A "/docker/" ID_B "/init.scope\n"
				   "0::/system.slice/docker-" ID_A ".scope\n"
				   "broken\n";

	assert_int_equal(container_cgroups(&list, &mounts, text), 0);
	assert_int_equal(list.n, 2);
	expect_path(0, 4, "/docker/" ID_A "/docker/" ID_B);
	expect_path(1, 0, "/system.slice/docker-" ID_A ".scope");
}

static void a_process_outside_containers_has_none(void **state)
{
	static const char text[] = "4:memory:/\n0::/user.slice/session-1.scope\n";

	assert_int_equal(container_cgroups(&list, &mounts, text), 0);
	assert_int_equal(list.n, 0);
}

/* --- by id ------------------------------------------------------------------------------------ */

static int find(const char *name, pid_t *pid)
{
	*pid = -1;
	*error = '\0';
	cgroup_list_free(&list);
	return container_find(&list, pid, &mounts, name, -1, error, sizeof(error));
}

static void an_id_needs_no_runtime(void **state)
{
	pid_t pid;

	tree_put("v2/system.slice/docker-" ID_A ".scope/inner/cgroup.procs", "");
	tree_put("memory/docker/" ID_A "/cgroup.procs", "");
	assert_int_equal(find("0123456789ab", &pid), 0);
	assert_int_equal(pid, 0);
	assert_int_equal(list.n, 2);
	expect_path(0, 0, "/system.slice/docker-" ID_A ".scope");
	expect_path(1, 4, "/docker/" ID_A);
	assert_int_equal(find(ID_A, &pid), 0);
	assert_int_equal(list.n, 2);
	assert_int_equal(find("0123456789a", &pid), -ENOENT); /* too short: a name */
	assert_int_equal(find("0123456789ac", &pid), -ESRCH);
}

static void an_id_of_two_containers_is_refused(void **state)
{
	pid_t pid;

	tree_put("v2/a/" ID_A "/cgroup.procs", "");
	tree_put("memory/a/" ID_B "/cgroup.procs", "");
	assert_int_equal(find("0123456789ab", &pid), -EINVAL);
	assert_non_null(strstr(error, "more than one"));
	assert_int_equal(find("0123456789abf", &pid), 0);
	assert_int_equal(list.n, 1);
	expect_path(0, 4, "/a/" ID_B);
}

/* --- by name ---------------------------------------------------------------------------------- */

static void runtime(const char *name, const char *script)
{
	autofree char *file = util_fmt("bin/%s", name), *path = tree_path(file);
	autofree char *text = util_fmt("#!/bin/sh\n%s\n", script);

	tree_put(file, text);
	assert_int_equal(chmod(path, 0755), 0);
}

/* The test's own process, which is in no container here. */
static void queries_one_runtime_after_the_other(void **state)
{
	static const char calls[] = "inspect -f {{.State.Pid}} {{.Id}} --type container web";
	autofree char *answer = util_fmt("[ \"$*\" = '%s' ] && echo %d", calls, getpid());
	pid_t pid;

	runtime("docker", "echo 'Error: No such container' >&2; exit 1");
	runtime("podman", answer);
	assert_int_equal(find("web", &pid), 0);
	assert_int_equal(pid, getpid());
	assert_int_equal(find("db", &pid), -ESRCH);
	assert_non_null(strstr(error, "docker: not known; podman: not known"));
}

/* The container ends between the runtime's answer and the look at the process: its number may be another's. */
static void a_process_is_looked_at_while_it_is_the_containers(void **state)
{
	autofree char *again = tree_path("again");
	autofree char *answer = util_fmt("if [ -e %s ]; then echo 0 " ID_A "; else : >%s; echo %d " ID_A "; fi", again,
					 again, getpid());
	pid_t pid;

	runtime("podman", answer);
	assert_int_equal(find("web", &pid), -ESRCH);
	assert_int_equal(pid, 0);
	assert_int_equal(list.n, 0);
	assert_non_null(strstr(error, "No such process"));
}

/* Its cgroup is made before it has a process. */
static void a_container_on_its_way_is_where_its_id_is(void **state)
{
	pid_t pid;

	runtime("podman", "echo 0 " ID_A);
	assert_int_equal(find("web", &pid), -ESRCH);
	assert_string_equal(error, "--container web is not there yet (podman: does not run)");
	tree_put("v2/system.slice/libpod-" ID_A ".scope/cgroup.procs", "");
	assert_int_equal(find("web", &pid), 0);
	assert_int_equal(pid, 0);
	assert_int_equal(list.n, 1);
	expect_path(0, 0, "/system.slice/libpod-" ID_A ".scope");
}

static void an_answer_may_be_given_up(void **state)
{
	int stop = eventfd(1, EFD_CLOEXEC);
	pid_t pid;

	runtime("docker", NEVER_ANSWERS);
	assert_int_equal(container_find(&list, &pid, &mounts, "web", stop, error, sizeof(error)), -ECANCELED);
	close(stop);
}

static void says_why_a_name_leads_nowhere(void **state)
{
	pid_t pid;

	assert_int_equal(find("web", &pid), -ENOENT);
	assert_non_null(strstr(error, "docker, podman and nerdctl are not installed"));
	runtime("nerdctl", "echo 0");
	assert_int_equal(find("web", &pid), -ESRCH);
	assert_non_null(strstr(error, "nerdctl: does not run"));
	runtime("nerdctl", "echo 12x");
	assert_int_equal(find("web", &pid), -ESRCH);
	assert_non_null(strstr(error, "cannot be understood"));
	runtime("nerdctl", "echo 12 " ID_A "0");
	assert_int_equal(find("web", &pid), -ESRCH);
	assert_non_null(strstr(error, "cannot be understood"));
	runtime("nerdctl", "echo 12 '" ID_A "\033[31m'");
	assert_int_equal(find("web", &pid), -ESRCH);
	assert_string_equal(error, "--container web is not there yet (nerdctl: an answer that cannot be understood)");
	runtime("nerdctl", "while echo 1234567890; do :; done");
	assert_int_equal(find("web", &pid), -ESRCH);
	assert_non_null(strstr(error, "cannot be understood"));
}

static void an_impossible_name_is_no_query(void **state)
{
	static const char *const names[] = {
		"", "-f", "--help", ".web", "a b", "a/b", "a\nb", "caf\303\251",
	};
	autofree char *calls = tree_path("asked"), *script = util_fmt("echo 1 >%s", calls);
	pid_t pid;

	runtime("docker", script);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(find(names[i], &pid), -EINVAL);
	assert_int_equal(access(calls, F_OK), -1);
}

static void a_runtime_gets_a_clean_environment(void **state)
{
	autofree char *out = tree_path("out"), *script = util_fmt("/usr/bin/env >%s; exit 1", out);
	autofree char *text = NULL;
	pid_t pid;

	setenv("LD_PRELOAD_X", "1", 1);
	setenv("DOCKER_HOST", "ssh://elsewhere", 1);
	setenv("CONTAINERD_NAMESPACE", "k8s.io", 1);
	runtime("docker", script);
	find("web", &pid);
	assert_int_equal(util_read_file(out, 65536, &text, NULL), 0);
	assert_null(strstr(text, "LD_PRELOAD_X"));
	assert_null(strstr(text, "HOME="));
	assert_null(strstr(text, "elsewhere"));
	assert_non_null(strstr(text, "CONTAINERD_NAMESPACE=k8s.io"));
	assert_non_null(strstr(text, "LC_ALL=C"));
	setenv("DOCKER_HOST", "unix:///run/user/1000/docker.sock", 1);
	find("web", &pid);
	free(TAKE_PTR(text));
	assert_int_equal(util_read_file(out, 65536, &text, NULL), 0);
	assert_non_null(strstr(text, "DOCKER_HOST=unix:"));
	unsetenv("LD_PRELOAD_X");
	unsetenv("DOCKER_HOST");
	unsetenv("CONTAINERD_NAMESPACE");
}

static void a_runtime_gets_no_descriptor_of_ours(void **state)
{
	autofree char *out = tree_path("out"), *script = util_fmt("/bin/ls /proc/self/fd >%s; exit 1", out);
	autoclose int left_open = open("/dev/null", O_RDONLY);
	autofree char *text = NULL;
	pid_t pid;

	assert_true(left_open >= 0);
	runtime("docker", script);
	find("web", &pid);
	assert_int_equal(util_read_file(out, 65536, &text, NULL), 0);
	assert_string_equal(text, "0\n1\n2\n3\n"); /* the last one is that of ls itself */
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, world_make, world_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_the_names_that_runtimes_give),
		IN_WORLD(takes_the_innermost_container_of_every_hierarchy),
		IN_WORLD(a_process_outside_containers_has_none),
		IN_WORLD(an_id_needs_no_runtime),
		IN_WORLD(an_id_of_two_containers_is_refused),
		IN_WORLD(queries_one_runtime_after_the_other),
		IN_WORLD(a_process_is_looked_at_while_it_is_the_containers),
		IN_WORLD(a_container_on_its_way_is_where_its_id_is),
		IN_WORLD(an_answer_may_be_given_up),
		IN_WORLD(says_why_a_name_leads_nowhere),
		IN_WORLD(an_impossible_name_is_no_query),
		IN_WORLD(a_runtime_gets_a_clean_environment),
		IN_WORLD(a_runtime_gets_no_descriptor_of_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
