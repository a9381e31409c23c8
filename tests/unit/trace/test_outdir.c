/* SPDX-License-Identifier: BSD-2-Clause */
#include "collectors/collectors.h"
#include "collectors/kinds.h"
#include "host/rights/workload_user.h"
#include "trace/outdir.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util.h"
#include "host/rights/privileges.h"
#include "job/workload.h"
#include "temp.h"

#define SOMEBODY 54321 /* no user has this number */
#define MANIFEST "{ \"tool\": \"dltraced\", \"complete\": false }"

static char root[TEMP_MAX];
static char *no_env[] = { NULL };

/* PATH below a fresh folder; a ring of buffers, so that a few are valid at a time. */
static const char *at(const char *path)
{
	static char buf[8][PATH_MAX];
	static unsigned int i;

	i = (i + 1) % ARRAY_SIZE(buf);
	snprintf(buf[i], sizeof(buf[i]), "%s/%s", root, path);
	return buf[i];
}

static void put(const char *path, const char *text)
{
	autoclose int fd = open(at(path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(util_write_all(fd, text, strlen(text)), 0);
}

static bool exists(const char *path)
{
	return faccessat(AT_FDCWD, at(path), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static struct stat stat_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(at(path), &st), 0);
	return st;
}

static int make(const char *path, bool force)
{
	struct outdir d;
	int r = outdir_open(&d, at(path), getuid(), getgid(), force);

	assert_int_equal(r < 0, d.fd < 0);
	if (!r)
		r = outdir_clear(&d, collectors_file);
	outdir_close(&d);
	return r;
}

static void needs_root(void)
{
	if (geteuid() == 0)
		return;
	print_message("skipped: needs root, to give folders away\n");
	skip();
}

static int set_up(void **state)
{
	umask(022);
	return mkdtemp(temp_template(root, "test_outdir")) ? 0 : -1;
}

static int clean_up(void **state)
{
	autofree char *cmd = util_fmt("rm -rf %s", root);

	return system(cmd);
}

static void expands_every_escape(void **state)
{
	const struct outdir_names n = {
		.experiment = "exp", .host = "node1", .job = "42", .rank = "3", .stamp = "20261121010203", .pid = "99"
	};
	char buf[64];

	assert_int_equal(outdir_expand("/a/%h.%j.%n/%e-%t-%p%%", &n, buf, sizeof(buf)), 0);
	assert_string_equal(buf, "/a/node1.42.3/exp-20261121010203-99%");
	assert_int_equal(outdir_expand("plain", &n, buf, 6), 0);
	assert_string_equal(buf, "plain");
	assert_int_equal(outdir_expand("plain", &n, buf, 5), -ENAMETOOLONG);
	assert_int_equal(outdir_expand("%e", &n, buf, 3), -ENAMETOOLONG);
	assert_int_equal(outdir_expand("%x", &n, buf, sizeof(buf)), -EINVAL);
	assert_int_equal(outdir_expand("a%", &n, buf, sizeof(buf)), -EINVAL);
	assert_int_equal(outdir_expand("", &n, buf, sizeof(buf)), -EINVAL);
}

static void default_has_the_time_or_the_job(void **state)
{
	char *slurm[] = { "SLURM_JOB_ID=7", NULL };
	struct outdir_names n;
	char buf[PATH_MAX], expected[PATH_MAX];

	outdir_names_init(&n, "exp", no_env, 1795223045);
	assert_int_equal(outdir_expand(NULL, &n, buf, sizeof(buf)), 0);
	assert_string_equal(buf, "traces/exp_20261121010405");
	outdir_names_init(&n, "exp", slurm, 1795223045);
	assert_int_equal(outdir_expand(NULL, &n, buf, sizeof(buf)), 0);
	snprintf(expected, sizeof(expected), "traces/exp_7/%s", n.host);
	assert_string_equal(buf, expected);
}

static void names_come_from_the_environment(void **state)
{
	char *slurm[] = { "SLURM_PROCID=5", "PBS_JOBID=p", "SLURM_JOB_ID=7", NULL };
	char *other[] = { "RANK=", "OMPI_COMM_WORLD_RANK=2", "PBS_JOBID=12.server", NULL };
	struct outdir_names n;

	outdir_names_init(&n, "exp", slurm, 0);
	assert_string_equal(n.job, "7");
	assert_string_equal(n.rank, "5");
	outdir_names_init(&n, "exp", other, 0);
	assert_string_equal(n.job, "12.server");
	assert_string_equal(n.rank, "2");
	outdir_names_init(&n, "exp", no_env, 0);
	assert_string_equal(n.job, "nojob");
	assert_string_equal(n.rank, "0");
}

static void environment_cannot_lead_elsewhere(void **state)
{
	char *env[] = { "SLURM_JOB_ID=../../etc", "RANK=..", NULL };
	struct outdir_names n;

	outdir_names_init(&n, "exp", env, 0);
	assert_string_equal(n.job, "_._.._etc");
	assert_string_equal(n.rank, "_.");
}

static void parts_are_safe_in_a_path(void **state)
{
	char part[8];

	assert_true(outdir_part(part, sizeof(part), "Az0._-9"));
	assert_string_equal(part, "Az0._-9");
	assert_false(outdir_part(part, sizeof(part), "a/b c\xff"));
	assert_string_equal(part, "a_b_c_");
	assert_false(outdir_part(part, sizeof(part), "-rf"));
	assert_string_equal(part, "_rf");
	assert_false(outdir_part(part, sizeof(part), "12345678"));
	assert_string_equal(part, "1234567");
	assert_false(outdir_part(part, sizeof(part), ""));
}

static void makes_the_folder_and_its_parents(void **state)
{
	struct outdir d;

	assert_int_equal(outdir_open(&d, at("a//b/./c/"), getuid(), getgid(), false), 0);
	assert_string_equal(d.path, at("a/b/c"));
	assert_int_equal(stat_of("a/b/c").st_mode, S_IFDIR | 0700);
	assert_int_equal(mkdirat(d.fd, "x", 0700), 0);
	assert_true(exists("a/b/c/x"));
	assert_true(fcntl(d.fd, F_GETFD) & FD_CLOEXEC);
	outdir_close(&d);
	assert_int_equal(d.fd, -1);
}

static void relative_names_start_here(void **state)
{
	struct outdir d;

	assert_int_equal(chdir(root), 0);
	assert_int_equal(outdir_open(&d, "a/b", getuid(), getgid(), false), 0);
	assert_string_equal(d.path, at("a/b"));
	outdir_close(&d);
	assert_int_equal(chdir("a"), 0);
	assert_int_equal(outdir_open(&d, "../c", getuid(), getgid(), false), 0);
	assert_string_equal(d.path, at("c"));
	outdir_close(&d);
	assert_int_equal(chdir("/"), 0);
}

static void links_lead_to_the_parent_but_are_no_folder(void **state)
{
	struct outdir d;

	mkdir(at("real"), 0700);
	assert_int_equal(symlink("real", at("link")), 0);
	assert_int_equal(symlink("nowhere", at("dangling")), 0);
	assert_int_equal(make("link", false), -ENOTDIR);
	assert_int_equal(make("dangling", false), -ENOTDIR);
	assert_int_equal(make("dangling/x", false), -ENOENT);
	assert_int_equal(outdir_open(&d, at("link/x"), getuid(), getgid(), false), 0);
	assert_string_equal(d.path, at("real/x"));
	outdir_close(&d);
	assert_false(exists("nowhere"));
}

static void takes_an_empty_folder(void **state)
{
	mkdir(at("empty"), 0755);
	assert_int_equal(make("empty", false), 0);
	assert_int_equal(stat_of("empty").st_mode, S_IFDIR | 0700);
	assert_int_equal(make("empty", true), 0);
}

static void refuses_what_is_no_empty_folder(void **state)
{
	put("file", "");
	assert_int_equal(make("file", true), -ENOTDIR);
	assert_int_equal(make("file/x", true), -ENOTDIR);
	mkdir(at("full"), 0755);
	put("full/.hidden", "");
	assert_int_equal(make("full", false), -ENOTEMPTY);
	assert_int_equal(make("full", true), -ENOTEMPTY);
	assert_int_equal(stat_of("full").st_mode, S_IFDIR | 0755);
	assert_true(exists("full/.hidden"));
}

static void replaces_a_trace_by_force_alone(void **state)
{
	static const char *const ours[] = {
		"bio.out",      "pids.out",          "cpu.out",        "workload.log",      "marks.out",
		"rollup.out",   "vfs_rw.000001.out", "vfs_rw.out.zst", "cpu.000012.out.gz", "bio.000002.out.zst.tmp",
		"open.out.new", "manifest.json"
	};
	static const char *const others[] = { "notes.out", "notes.000001.out", "vfs_rw.out.bz2" };
	char path[64];

	assert_int_equal(make("t", false), 0);
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++) {
		snprintf(path, sizeof(path), "t/%s", ours[i]);
		put(path, MANIFEST);
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		snprintf(path, sizeof(path), "t/%s", others[i]);
		put(path, "");
	}
	assert_int_equal(make("t", false), -EEXIST);
	assert_true(exists("t/bio.out"));
	assert_int_equal(make("t", true), 0);
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++) {
		snprintf(path, sizeof(path), "t/%s", ours[i]);
		assert_false(exists(path));
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		snprintf(path, sizeof(path), "t/%s", others[i]);
		assert_true(exists(path));
	}
}

