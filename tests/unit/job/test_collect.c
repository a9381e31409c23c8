/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/rights/workload_user.h"
#include "job/collect.h"

#include <signal.h>

#include "host/helper.h"
#include "job/workload.h"
#include "trace/config.h"
#include "tree.h"

#define GLOBS(...)                                                                                       \
	&(struct config_list)                                                                            \
	{                                                                                                \
		.items = { __VA_ARGS__ }, .n = sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *), \
	}

#define NEEDS_ROOT()                                                                    \
	do {                                                                            \
		if (geteuid() != 0) {                                                   \
			print_message("skipped: needs root, to become another user\n"); \
			skip();                                                         \
		}                                                                       \
	} while (0)

static struct workload_user user;
static char error[512];

/* Makes the trace folder, and beside it the working directory. */
static int enter(void **state)
{
	autofree char *work = NULL, *trace = NULL;

	if (tree_make(state) < 0)
		return -1;
	work = tree_path("work/");
	trace = tree_path("trace/");
	setenv("HOME", tree, 1);
	return chdir(work) < 0 ? -1 : workload_user_get(&user, NULL);
}

static int leave(void **state)
{
	workload_user_free(&user);
	return chdir("/") < 0 ? -1 : tree_remove(state);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, enter, leave)

static int collect(const struct config_list *globs)
{
	autofree char *dir = tree_path("trace");
	autoclose int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	return collect_files(&user, dir, fd, globs, error, sizeof(error));
}

static int archive(const char *name)
{
	autofree char *dir = tree_path(name);

	return collect_archive(&user, dir, error, sizeof(error));
}

static bool exists(const char *name)
{
	autofree char *path = tree_path(name);

	return access(path, F_OK) == 0;
}

static void expect_file(const char *name, const char *text)
{
	autofree char *got = tree_get(name);

	assert_string_equal(got, text);
}

static void expect_error(const char *text)
{
	if (!strstr(error, text))
		fail_msg("'%s' is not in '%s'", text, error);
}

/* Gives a file or folder of the tree to nobody, whom USER becomes. */
static void give_to_nobody(const char *name)
{
	autofree char *path = tree_path(name);

	workload_user_free(&user);
	assert_int_equal(workload_user_get(&user, "nobody"), 0);
	assert_int_equal(chmod(tree, 0755), 0);
	assert_int_equal(chown(path, user.uid, user.gid), 0);
}

/* --- files ----------------------------------------------------------------------------------- */

static void copies_files_under_their_relative_paths(void **state)
{
	tree_put("work/a.log", "a");
	tree_put("work/b.log", "b");
	tree_put("work/c.txt", "c");
	tree_put("work/deep/er/d.csv", "");
	assert_int_equal(collect(GLOBS("*.log", "./deep/*/d.{csv,tsv}")), 0);
	assert_string_equal(error, "");
	expect_file("trace/collected/a.log", "a");
	expect_file("trace/collected/b.log", "b");
	expect_file("trace/collected/deep/er/d.csv", "");
	assert_false(exists("trace/collected/c.txt"));
}

