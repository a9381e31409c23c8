/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/path_search.h"
#include "host/rights/workload_user.h"
#include "job/workload.h"

#include <grp.h>
#include <limits.h>
#include <pwd.h>

#include "os/env.h"
#include "workload_fixture.h"

static void expect_env(char *const *env, const char *entry)
{
	const char *found = env_find(env, entry);

	assert_non_null(found);
	assert_string_equal(found, entry);
}

/* --- users ----------------------------------------------------------------------------------- */

static void is_ourselves_when_nobody_else_is_named(void **state)
{
	struct workload_user u;

	assert_int_equal(unsetenv("SUDO_UID"), 0);
	assert_int_equal(workload_user_get(&u, NULL), 0);
	assert_int_equal(u.uid, geteuid());
	assert_int_equal(u.gid, getegid());
	assert_false(u.sudo);
	assert_null(u.environ);
	assert_null(u.lacks);
	workload_user_free(&u);
}

static void takes_a_user_by_name_or_number(void **state)
{
	const struct passwd nobody = *getpwnam("nobody");
	autofree char *home = util_fmt("HOME=%s", nobody.pw_dir);
	autofree char *number = util_fmt("%u", nobody.pw_uid);
	const char *const names[] = { "nobody", number };
	struct workload_user u;

	assert_int_equal(setenv("KEPT", "yes", 1), 0);
	assert_int_equal(setenv("HOME", "/somewhere", 1), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_int_equal(workload_user_get(&u, names[i]), 0);
		assert_int_equal(u.uid, nobody.pw_uid);
		assert_int_equal(u.gid, nobody.pw_gid);
		assert_int_equal(u.groups[0], nobody.pw_gid);
		assert_string_equal(u.name, "nobody");
		expect_env(u.environ, home);
		expect_env(u.environ, "USER=nobody");
		expect_env(u.environ, "LOGNAME=nobody");
		expect_env(u.environ, "KEPT=yes");
		assert_null(u.lacks);
		workload_user_free(&u);
	}
}

static void refuses_unknown_users(void **state)
{
	/* 4294967295 is (uid_t)-1, which setresuid() takes for "no change". */
	static const char *const names[] = { "", "no-such-user", "-1", "0x0", "1 ", "+0", "4294967295", "4294967296" };
	struct workload_user u;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(workload_user_get(&u, names[i]), -ENOENT);
}

static void environments_merge_by_name(void **state)
{
	char *const base[] = { "A=1", "AB=2", "odd", "C=", "A=3", NULL };
	char *const over[] = { "A=x", "NEW=y", NULL };
	autofree char **env = env_merge(base, over);
	static const char *const want[] = { "AB=2", "odd", "C=", "A=x", "NEW=y" };

	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		assert_string_equal(env[i], want[i]);
	assert_null(env[ARRAY_SIZE(want)]);
}

/* As in /proc/PID/environ, which its process may have overwritten: the last one without its end. */
static void strings_are_split_at_their_ends(void **state)
{
	autofree char **some = env_strings("A=1\0\0B=2", 8), **none = env_strings("", 0);

	assert_string_equal(some[0], "A=1");
	assert_string_equal(some[1], "");
	assert_string_equal(some[2], "B=2");
	assert_null(some[3]);
	assert_null(none[0]);
}

/* --- sudo ------------------------------------------------------------------------------------ */

/*
 * A stand-in for sudo: this program under that name, set-user-ID root. With use_pty it forks a monitor, drops its
 * environment, changes the umask and runs its arguments after VAR=VALUE ones.
 */
static int be_sudo(char **argv)
{
	char *env[8] = { "SUDO_UID=65534", "SUDO_GID=65533", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root",
			 "SET_BY_SUDO=1" };
	int n = 5, status;
	pid_t monitor = fork(), command;

	if (monitor) {
		waitpid(monitor, &status, 0);
		return exit_code_of(status);
	}
	for (argv++; strchr(*argv, '='); argv++)
		env[n++] = *argv;
	command = fork();
	if (!command) {
		umask(077);
		execve(*argv, argv, env);
		_exit(125);
	}
	waitpid(command, &status, 0);
	return exit_code_of(status);
}