static void old_trace_stays_until_it_is_cleared(void **state)
{
	struct outdir d;

	mkdir(at("t"), 0700);
	put("t/bio.out", "");
	put("t/workload.log", "old");
	put("t/manifest.json", MANIFEST);
	chmod(at("t"), 0750);
	assert_int_equal(outdir_open(&d, at("t"), getuid(), getgid(), true), 0);
	put("t/" OUTDIR_LOG_NEW, "new");
	assert_true(exists("t/bio.out"));
	outdir_discard(&d, collectors_file);
	assert_true(exists("t/bio.out"));
	assert_int_equal(stat_of("t/workload.log").st_size, 3);
	assert_false(exists("t/" OUTDIR_LOG_NEW));
	assert_int_equal(stat_of("t").st_mode, S_IFDIR | 0750);

	assert_int_equal(outdir_open(&d, at("t"), getuid(), getgid(), true), 0);
	put("t/" OUTDIR_LOG_NEW, "the new");
	assert_int_equal(outdir_clear(&d, collectors_file), 0);
	assert_false(exists("t/bio.out"));
	assert_false(exists("t/manifest.json"));
	assert_int_equal(stat_of("t/workload.log").st_size, 7);
	assert_false(exists("t/" OUTDIR_LOG_NEW));
	outdir_close(&d);
}