static void keeps_mode_and_times(void **state)
{
	const struct timespec times[] = { { 1000, 1 }, { 2000, 2 } };
	autofree char *copy = util_fmt("%s/trace/collected/run.sh", tree);
	struct stat st;

	tree_put("work/run.sh", "#!/bin/sh\n");
	assert_int_equal(chmod("run.sh", 0500), 0);
	assert_int_equal(utimensat(AT_FDCWD, "run.sh", times, 0), 0);
	assert_int_equal(collect(GLOBS("run.sh")), 0);
	assert_int_equal(stat(copy, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0500);
	assert_int_equal(timespec_ns(&st.st_mtim), timespec_ns(&times[1]));
}

static void copies_all_of_a_large_file(void **state)
{
	const size_t len = (3 << 20) + 7;
	autofree char *copy = util_fmt("%s/trace/collected/big", tree);
	autofree char *text = calloc(1, len + 1), *got = NULL;
	size_t n;

	for (size_t i = 0; i < len; i++)
		text[i] = (char)('a' + i % 23);
	tree_put("work/big", text);
	assert_int_equal(collect(GLOBS("big")), 0);
	assert_int_equal(util_read_file(copy, 2 * len, &got, &n), 0);
	assert_int_equal(n, len);
	assert_memory_equal(got, text, len);
}

static void paths_do_not_lead_out_of_the_folder(void **state)
{
	autofree char *absolute = tree_path("work/abs"), *copy = util_fmt("trace/collected%s", absolute);

	tree_put("work/abs", "absolute");
	tree_put("above", "above");
	tree_put("work/x/..y", "dots");
	assert_int_equal(collect(GLOBS(absolute, "x/../../above", "x/..y")), 0);
	expect_file(copy, "absolute");
	expect_file("trace/collected/above", "above");
	expect_file("trace/collected/x/..y", "dots");
}

static void tilde_is_the_users_home(void **state)
{
	autofree char *home = tree_path("home"), *copy = util_fmt("trace/collected%s/.conf", home);
	autofree char *entry = util_fmt("HOME=%s", home);

	tree_put("home/.conf", "c");
	user.environ = calloc(2, sizeof(char *));
	user.environ[0] = entry;
	assert_int_equal(collect(GLOBS("~/.conf")), 0);
	expect_file(copy, "c");
}

static void a_file_of_two_globs_is_copied_once(void **state)
{
	tree_put("work/a.log", "a");
	assert_int_equal(collect(GLOBS("*.log", "a*", "{a,a}.log")), 0);
	expect_file("trace/collected/a.log", "a");
}

static void skips_what_is_no_regular_file(void **state)
{
	tree_put("work/a.log", "a");
	tree_put("work/dir/x", "");
	assert_int_equal(symlink("a.log", "link"), 0);
	assert_int_equal(mkfifo("pipe", 0600), 0);
	assert_int_equal(collect(GLOBS("*")), -ENOTSUP);
	assert_string_equal(error, "--collect: 1 copied; 3 skipped, not being regular files (first: dir)");
	expect_file("trace/collected/a.log", "a");
	assert_false(exists("trace/collected/link"));
}

static void says_what_matches_nothing(void **state)
{
	tree_put("work/a.log", "a");
	assert_int_equal(collect(GLOBS("*.ckpt", "a.log", "none here")), -ENOENT);
	assert_string_equal(error, "--collect: 1 copied; 2 without a match (first: *.ckpt)");
	expect_file("trace/collected/a.log", "a");
}

static void goes_on_after_a_file_that_fails(void **state)
{
	tree_put("above", "1");
	tree_put("work/above", "2");
	tree_put("work/z", "z");
	assert_int_equal(collect(GLOBS("../above", "above", "z")), -EEXIST);
	assert_string_equal(error, "--collect: 2 copied; 1 failed (above: File exists)");
	expect_file("trace/collected/above", "1");
	expect_file("trace/collected/z", "z");
}

static void names_cannot_forge_messages(void **state)
{
	assert_int_equal(mkdir("evil\n\033[2J", 0700), 0);
	assert_int_equal(collect(GLOBS("evil*")), -ENOTSUP);
	expect_error("(evil\\012\\033[2J)");
}

static void leaves_an_older_collection_alone(void **state)
{
	tree_put("work/a", "new");
	tree_put("trace/collected/a", "old");
	assert_int_equal(collect(GLOBS("a")), -EEXIST);
	expect_error("/trace/collected: File exists");
	expect_file("trace/collected/a", "old");
}

static void reads_nothing_that_the_user_may_not(void **state)
{
	NEEDS_ROOT();
	tree_put("work/secret", "s");
	tree_put("work/public", "p");
	assert_int_equal(chmod("public", 0644), 0);
	assert_int_equal(chmod(".", 0755), 0);
	give_to_nobody("trace");
	assert_int_equal(collect(GLOBS("public", "secret")), -EACCES);
	expect_error("1 copied; 1 failed (secret: Permission denied)");
	expect_file("trace/collected/public", "p");
	assert_false(exists("trace/collected/secret"));
}

static void interrupted_leaves_no_half_file(void **state)
{
	sigset_t term, old;

	tree_put("work/endless", "");
	assert_int_equal(truncate("endless", 1L << 40), 0);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, &old);
	raise(SIGTERM);
	assert_int_equal(collect(GLOBS("endless")), -EINTR);
	expect_error("0 copied; 1 failed (endless: Interrupted");
	assert_true(exists("trace/collected"));
	assert_false(exists("trace/collected/endless"));
	sigprocmask(SIG_SETMASK, &old, NULL); /* this takes the pending signal */
}

