/* SPDX-License-Identifier: BSD-2-Clause */
/* A child has the descriptors that it should have, and no other: by fcntl(2) in a child, and by `ls' in a program. */
#include "os/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define FIRST 20
#define LAST 700 /* more than one read of a folder has */

static void open_many(void)
{
	const struct rlimit limit = { 1024, 1024 };

	setrlimit(RLIMIT_NOFILE, &limit);
	for (int fd = FIRST - 2; fd <= LAST; fd++)
		assert_int_equal(dup2(STDIN_FILENO, fd), fd);
}

/* As a kernel before 5.9 answers. */
static bool lacks_close_range(void)
{
	struct sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 436, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(program) / sizeof(program[0]), program };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) &&
	       syscall(436, 5000U, ~0U, 0U) < 0 && errno == ENOSYS;
}

/* The number of open descriptors from FROM on. */
static int open_from(int from)
{
	int n = 0;

	for (int fd = from; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Returns the status of a child: 0, when just the descriptors from FIRST on are gone. */
static int close_in_child(bool old_kernel)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		open_many();
		if (old_kernel && !lacks_close_range())
			_exit(2);
		descriptors_close_from(FIRST);
		_exit(open_from(FIRST) ? 3 : open_from(FIRST - 2) != 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void closes_from_a_number_on(void **state)
{
	assert_int_equal(close_in_child(false), 0);
}

static void closes_where_the_kernel_has_no_call_for_it(void **state)
{
	assert_int_equal(close_in_child(true), 0);
}

/* ls prints 0, 1, 2, the two below FIRST, and the folder that it reads. */
static void a_spawned_program_has_no_others(void **state)
{
	char *argv[] = { (char *)"ls", (char *)"/proc/self/fd", NULL }, *env[] = { NULL }, text[8192] = "";
	posix_spawn_file_actions_t actions;
	int ends[2], status;
	size_t len = 0;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	open_many();
	posix_spawn_file_actions_init(&actions);
	assert_int_equal(posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO), 0);
	assert_int_equal(descriptors_spawn_close_from(&actions, FIRST), 0);
	assert_int_equal(posix_spawnp(&pid, "ls", &actions, NULL, argv, env), 0);
	posix_spawn_file_actions_destroy(&actions);
	for (int fd = FIRST - 2; fd <= LAST; fd++)
		close(fd);
	close(ends[1]);
	while ((n = read(ends[0], text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)n;
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_non_null(strstr(text, "18\n19\n"));
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(atoi(line) < FIRST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(closes_from_a_number_on),
		cmocka_unit_test(closes_where_the_kernel_has_no_call_for_it),
		cmocka_unit_test(a_spawned_program_has_no_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