static void discarding_leaves_older_files(void **state)
{
	struct outdir d;

	assert_int_equal(outdir_open(&d, at("new"), getuid(), getgid(), false), 0);
	put("new/bio.out", "");
	outdir_discard(&d, collectors_file);
	assert_false(exists("new"));

	mkdir(at("made"), 0755);
	chmod(at("made"), 0755);
	assert_int_equal(outdir_open(&d, at("made"), getuid(), getgid(), false), 0);
	put("made/bio.out", "");
	outdir_discard(&d, collectors_file);
	assert_int_equal(stat_of("made").st_mode, S_IFDIR | 0755);
	assert_false(exists("made/bio.out"));
}

static void names_what_could_not_be_had(void **state)
{
	struct outdir d;

	put("file", "");
	assert_int_equal(outdir_open(&d, at("file/x/y"), getuid(), getgid(), false), -ENOTDIR);
	assert_string_equal(d.path, at("file"));
	assert_int_equal(outdir_open(&d, at("file"), getuid(), getgid(), false), -ENOTDIR);
	assert_string_equal(d.path, at("file"));
}

static void force_needs_a_manifest_of_dltraced(void **state)
{
	static const char *const others[] = {
		"", "{}", "{ \"tool\": \"other\" }", "[ \"dltraced\" ]", "{ \"tool\": { \"tool\": \"dltraced\" } }",
	};

	mkdir(at("t"), 0700);
	put("t/bio.out", "");
	assert_int_equal(make("t", true), -ENOTEMPTY);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		put("t/manifest.json", others[i]);
		assert_int_equal(make("t", true), -ENOTEMPTY);
	}
	assert_true(exists("t/bio.out"));
	put("t/manifest.json", "{ \"tool\": \"dltraced\", \"probes\": [");
	assert_int_equal(make("t", true), 0);
	assert_false(exists("t/bio.out"));
}

