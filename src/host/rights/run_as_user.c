/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See run_as_user.h. dltraced waits for the worker, and the worker perhaps for a program that it runs: both
 * with SIGINT and SIGTERM blocked and passed on, so that a process that has to clean up lives to do it. A
 * process that hangs in the kernel, waiting for a server, is not reached by them: it is killed. Its CPU
 * time, which stands still (host/stall/clock.h), shows it; the waiting process wakes up each second.
 */
#include "host/rights/run_as_user.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/util.h"
#include "host/rights/privileges.h"
#include "host/stall/clock.h"
#include "host/rights/workload_user.h"

#define STALL_CLOCK_NS (3 * NSEC_PER_SEC)

static sigset_t signals_of_interest(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	return set;
}

bool run_as_user_interrupted(void)
{
	sigset_t set;

	sigpending(&set);
	return sigismember(&set, SIGINT) || sigismember(&set, SIGTERM);
}

/* Returns the CPU time of PID, a child, ns; 0: not known. */
static uint64_t cpu_ns(pid_t pid)
{
	clockid_t clock;
	struct timespec t;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t) < 0)
		return 0;
	return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

/* The signals have been blocked since before the fork, so none comes between a look and the next wait. */
int run_as_user_wait(pid_t pid, const char *what)
{
	static const struct timespec second = { .tv_sec = 1 };
	const sigset_t set = signals_of_interest();
	struct stall_clock still;
	bool term_sent = false, warned = false, killed = false;
	int status = SIGKILL; /* for the case that it cannot be known */

	stall_clock_begin(&still, pid, 0, clock_now_ns(CLOCK_MONOTONIC));
	while (waitpid(pid, &status, WNOHANG) == 0) {
		int sig = sigtimedwait(&set, NULL, &second);
		uint64_t now = clock_now_ns(CLOCK_MONOTONIC);

		if (sig == SIGINT || sig == SIGTERM) {
			kill(pid, term_sent ? SIGKILL : SIGTERM);
			term_sent = true;
		}
		if (stall_clock_ns(&still, cpu_ns(pid), now) < STALL_CLOCK_NS)
			continue;
		if (killed) /* SIGKILL does not reach it either: it is left behind */
			break;
		killed = term_sent;
		if (term_sent) {
			stall_clock_begin(&still, pid, cpu_ns(pid), now);
			kill(pid, SIGKILL);
		} else if (!warned) {
			log_warn("%s: a file system does not answer; waiting for it; ^C or TERM ends the wait", what);
		}
		warned = true;
	}
	return status;
}

/*
 * Become U in every respect: a dltraced that is not root but has capabilities by setcap(8) keeps
 * them across workload_user_become(), and CAP_DAC_READ_SEARCH would read everything.
 */
static int become(const struct workload_user *u)
{
	int r = workload_user_become(u);

	return r < 0 || geteuid() == 0 ? r : privileges_none();
}

/* The exit status is the result; the line is one write, which a pipe takes whole. */
static __attribute__((noreturn)) void worker_main(const struct workload_user *user, run_as_user_fn fn, const void *ctx,
						  int error_fd)
{
	char error[PIPE_BUF] = "";
	int r = become(user);

	if (r < 0)
		snprintf(error, sizeof(error), "cannot become %s: %s", user->name, strerror(-r));
	else
		r = fn(ctx, error, sizeof(error));
	if (*error && write(error_fd, error, strlen(error)) < 0)
		r = -errno;
	_exit(-r);
}

/* Fork and wait; 0 or -errno. */
static int run(const struct workload_user *user, const char *what, run_as_user_fn fn, const void *ctx, int error_fd)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return -errno;
	if (pid == 0)
		worker_main(user, fn, ctx, error_fd);
	status = run_as_user_wait(pid, what);
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
}

int run_as_user(const struct workload_user *user, const char *what, run_as_user_fn fn, const void *ctx, char *error,
		size_t size)
{
	const sigset_t set = signals_of_interest();
	int ends[2], r;
	ssize_t n = 0;
	sigset_t old;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) {
		r = -errno;
	} else {
		sigprocmask(SIG_BLOCK, &set, &old);
		r = run(user, what, fn, ctx, ends[1]);
		sigprocmask(SIG_SETMASK, &old, NULL);
		n = read(ends[0], error, size - 1);
		close(ends[0]);
		close(ends[1]);
	}
	error[MAX(n, 0)] = '\0';
	if (r < 0 && !*error)
		snprintf(error, size, "%s: %s", what, r == -EINTR ? "ended by a signal" : strerror(-r));
	return r;
}
