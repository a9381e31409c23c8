/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/cgroup/cgroup.h"

#include <limits.h>
#include <unistd.h>

#include "tree.h"

/* As on a hybrid host: controllers, of which two share one mount, a name, v2, and others. */
static const char mountinfo[] =
	"22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw\n"
	"31 22 0:28 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755\n"
	"32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup c rw,cpu,cpuacct\n"
	"35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:10 master:3 - cgroup m rw,memory\n"
	"40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,xattr,name=systemd\n"
	"41 31 0:38 / /sys/fs/cgroup/uni\\040fied rw,relatime - cgroup2 cgroup2 rw,nsdelegate\n"
	"42 31 0:39 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n"
	"60 22 0:32 /docker/a /srv/bound rw,relatime - cgroup none rw,memory\n"
	"99 22 0:99 broken\n";
static const char proc_cgroup[] = "9:name=systemd:/\n"
				  "4:memory:/x\n"
				  "2:cpu,cpuacct:/y:z\n"
				  "0::/\n";

static void knows_mounted_hierarchies_of_both_versions(void **state)
{
	static const struct cgroup_mount want[] = {
		{ "/sys/fs/cgroup/cpu,cpuacct", "/", 2 },
		{ "/sys/fs/cgroup/memory", "/", 4 },
		{ "/sys/fs/cgroup/systemd", "/", 9 },
		{ "/sys/fs/cgroup/uni fied", "/", 0 },
		/* pids has no number here: it is left out */
		{ "/srv/bound", "/docker/a", 4 },
	};
	struct cgroup_mounts m;

	assert_int_equal(cgroup_mounts_parse(&m, mountinfo, proc_cgroup), 0);
	assert_int_equal(m.n, ARRAY_SIZE(want));
	for (unsigned int i = 0; i < m.n; i++) {
		assert_string_equal(m.items[i].dir, want[i].dir);
		assert_string_equal(m.items[i].root, want[i].root);
		assert_int_equal(m.items[i].hierarchy, want[i].hierarchy);
	}
	cgroup_mounts_free(&m);
}

static void reads_those_of_this_machine(void **state)
{
	struct cgroup_mounts m;

	assert_int_equal(cgroup_mounts_read(&m), 0);
	cgroup_mounts_free(&m);
	assert_int_equal(m.n, 0);
}

/* --- paths ------------------------------------------------------------------------------------ */

static struct cgroup_mounts mounts;
static struct cgroup_list list;

/* v2, memory (4) and a part of memory, in the tree. */
static int mounts_make(void **state)
{
	int r = tree_make(state);
	autofree char *info = util_fmt("1 1 0:1 / %s/fs/v2 rw - cgroup2 cgroup2 rw\n"
				       "2 1 0:2 / %s/fs/memory rw - cgroup cgroup rw,memory\n"
				       "3 1 0:2 /docker/a %s/bound rw - cgroup cgroup rw,memory\n",
				       tree, tree, tree);

	tree_put("fs/v2/cgroup.procs", "");
	tree_put("fs/v2/job/cgroup.procs", "");
	tree_put("fs/memory/cgroup.procs", "");
	tree_put("bound/cgroup.procs", "");
	return r < 0 ? r : cgroup_mounts_parse(&mounts, info, "4:memory:/\n0::/\n");
}

static int mounts_remove(void **state)
{
	cgroup_list_free(&list);
	cgroup_mounts_free(&mounts);
	return tree_remove(state);
}

/* cgroup_find() of NAME (a leading @ stands for the tree's path) appends exactly WANT. */
static void expect(const char *name, unsigned int n, const struct cgroup want[])
{
	autofree char *path = *name == '@' ? util_fmt("%s%s", tree, name + 1) : strdup(name);

	cgroup_list_free(&list);
	if (cgroup_find(&list, &mounts, path) || list.n != n)
		fail_msg("%s: not found, or %u", name, list.n);
	for (unsigned int i = 0; i < n; i++) {
		autofree char *dir = util_fmt("%s%s", tree, want[i].dir);

		assert_string_equal(list.items[i].dir, dir);
		assert_string_equal(list.items[i].path.path, want[i].path.path);
		assert_int_equal(list.items[i].path.hierarchy, want[i].path.hierarchy);
	}
}

static void expect_error(const char *name, int error)
{
	autofree char *path = *name == '@' ? util_fmt("%s%s", tree, name + 1) : strdup(name);

	cgroup_list_free(&list);
	if (cgroup_find(&list, &mounts, path) != error || list.n)
		fail_msg("%s: not %s", name, strerror(-error));
}

static void a_directory_is_in_its_hierarchy(void **state)
{
	autofree char *link = tree_path("link"), *to = tree_path("fs/v2");

	assert_int_equal(symlink(to, link), 0);
	expect("@/fs/v2/job", 1, (struct cgroup[]){ { "/fs/v2/job", { 0, "/job" } } });
	expect("@/fs//v2/./job/../job/", 1, (struct cgroup[]){ { "/fs/v2/job", { 0, "/job" } } });
	expect("@/link/job", 1, (struct cgroup[]){ { "/fs/v2/job", { 0, "/job" } } });
	expect("@/link", 1, (struct cgroup[]){ { "/fs/v2", { 0, "/" } } });
	expect("@/fs/memory/", 1, (struct cgroup[]){ { "/fs/memory", { 4, "/" } } });
	expect("@/bound", 1, (struct cgroup[]){ { "/bound", { 4, "/docker/a" } } });
}

