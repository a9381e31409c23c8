/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/rights/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util.h"

static bool is(const char *uids, const char *gids, const char *caps)
{
	const struct owner o = { .uid = 1000, .gid = 5, .groups = (const gid_t[]){ 20, 6 }, .n_groups = 2 };
	char text[512], why[128];

	snprintf(text, sizeof(text), "Name:\tsh\\\\nUid:\t7\nUid:\t%s\nGid:\t%s\nCapPrm:\t%s\n", uids, gids, caps);
	return owner_is_thread(text, &o, why, sizeof(why));
}

static void all_four_uids_count(void **state)
{
	assert_true(is("1000\t1000\t1000\t1000", "5\t5\t5\t5", "0000000000000000"));
	assert_false(is("0\t1000\t1000\t1000", "5\t5\t5\t5", "0000000000000000"));
	assert_false(is("1000\t0\t1000\t1000", "5\t5\t5\t5", "0000000000000000"));
	assert_false(is("1000\t1000\t0\t1000", "5\t5\t5\t5", "0000000000000000"));
	assert_false(is("1000\t1000\t1000\t0", "5\t5\t5\t5", "0000000000000000"));
	assert_false(is("1000\t1000\t1000", "5\t5\t5\t5", "0000000000000000"));
}

static void groups_and_capabilities_count(void **state)
{
	assert_false(is("1000\t1000\t1000\t1000", "5\t4\t5\t5", "0000000000000000"));
	assert_false(is("1000\t1000\t1000\t1000", "5\t5\t5\t4", "0000000000000000"));
	/* newgrp(1) and sg(1): with a group of the user, and with another one */
	assert_true(is("1000\t1000\t1000\t1000", "6\t6\t6\t6", "0000000000000000"));
	assert_false(is("1000\t1000\t1000\t1000", "7\t7\t7\t7", "0000000000000000"));
	assert_false(is("1000\t1000\t1000\t1000", "5\t5\t5\t5", "0000000000000400"));
	assert_false(is("1000\t1000\t1000\t1000", "5\t5\t5\t5", ""));
}

static pid_t child(bool drop)
{
	int fds[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		const pid_t parent = getppid();

		if ((drop && (setgid(12345) < 0 || setuid(12345) < 0)) || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 ||
		    getppid() != parent)
			_exit(1);
		(void)!write(fds[1], "x", 1);
		for (;;)
			pause();
	}
	assert_int_equal(read(fds[0], &c, 1), 1);
	close(fds[0]);
	close(fds[1]);
	return pid;
}

/* A process that was root's, and has executed nothing since, may have root's secrets in memory. */
static void a_process_that_had_more_rights_is_not_his(void **state)
{
	const struct owner his = { .uid = 12345, .gid = 12345 }, others = { .uid = 12346, .gid = 12345 };
	char why[128];
	pid_t pid;

	if (geteuid()) {
		print_message("needs root\n");
		skip();
	}
	pid = child(true);
	assert_false(owner_is(pid, &his, why, sizeof(why)));
	assert_non_null(strstr(why, "it had rights"));
	assert_false(owner_is(pid, &others, why, sizeof(why)));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void a_pidfd_names_its_process(void **state)
{
	pid_t pid = child(false);
	int fd = util_pidfd_open(pid), null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_int_equal(owner_pidfd_pid(fd), pid);
	assert_false(owner_pidfd_ended(fd));
	assert_int_equal(owner_pidfd_pid(null), -EINVAL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(owner_pidfd_pid(fd), -ESRCH);
	assert_true(owner_pidfd_ended(fd));
	close(fd);
	close(null);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_four_uids_count),
		cmocka_unit_test(groups_and_capabilities_count),
		cmocka_unit_test(a_process_that_had_more_rights_is_not_his),
		cmocka_unit_test(a_pidfd_names_its_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