/* --- the archive ----------------------------------------------------------------------------- */

static void packs_the_folder_under_its_own_name(void **state)
{
	tree_put("-odd \\t/a.out", "a");
	tree_put("-odd \\t/collected/b", "b");
	assert_int_equal(archive("-odd \\t"), 0);
	assert_string_equal(error, "");
	assert_false(exists("-odd \\t.tar.gz.part"));
	assert_int_equal(chdir(tree), 0);
	assert_int_equal(system("mkdir out && tar -xzf './-odd \\t.tar.gz' -C out"), 0);
	expect_file("out/-odd \\t/a.out", "a");
	expect_file("out/-odd \\t/collected/b", "b");
}

static void never_replaces_an_archive(void **state)
{
	tree_put("trace.tar.gz", "old");
	assert_int_equal(archive("trace"), -EEXIST);
	expect_error("/trace.tar.gz: File exists");
	expect_file("trace.tar.gz", "old");
}

static void keeps_out_of_anothers_part(void **state)
{
	tree_put("trace.tar.gz.part", "somebody's");
	assert_int_equal(archive("trace"), -EEXIST);
	expect_error("/trace.tar.gz.part: File exists");
	expect_file("trace.tar.gz.part", "somebody's");
}

static void an_archive_is_whole_or_not_there(void **state)
{
	NEEDS_ROOT();
	tree_put("given/trace/secret", "of root");
	give_to_nobody("given");
	give_to_nobody("given/trace");
	assert_int_equal(archive("given/trace"), -EIO);
	expect_error("/given/trace.tar.gz: tar ended with status 2");
	assert_false(exists("given/trace.tar.gz"));
	assert_false(exists("given/trace.tar.gz.part"));
}

static void packs_only_where_the_user_may_write(void **state)
{
	NEEDS_ROOT();
	give_to_nobody("trace");
	assert_int_equal(archive("trace"), -EACCES);
	expect_error("/trace.tar.gz.part: Permission denied");
}

/* Runs F with a tar that is the shell script TEXT. */
static void with_tar(const char *text, void (*f)(void))
{
	autofree char *path = strdup(getenv("PATH")), *bin = tree_path("bin");
	autofree char *tar = tree_path("bin/tar"), *ours = util_fmt("%s:%s", bin, path);

	tree_put("bin/tar", text);
	assert_int_equal(chmod(tar, 0755), 0);
	helper_trust_path();
	setenv("PATH", *text ? ours : tree, 1);
	f();
	setenv("PATH", path, 1);
}

static void expect_no_tar(void)
{
	assert_int_equal(archive("trace"), -ENOENT);
	assert_string_equal(error, "tar: No such file or directory");
}

static void says_that_there_is_no_tar(void **state)
{
	with_tar("", expect_no_tar);
	assert_false(exists("trace.tar.gz.part"));
}

static void expect_interruption(void)
{
	assert_int_equal(archive("trace"), -EINTR);
}

static void interrupted_leaves_no_half_archive(void **state)
{
	autofree char *text = util_fmt("#!/bin/sh\nkill -TERM %d\n" NEVER_ANSWERS "\n", getpid());

	with_tar(text, expect_interruption);
	expect_error("/trace.tar.gz: Interrupted system call");
	assert_false(exists("trace.tar.gz"));
	assert_false(exists("trace.tar.gz.part"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(copies_files_under_their_relative_paths),
		TEST(keeps_mode_and_times),
		TEST(copies_all_of_a_large_file),
		TEST(paths_do_not_lead_out_of_the_folder),
		TEST(tilde_is_the_users_home),
		TEST(a_file_of_two_globs_is_copied_once),
		TEST(skips_what_is_no_regular_file),
		TEST(says_what_matches_nothing),
		TEST(goes_on_after_a_file_that_fails),
		TEST(names_cannot_forge_messages),
		TEST(leaves_an_older_collection_alone),
		TEST(reads_nothing_that_the_user_may_not),
		TEST(interrupted_leaves_no_half_file),
		TEST(packs_the_folder_under_its_own_name),
		TEST(never_replaces_an_archive),
		TEST(keeps_out_of_anothers_part),
		TEST(an_archive_is_whole_or_not_there),
		TEST(packs_only_where_the_user_may_write),
		TEST(says_that_there_is_no_tar),
		TEST(interrupted_leaves_no_half_archive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
