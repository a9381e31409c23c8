/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/exec_error.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util.h"

static char folder[] = "/tmp/test_exec_error_XXXXXX";

static void put(const char *name, const char *text, mode_t mode)
{
	autoclose int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
}

/* Executes NAME by execvp, which is the witness: returns its -errno. */
static int execute(const char *name)
{
	int fds[2], r = 0;
	pid_t pid;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		execlp(name, name, NULL);
		r = -errno;
		_exit(write(fds[1], &r, sizeof(r)) < 0);
	}
	close(fds[1]);
	assert_true(read(fds[0], &r, sizeof(r)) >= 0);
	close(fds[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return r;
}

static void becomes(const char *name, int r, const char *want)
{
	char text[512];

	assert_int_equal(execute(name), r);
	exec_error_text(name, getenv("PATH"), r, text, sizeof(text));
	if (strncmp(text, want, strlen(want)))
		fail_msg("%s: '%s', not '%s'", name, text, want);
}

static void words_of_a_shell(void **state)
{
	becomes("cd", -ENOENT,
		"a word of the shell, not a program: give the whole line to a shell, by --workload \"cd ...\"");
	becomes("source", -ENOENT,
		"a word of the shell, not a program: give the whole line to a shell, by -- bash -c \"source ...\"");
	becomes("FOO=1", -ENOENT,
		"an assignment, which only a shell understands: -- env FOO=1 ..., or --workload \"FOO=1 ...\"");
	becomes("_a9=", -ENOENT, "an assignment");
	becomes("9a=1", -ENOENT, "no such program in PATH");
	becomes("python3 train.py", -ENOENT, "one word with blanks");
	becomes("/no/python3 train.py", -ENOENT, "one word with blanks");
	becomes("", -ENOENT, "the command is an empty word");
}

static void names_that_lead_nowhere(void **state)
{
	put("train.py", "print()\n", 0644);
	becomes("train.py", -ENOENT,
		"not a program in PATH; the file in this folder is ./train.py, or by its interpreter, as in -- "
		"python3 train.py");
	becomes("no-such-program", -ENOENT, "no such program in PATH");
	becomes("./none", -ENOENT, "No such file or directory");
	assert_int_equal(symlink("none", "dangling"), 0);
	becomes("./dangling", -ENOENT, "a symbolic link to a file that does not exist");
}

static void interpreters_that_are_missing(void **state)
{
	char text[512];

	put("script", "#! /usr/bin/pyton -u\nprint()\n", 0755);
	becomes("./script", -ENOENT,
		"a script whose interpreter does not exist: its first line names /usr/bin/pyton: correct");
	put("in-path", "#!/none", 0755);
	setenv("PATH", folder, 1);
	becomes("in-path", -ENOENT, "a script whose interpreter does not exist: its first line names /none: correct");
	put("windows", "#!/bin/sh\r\necho\r\n", 0755);
	becomes("./windows", -ENOENT,
		"a script whose first line ends with a carriage return, as on Windows: sed -i 's/\\r$//' ./windows");
	put("data", "#!/etc/passwd\n", 0755);
	becomes("./data", -EACCES, "a script whose interpreter cannot be executed: its first line names /etc/passwd");
	/* nothing with another system's loader can be made here; a file that is there, and for which there is ENOENT,
	 * is one */
	put("other", "\177ELF", 0755);
	exec_error_text("./other", NULL, -ENOENT, text, sizeof(text));
	assert_non_null(strstr(text, "not the loader that it was built for"));
	put("empty", "", 0755);
	exec_error_text("./empty", NULL, -ENOENT, text, sizeof(text));
	assert_non_null(strstr(text, "not the loader that it was built for"));
}

static void files_that_are_no_programs(void **state)
{
	char text[512];

	put("plain", "echo\n", 0644);
	becomes("./plain", -EACCES,
		"not executable by this user: chmod +x ./plain, or name its interpreter, as in -- python3 ./plain");
	becomes("/tmp", -EACCES, "a folder, not a program");
	becomes("/dev/null", -EACCES, "not a file with a program");
	exec_error_text("/bin/true", NULL, -EAGAIN, text, sizeof(text));
	assert_non_null(strstr(text, "ulimit -u"));
	exec_error_text("/bin/true", NULL, -E2BIG, text, sizeof(text));
	assert_non_null(strstr(text, "ARG_MAX"));
	exec_error_text("/bin/true", NULL, -EIO, text, sizeof(text));
	assert_string_equal(text, strerror(EIO));
}

/* A first line that does not end, has no text, or is longer than any name. */
static void hostile_files_are_read_in_part(void **state)
{
	char line[8192], text[512];

	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	memcpy(line, "#!/", 3);
	put("long", line, 0755);
	exec_error_text("./long", NULL, -ENOENT, text, sizeof(text));
	assert_true(strlen(text) < 512);
	put("none", "#!\n", 0755);
	exec_error_text("./none", NULL, -ENOENT, text, sizeof(text));
	assert_non_null(strstr(text, "names none"));
	exec_error_text(line, NULL, -ENAMETOOLONG, text, sizeof(text));
	assert_string_equal(text, strerror(ENAMETOOLONG));
}

static int enter_folder(void **state)
{
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
	static const char *const names[] = { "train.py", "dangling", "script", "in-path", "windows", "data",
					     "other",    "empty",    "plain",  "long",    "none" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		unlink(names[i]);
	return chdir("/") == 0 ? rmdir(folder) : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_of_a_shell),
		cmocka_unit_test(names_that_lead_nowhere),
		cmocka_unit_test(interpreters_that_are_missing),
		cmocka_unit_test(files_that_are_no_programs),
		cmocka_unit_test(hostile_files_are_read_in_part),
	};

	return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