static void running_trace_keeps_its_folder(void **state)
{
	struct outdir d;

	assert_int_equal(outdir_open(&d, at("t"), getuid(), getgid(), false), 0);
	put("t/manifest.json", MANIFEST);
	assert_int_equal(make("t", true), -EBUSY);
	assert_true(exists("t/manifest.json"));
	outdir_close(&d);
	assert_int_equal(make("t", true), 0);
}

static void shared_folder_is_refused(void **state)
{
	mkdir(at("tmp"), 0700);
	chmod(at("tmp"), 01777);
	assert_int_equal(make("tmp", true), -EPERM);
	assert_int_equal(stat_of("tmp").st_mode, S_IFDIR | 01777);
}

static void folder_of_another_user_is_refused(void **state)
{
	needs_root();
	mkdir(at("theirs"), 0755);
	assert_int_equal(chown(at("theirs"), SOMEBODY, SOMEBODY), 0);
	assert_int_equal(make("theirs", true), -EPERM);
	assert_int_equal(stat_of("theirs").st_uid, SOMEBODY);
}

static void all_that_is_made_belongs_to_the_user(void **state)
{
	struct outdir d;

	needs_root();
	mkdir(at("mine"), 0755);
	assert_int_equal(outdir_open(&d, at("mine/a/b"), SOMEBODY, SOMEBODY + 1, false), 0);
	outdir_close(&d);
	assert_int_equal(stat_of("mine").st_uid, 0);
	assert_int_equal(stat_of("mine/a").st_uid, SOMEBODY);
	assert_int_equal(stat_of("mine/a/b").st_uid, SOMEBODY);
	assert_int_equal(stat_of("mine/a/b").st_gid, SOMEBODY + 1);
	assert_int_equal(stat_of("mine/a/b").st_mode, S_IFDIR | 0700);
}

/* Root does not: any user who may write in the folder could make root give away root's files. */
static void root_follows_no_link_of_others(void **state)
{
	struct outdir d;

	needs_root();
	mkdir(at("roots"), 0755);
	mkdir(at("roots/empty"), 0755);
	mkdir(at("theirs"), 0755);
	assert_int_equal(symlink("../roots", at("theirs/link")), 0);
	assert_int_equal(chown(at("theirs"), SOMEBODY, SOMEBODY), 0);
	assert_int_equal(outdir_open(&d, at("theirs/link/empty"), SOMEBODY, SOMEBODY, false), -ENOTDIR);
	assert_string_equal(d.path, at("theirs/link"));
	assert_int_equal(make("theirs/link/new/er", false), -ENOTDIR);
	assert_false(exists("roots/new"));
	assert_int_equal(stat_of("roots/empty").st_uid, 0);
	mkdir(at("shared"), 01777);
	assert_int_equal(chmod(at("shared"), 01777), 0);
	assert_int_equal(symlink("../roots", at("shared/link")), 0);
	assert_int_equal(make("shared/link/new", false), -ENOTDIR);
}

static const char *swapped; /* this folder takes the name of the next one that is made */

