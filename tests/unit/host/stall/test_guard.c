/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/stall/guard.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"
#include "base/util.h"
#include "temp.h"

/* A child that waits for ever, with SIG pending; the guard gives CODE. */
static pid_t hangs(int code, int sig)
{
	pid_t pid = fork_bound();
	int fds[2];
	sigset_t set;
	char c;

	if (pid)
		return pid;
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), sig);
	if (pipe(fds) < 0)
		_exit(1);
	log_to(open("/dev/null", O_WRONLY | O_CLOEXEC));
	stall_guard_begin("a server", code);
	(void)!read(fds[0], &c, 1);
	_exit(2);
}

static int status_of(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void names_the_file_that_hangs_and_ends_by_a_signal_that_waits(void **state)
{
	pid_t by_signal = hangs(STALL_GUARD_BY_SIGNAL, SIGTERM), with_code = hangs(7, SIGINT);
	char message[512] = "";
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	log_to(fds[1]);
	stall_guard_begin("far/away", STALL_GUARD_REPORTS);
	assert_true(read(fds[0], message, sizeof(message) - 1) > 0); /* it waits only for this */
	stall_guard_end();
	log_to(STDERR_FILENO);
	assert_non_null(strstr(message, "warning: far/away: its file system does not answer"));
	assert_int_equal(status_of(by_signal), 128 + SIGTERM);
	assert_int_equal(status_of(with_code), 7);
	close(fds[0]);
	close(fds[1]);
}

static void says_nothing_of_what_answers(void **state)
{
	struct pollfd p = { .events = POLLIN };
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	log_to(fds[1]);
	for (int i = 0; i < 100; i++) {
		stall_guard_begin("here", STALL_GUARD_BY_SIGNAL);
		stall_guard_end();
	}
	stall_guard_end(); /* there is none */
	log_to(STDERR_FILENO);
	p.fd = fds[0];
	assert_int_equal(poll(&p, 1, 0), 0);
	close(fds[0]);
	close(fds[1]);
}

static void a_signal_that_waits_is_a_reason_not_to_go_on(void **state)
{
	sigset_t set, old;

	assert_int_equal(stall_guard_lost(), 0);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, &old);
	raise(SIGINT);
	assert_int_equal(stall_guard_lost(), 128 + SIGINT);
	assert_int_equal(sigwaitinfo(&set, NULL), SIGINT);
	assert_int_equal(stall_guard_lost(), 0);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_the_file_that_hangs_and_ends_by_a_signal_that_waits),
		cmocka_unit_test(says_nothing_of_what_answers),
		cmocka_unit_test(a_signal_that_waits_is_a_reason_not_to_go_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