/* Prints what dltraced would make of its place under sudo, one value per line. */
static int print_user(void)
{
	struct workload_user u;
	int r = workload_user_get(&u, NULL);

	if (r < 0)
		return 125;
	printf("%u %u %d %04o %s\n", u.uid, u.gid, u.sudo, u.umask, u.lacks ? u.lacks : "-");
	for (char **e = u.environ; *e; e++)
		printf("%s\n", *e);
	workload_user_free(&u);
	return 0;
}

static char *new_sudo(struct fixture *f)
{
	char *sudo = util_fmt("%s/sudo", f->dir);
	autofree char *cp = util_fmt("cp /proc/%d/exe %s && chmod 4755 %s", getpid(), sudo, sudo);

	assert_int_equal(system(cp), 0);
	return sudo;
}

static void expect_output(const char *cmd, const char *text)
{
	FILE *p = popen(cmd, "r");
	size_t len;
	autofree char *out = NULL;

	assert_non_null(p);
	out = slurp(fileno(p), &len);
	assert_int_equal(pclose(p), 0);
	assert_string_equal(out, text);
}

static void gives_back_what_sudo_took(void **state)
{
	struct fixture *f = *state;
	autofree char *sudo = NULL, *cmd = NULL;

	NEEDS_ROOT();
	sudo = new_sudo(f);
	cmd = util_fmt("umask 0027; env -i PATH=/opt/conda/bin:/usr/bin 'ODD=a b' HOME=/home/u "
		       "GPUS=all %s GPUS=0 NEW=1 /proc/%d/exe --print-user; exit $?",
		       sudo, getpid());
	expect_output(cmd, "65534 65533 1 0027 -\nPATH=/opt/conda/bin:/usr/bin\nODD=a b\n"
			   "HOME=/home/u\nGPUS=0\nNEW=1\n");
}

static void says_what_it_cannot_give_back(void **state)
{
	struct workload_user u;

	NEEDS_ROOT();
	assert_int_equal(setenv("SUDO_UID", "65534", 1), 0);
	assert_int_equal(setenv("SUDO_GID", "65534", 1), 0);
	assert_int_equal(workload_user_get(&u, NULL), 0);
	assert_true(u.sudo);
	assert_int_equal(u.uid, 65534);
	/* If the test itself runs under sudo, there is an environment to restore. */
	if (u.lacks)
		assert_non_null(strstr(u.lacks, "before sudo"));
	assert_non_null(u.environ);
	workload_user_free(&u);
	assert_int_equal(workload_user_get(&u, "root"), 0);
	assert_false(u.sudo);
	workload_user_free(&u);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
}

static void does_not_believe_a_forged_sudo_uid(void **state)
{
	static const char *const forged[] = { "4294967295", "-1", "", "abc", "1x" };
	struct workload_user u;

	for (size_t i = 0; i < ARRAY_SIZE(forged); i++) {
		assert_int_equal(setenv("SUDO_UID", forged[i], 1), 0);
		assert_int_equal(workload_user_get(&u, NULL), 0);
		assert_int_equal(u.uid, geteuid());
		assert_false(u.sudo);
		workload_user_free(&u);
	}
	unsetenv("SUDO_UID");
}

/* --- PATH ------------------------------------------------------------------------------------ */

/* Returns what execvp itself returns: 0 when it ran something, else -errno. */
static int execvp_says(struct fixture *f, char *name, char *path)
{
	struct workload_user u = f->self;
	autofree char *entry = util_fmt("PATH=%s", path);
	int r;

	u.environ = (char *[]){ entry, NULL };
	assert_int_equal(workload_prepare(&f->w, (char *[]){ name, NULL }, &u, -1), 0);
	r = workload_go(&f->w);
	if (!r)
		assert_int_equal(await_exit(&f->w), 0);
	workload_free(&f->w);
	return r;
}

