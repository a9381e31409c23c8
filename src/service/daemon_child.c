/* SPDX-License-Identifier: BSD-2-Clause */
/* The child processes of the service: starts, ends and counts them. Each trace is one, with its own rings and counters.
 */
#include "base/exit_codes.h"
#include "service/daemon_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "base/util.h"
#include "host/process.h"

#define LEAVE_US 200000 /* time for a child that only closes a descriptor */

/*
 * As fork(2), but hands *FD over to the child: the parent closes its copy, and the child goes on only after that. So
 * the service never closes the last copy, which may take long (SO_LINGER). Returns in both processes, or -errno.
 */
static pid_t fork_over(int *fd)
{
	autoclose int held = -1, gate = -1;
	pid_t parent = getpid(), pid;
	int ends[2];
	char none;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	gate = ends[0];
	held = ends[1];
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid) {
		util_close(fd);
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGTERM); /* a trace ends with the service; after TERM its files are whole */
	util_close(&held);
	(void)!read(gate, &none, 1);
	if (getppid() != parent)
		_exit(EXIT_DLTRACED);
	return 0;
}

/* Makes PID the child CHILD. Returns 0, or -errno after ending it. */
static int watch(struct daemon *daemon, struct child *child, pid_t pid, loop_fn fn)
{
	int r;

	*child = (struct child){ .pid = pid, .pidfd = util_pidfd_open(pid), .start_ns = daemon_now() };
	r = child->pidfd < 0 ? child->pidfd : loop_add(&daemon->loop, child->pidfd, EPOLLIN, fn, daemon);
	if (r < 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		util_close(&child->pidfd);
		child->pid = 0;
	}
	return r;
}

/* Runs in the child up to its exec, so it calls only async-signal-safe functions. */
static void __attribute__((noreturn)) run_child(char *const argv[], int connection, int null_fd)
{
	util_signals_default();
	if (dup2(connection >= 0 ? connection : null_fd, STDIN_FILENO) >= 0 && dup2(null_fd, STDOUT_FILENO) >= 0)
		execv("/proc/self/exe", argv);
	_exit(EXIT_DLTRACED);
}

int daemon_spawn(struct daemon *d, struct child *c, char *const argv[], int *connection, loop_fn fn)
{
	autoclose int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	pid_t pid = null_fd < 0 ? -errno : fork_over(connection);

	if (!pid)
		run_child(argv, *connection, null_fd);
	return pid < 0 ? pid : watch(d, c, pid, fn);
}

int daemon_leave(struct daemon *daemon, struct child *child, int *fd, void (*last)(int fd, const struct refusal *what),
		 const struct refusal *what, loop_fn fn)
{
	const struct itimerval at_most = { .it_value.tv_usec = LEAVE_US };
	pid_t pid = fork_over(fd);

	if (!pid) {
		util_signals_default();
		setitimer(ITIMER_REAL, &at_most, NULL);
		last(*fd, what);
		_exit(0); /* in an exiting process, closing does not wait */
	}
	return pid < 0 ? pid : watch(daemon, child, pid, fn);
}

bool daemon_reap(struct daemon *d, struct child *c, int *status)
{
	if (!c->pid || waitpid(c->pid, status, WNOHANG) == 0)
		return false;
	loop_del(&d->loop, c->pidfd);
	util_close(&c->pidfd);
	c->pid = 0;
	return true;
}

void daemon_signal(const struct child *c, int sig)
{
	if (c->pid)
		util_pidfd_kill(c->pidfd, sig);
}

static bool reach(const struct child *c, unsigned int which, int sig)
{
	if (!c->pid || (which & DAEMON_NOT_HELD && process_is_held(c->pid)))
		return false;
	if (sig)
		daemon_signal(c, sig);
	return true;
}

unsigned int daemon_children(const struct daemon *d, unsigned int which, int sig)
{
	unsigned int n = 0;

	for (size_t i = 0; which & DAEMON_ALWAYS && i < ARRAY_SIZE(d->always); i++)
		n += reach(&d->always[i].child, which, sig);
	for (size_t i = 0; which & DAEMON_USERS && i < ARRAY_SIZE(d->users); i++)
		n += reach(&d->users[i], which, sig);
	return n;
}

const char *daemon_end_of(int status, char buf[64])
{
	if (WIFSIGNALED(status))
		snprintf(buf, 64, "killed by signal %d", WTERMSIG(status));
	else
		snprintf(buf, 64, "exited with %d", WEXITSTATUS(status));
	return buf;
}