int mkdirat(int dirfd, const char *name, mode_t mode)
{
	const long r = syscall(SYS_mkdirat, dirfd, name, mode);
	const char *there = TAKE_PTR(swapped);

	if (r == 0 && there) {
		assert_int_equal(renameat(dirfd, name, dirfd, "away"), 0);
		assert_int_equal(renameat(dirfd, there, dirfd, name), 0);
	}
	return (int)r;
}

/* The user may rename root's folders that lie in the user's own. */
static void root_gives_away_only_what_it_has_made(void **state)
{
	struct outdir d;

	needs_root();
	mkdir(at("theirs"), 0755);
	mkdir(at("theirs/roots"), 0755);
	put("theirs/roots/precious", "");
	assert_int_equal(chown(at("theirs"), SOMEBODY, SOMEBODY), 0);
	swapped = "roots";
	assert_int_equal(outdir_open(&d, at("theirs/new/er"), SOMEBODY, SOMEBODY, false), -EAGAIN);
	assert_int_equal(stat_of("theirs/new").st_uid, 0);
	assert_true(exists("theirs/new/precious"));
	assert_false(exists("theirs/new/er"));
}

/* With a user's rights to files, links lead where the user may go, and root's folders stay root's. */
static void a_user_may_do_what_they_may(void **state)
{
	struct workload_user u = { .uid = SOMEBODY, .gid = SOMEBODY };
	struct outdir d;

	needs_root();
	chmod(at("."), 0755);
	mkdir(at("roots"), 0755);
	mkdir(at("theirs"), 0755);
	mkdir(at("theirs/far"), 0755);
	assert_int_equal(symlink("far", at("theirs/near")), 0);
	assert_int_equal(symlink("../roots", at("theirs/link")), 0);
	assert_int_equal(chown(at("theirs"), SOMEBODY, SOMEBODY), 0);
	assert_int_equal(chown(at("theirs/far"), SOMEBODY, SOMEBODY), 0);
	assert_int_equal(privileges_as_user(&u), 0);
	assert_int_equal(outdir_open(&d, at("theirs/near/t"), SOMEBODY, SOMEBODY, false), 0);
	outdir_close(&d);
	assert_int_equal(outdir_open(&d, at("theirs/link"), SOMEBODY, SOMEBODY, false), -ENOTDIR);
	assert_int_equal(outdir_open(&d, at("roots"), SOMEBODY, SOMEBODY, false), -EPERM);
	assert_int_equal(outdir_open(&d, at("theirs/link/t"), SOMEBODY, SOMEBODY, false), -EACCES);
	privileges_as_root();
	assert_int_equal(stat_of("theirs/far/t").st_uid, SOMEBODY);
	assert_int_equal(stat_of("roots").st_uid, 0);
	assert_int_equal(make("roots/t", false), 0);
}

static void failures_are_explained(void **state)
{
	assert_non_null(strstr(outdir_strerror(-EEXIST), "--force"));
	assert_string_equal(outdir_strerror(-EACCES), strerror(EACCES));
	assert_non_null(strstr(outdir_strerror(-ENOSPC), "No space left on device; free some, or"));
}

static void explains(int r, const char *path, const char *want)
{
	struct outdir d = { .fd = -1 };
	char text[2048];

	snprintf(d.path, sizeof(d.path), "%s", path);
	outdir_explain(&d, r, "alice", text, sizeof(text));
	if (!strstr(text, want))
		fail_msg("%s: \"%s\", not \"%s\"", path, text, want);
}