static void resolves_names_as_execvp_does(void **state)
{
	struct fixture *f = *state;
	static const struct {
		char *name, *path, *want; /* want NULL: an error */
		int r;
	} cases[] = {
		{ "tool", "good", "good/tool", 0 },
		{ "tool", "none:good", "good/tool", 0 },
		{ "tool", "plain:good", "good/tool", 0 },
		{ "tool", "dir:good:other", "good/tool", 0 },
		{ "tool", "file:good", "good/tool", 0 },
		{ "tool", "plain:none", NULL, -EACCES },
		{ "tool", "dir", NULL, -EACCES },
		{ "tool", "none", NULL, -ENOENT },
		{ "here", "", "./here", 0 },
		{ "here", ":good", "./here", 0 },
		{ "here", "good:", "./here", 0 },
		{ "here", "none::good", "./here", 0 },
		{ "here", "good", NULL, -ENOENT },
		{ "good/tool", "none", "good/tool", 0 },
		{ "plain/tool", "good", NULL, -EACCES },
		{ "./dir", "good", NULL, -EACCES },
		{ "none/tool", "good", NULL, -ENOENT },
		{ "", "good", NULL, -ENOENT },
	};
	autofree char *make = util_fmt("cd %s && mkdir -p good other plain dir/tool &&"
				       "touch plain/tool file && printf '#!/bin/sh\\n' >here &&"
				       "chmod 755 here && cp here good/tool && cp here other/tool",
				       f->dir);
	char cwd[PATH_MAX], buf[PATH_MAX];

	assert_int_equal(system(make), 0);
	assert_non_null(getcwd(cwd, sizeof(cwd)));
	assert_return_code(chdir(f->dir), errno);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int r = path_search(cases[i].name, cases[i].path, buf, sizeof(buf));

		if (r != cases[i].r)
			print_message("%s in PATH=%s\n", cases[i].name, cases[i].path);
		assert_int_equal(r, cases[i].r);
		assert_int_equal(execvp_says(f, cases[i].name, cases[i].path), r);
		if (cases[i].want)
			assert_string_equal(buf, cases[i].want);
	}
	assert_return_code(chdir(cwd), errno);
}

static void looks_in_the_standard_path_when_none_is_set(void **state)
{
	char buf[PATH_MAX];

	assert_int_equal(path_search("sh", NULL, buf, sizeof(buf)), 0);
	assert_int_equal(buf[0], '/');
}

static void names_too_long_are_reported(void **state)
{
	char name[NAME_MAX + 2], buf[PATH_MAX];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(path_search(name, "/bin", buf, sizeof(buf)), -ENAMETOOLONG);
	assert_int_equal(path_search("/bin/sh", "", buf, 4), -ENAMETOOLONG);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_ourselves_when_nobody_else_is_named),
		cmocka_unit_test(takes_a_user_by_name_or_number),
		cmocka_unit_test(refuses_unknown_users),
		cmocka_unit_test(environments_merge_by_name),
		cmocka_unit_test(strings_are_split_at_their_ends),
		TEST(gives_back_what_sudo_took),
		cmocka_unit_test(says_what_it_cannot_give_back),
		cmocka_unit_test(does_not_believe_a_forged_sudo_uid),
		TEST(resolves_names_as_execvp_does),
		cmocka_unit_test(looks_in_the_standard_path_when_none_is_set),
		cmocka_unit_test(names_too_long_are_reported),
	};
	size_t len = strlen(argv[0]);

	if (len >= 5 && !strcmp(argv[0] + len - 5, "/sudo"))
		return be_sudo(argv);
	if (argc == 2 && !strcmp(argv[1], "--print-user"))
		return print_user();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