static void need_not_be_there_yet(void **state)
{
	expect("@/fs/v2/job/a", 1, (struct cgroup[]){ { "/fs/v2/job/a", { 0, "/job/a" } } });
	expect("@/fs/v2/../memory//a//b/", 1, (struct cgroup[]){ { "/fs/memory/a/b", { 4, "/a/b" } } });
	expect("@/bound/b", 1, (struct cgroup[]){ { "/bound/b", { 4, "/docker/a/b" } } });
}

static void any_other_path_is_from_the_root_of_each(void **state)
{
	static const struct cgroup both[] = {
		{ (char *)"/fs/v2/slurm/uid_1", { 0, "/slurm/uid_1" } },
		{ (char *)"/fs/memory/slurm/uid_1", { 4, "/slurm/uid_1" } },
	};

	expect("/slurm/uid_1", 2, both);
	expect("slurm//uid_1/", 2, both);
	expect("/", 2, (struct cgroup[]){ { "/fs/v2", { 0, "/" } }, { "/fs/memory", { 4, "/" } } });
}

static void refuses_what_would_never_come(void **state)
{
	char deep[PATH_MAX];

	expect_error("", -EINVAL);
	expect_error("@/fs/typo/job", -ENOENT); /* beside the hierarchies */
	expect_error("@/fs", -ENOENT);
	expect_error("@/fs/v2/new/../job", -EINVAL);
	expect_error("../job", -EINVAL);
	expect_error("job/..", -EINVAL);
	memset(deep, 'x', sizeof(deep));
	deep[DLT_CGROUP_PATH_MAX] = '\0';
	expect_error(deep, -ENAMETOOLONG);
	deep[DLT_CGROUP_PATH_MAX - 2] = '\0'; /* a slash is put before it */
	cgroup_list_free(&list);
	assert_int_equal(cgroup_find(&list, &mounts, deep), 0);
	assert_int_equal(list.n, 2);
}

/* --- existing cgroups ------------------------------------------------------------------------- */

static void the_key_is_inode_and_hierarchy(void **state)
{
	autofree char *job = tree_path("fs/v2/job");
	struct dlt_cgroup_key key;
	struct stat st;

	assert_int_equal(cgroup_find(&list, &mounts, "/job"), 0);
	assert_int_equal(stat(job, &st), 0);
	assert_int_equal(cgroup_key(&list.items[0], &key), 0);
	assert_int_equal(key.id, st.st_ino);
	assert_int_equal(key.hierarchy, 0);
	assert_int_equal(key.pad, 0);
	assert_int_equal(cgroup_key(&list.items[1], &key), -ENOENT);
}

struct seen {
	unsigned int n;
	long sum;
};

static int see_task(void *ctx, pid_t pid)
{
	struct seen *s = ctx;

	s->n++;
	s->sum += pid;
	return s->n == 100 ? -EINTR : 0;
}

static int see_dir(void *ctx, const char *dir)
{
	return cgroup_tasks(dir, see_task, ctx);
}

static void walks_all_that_is_below(void **state)
{
	struct seen s = {};
	autofree char *top = tree_path("fs/v2");

	tree_put("fs/v2/cgroup.procs", "1\n20\n");
	tree_put("fs/v2/job/cgroup.procs", "300\n0\n"); /* 0: of another pid namespace */
	tree_put("fs/v2/job/a/b/cgroup.procs", "4000\n");
	tree_put("fs/v2/.hidden/cgroup.procs", "50000\n");
	tree_put("fs/v2/gone/other", "");
	assert_int_equal(cgroup_walk(top, see_dir, &s), 0);
	assert_int_equal(s.n, 5);
	assert_int_equal(s.sum, 54321);
	assert_int_equal(cgroup_walk("/nowhere", see_dir, &s), 0);
}

static void a_walk_ends_when_its_visitor_ends_it(void **state)
{
	struct seen s = { .n = 98 };
	autofree char *top = tree_path("fs/v2");

	tree_put("fs/v2/cgroup.procs", "1\n20\n300\n");
	assert_int_equal(cgroup_walk(top, see_dir, &s), -EINTR);
	assert_int_equal(s.n, 100);
}

static void a_list_that_is_none_is_refused(void **state)
{
	struct seen s = {};
	autofree char *top = tree_path("fs/v2");

	tree_put("fs/v2/cgroup.procs", "1\nx\n");
	assert_int_equal(cgroup_walk(top, see_dir, &s), -EINVAL);
}

#define IN_MOUNTS(test) cmocka_unit_test_setup_teardown(test, mounts_make, mounts_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_mounted_hierarchies_of_both_versions),
		cmocka_unit_test(reads_those_of_this_machine),
		IN_MOUNTS(a_directory_is_in_its_hierarchy),
		IN_MOUNTS(need_not_be_there_yet),
		IN_MOUNTS(any_other_path_is_from_the_root_of_each),
		IN_MOUNTS(refuses_what_would_never_come),
		IN_MOUNTS(the_key_is_inode_and_hierarchy),
		IN_MOUNTS(walks_all_that_is_below),
		IN_MOUNTS(a_walk_ends_when_its_visitor_ends_it),
		IN_MOUNTS(a_list_that_is_none_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