static void failures_name_the_folder_in_the_way(void **state)
{
	char want[PATH_MAX];

	assert_int_equal(mkdir(at("theirs"), 0750), 0);
	assert_int_equal(symlink("nowhere", at("loose")), 0);
	put("file", "");
	snprintf(want, sizeof(want), "Permission denied: %s belongs to ", at("theirs"));
	explains(-EACCES, at("theirs/a/b"), want);
	explains(-EACCES, at("theirs/a/b"),
		 " (mode 0750), and alice may not write there; give a folder of alice with -o");
	explains(-EPERM, at("theirs"), "cannot become the folder of alice: ");
	explains(-ENOENT, at("loose"), "is a symbolic link to a folder that does not exist");
	explains(-ENOTDIR, at("file"), "is not a folder; give a new one with -o");
	explains(-ENOTDIR, at("loose"), "is a symbolic link, which is not followed");
	explains(-EROFS, at("theirs/a"), "Read-only file system; give a folder that can be written");
	explains(-EEXIST, at("theirs"), "--force");
	if (geteuid() == 0 && chown(at("theirs"), SOMEBODY, SOMEBODY) == 0)
		explains(-EACCES, at("theirs/a"), "theirs belongs to user 54321 (mode 0750)");
}

/* A relative name leads nowhere from a folder that was removed. */
static void a_removed_current_folder_is_the_reason(void **state)
{
	autoclose int before = open(".", O_PATH | O_CLOEXEC);

	assert_int_equal(mkdir(at("gone"), 0700), 0);
	assert_int_equal(chdir(at("gone")), 0);
	assert_int_equal(rmdir(at("gone")), 0);
	explains(-ENOENT, "traces", "the current folder has been removed: cd to one that is there");
	explains(-ENOENT, "/traces/x", "No such file or directory");
	assert_int_equal(fchdir(before), 0);
	explains(-ENOENT, "traces", "No such file or directory");
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, clean_up)

static void knows_how_files_of_traces_are_called(void **state)
{
	static const char *const are[] = {
		"manifest.json",     "manifest.json.tmp",      "vfs_rw.out",
		"vfs_rw.000001.out", "vfs_rw.000001.out.zst",  "cpu.out.gz",
		"open.out.gz.tmp",   "vfs_rw.out.new",         "workload.log",
		"dltraced.log",      "of_a_later_version.out",
	};
	static const char *const are_not[] = { "report.html", "page",    "manifest.html",   "out",
					       ".out",        "run.log", "manifest.json.gz" };

	for (size_t i = 0; i < ARRAY_SIZE(are); i++)
		assert_true(outdir_is_name(are[i]));
	for (size_t i = 0; i < ARRAY_SIZE(are_not); i++)
		assert_false(outdir_is_name(are_not[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(expands_every_escape),
		cmocka_unit_test(default_has_the_time_or_the_job),
		cmocka_unit_test(names_come_from_the_environment),
		cmocka_unit_test(environment_cannot_lead_elsewhere),
		cmocka_unit_test(parts_are_safe_in_a_path),
		IN_FOLDER(makes_the_folder_and_its_parents),
		IN_FOLDER(relative_names_start_here),
		IN_FOLDER(links_lead_to_the_parent_but_are_no_folder),
		IN_FOLDER(takes_an_empty_folder),
		IN_FOLDER(refuses_what_is_no_empty_folder),
		IN_FOLDER(replaces_a_trace_by_force_alone),
		IN_FOLDER(old_trace_stays_until_it_is_cleared),
		IN_FOLDER(discarding_leaves_older_files),
		IN_FOLDER(names_what_could_not_be_had),
		IN_FOLDER(force_needs_a_manifest_of_dltraced),
		IN_FOLDER(running_trace_keeps_its_folder),
		IN_FOLDER(shared_folder_is_refused),
		IN_FOLDER(folder_of_another_user_is_refused),
		IN_FOLDER(all_that_is_made_belongs_to_the_user),
		IN_FOLDER(root_follows_no_link_of_others),
		IN_FOLDER(root_gives_away_only_what_it_has_made),
		IN_FOLDER(a_user_may_do_what_they_may),
		cmocka_unit_test(failures_are_explained),
		IN_FOLDER(failures_name_the_folder_in_the_way),
		IN_FOLDER(a_removed_current_folder_is_the_reason),
		cmocka_unit_test(knows_how_files_of_traces_are_called),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
