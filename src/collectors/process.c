/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One collector's process: fork and exec with a clean slate, reaping, the tool's last words.
 * Control plane, on the main thread. Knows nothing of what the tool prints or when it is started.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/exit_codes.h"
#include "base/util.h"
#include "collectors/collectors.h"
#include "collectors/kinds.h"
#include "host/helper.h"
#include "host/rights/creds.h"
#include "host/rights/privileges.h"
#include "host/rights/workload_user.h"
#include "os/descriptors.h"

#define STDERR_BYTES 4096
#define LAST_FD (STDERR_FILENO + 1) /* of a tool, until its exec */

/* One clock, one language, no colors. nvidia-smi needs nothing else. */
static char *const tool_environ[] = { (char *)"TZ=UTC", (char *)"S_TIME_FORMAT=ISO", (char *)"S_COLORS=never", NULL };

#define OURSELVES "/proc/self/exe" /* also where an upgrade has replaced the file */

/* Finds the program to run for C, and its words. 0 or -errno. */
static int find_program(struct collector *c, char *path, size_t size)
{
	const bool own = c->kind->own;
	int r = own ? -ENOENT : helper_find(c->kind->argv[0], path, size);

	c->argv = c->kind->argv;
	if (r != -ENOENT || !(own || c->kind->own_argv[0]))
		return r;
	if (!own)
		c->argv = c->kind->own_argv;
	snprintf(path, size, OURSELVES);
	return 0;
}

/*
 * A file for the tool's stderr that takes its first page and refuses the rest: the tool can never block on
 * it, and nobody has to read it meanwhile. -1: the tool runs without one.
 */
static int stderr_file(void)
{
	autoclose int fd = memfd_create("stderr", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, STDERR_BYTES) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_GROW) < 0)
		return -1;
	return TAKE_FD(fd);
}

/*
 * Become USER, or without one stay ourselves, in either case without capabilities:
 * the tools need none to show the whole machine. 0 or -errno.
 */
static int give_up_privileges(const struct workload_user *user)
{
	int r;

	if (!user)
		return 0;
	r = creds_raise() ?: workload_user_become(user);
	return r < 0 ? r : privileges_none();
}

/*
 * The child, up to its exec: only async-signal-safe calls, as other threads may hold locks. EXEC_FD returns
 * the reason of a failure to the parent.
 */
static void __attribute__((noreturn)) run_tool(const struct collector *collector, const char *path, char *const argv[],
					       char *const env[], int null_fd, int exec_fd, pid_t parent)
{
	int err = -give_up_privileges(collector->user);

	/*
	 * A session of its own, so that ^C at the terminal does not reach it. It must not outlive us even
	 * when we are killed; prctl(2): the signal comes when the *thread* that forked ends, and becoming
	 * another user clears the setting.
	 */
	setsid();
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EXIT_NOT_FOUND);
	util_signals_default();
	if (!err && dup2(null_fd, STDIN_FILENO) >= 0 && dup2(collector->write_fd, STDOUT_FILENO) >= 0 &&
	    dup2(collector->stderr_fd < 0 ? null_fd : collector->stderr_fd, STDERR_FILENO) >= 0 &&
	    (exec_fd == LAST_FD || dup3(exec_fd, LAST_FD, O_CLOEXEC) >= 0)) {
		exec_fd = LAST_FD;
		/* Ours are close-on-exec; inherited ones may not be. */
		descriptors_close_from(LAST_FD + 1);
		execve(path, argv, env);
	}
	err = err ? err : errno;
	if (write(exec_fd, &err, sizeof(err)) < 0)
		_exit(EXIT_NOT_EXECUTABLE);
	_exit(EXIT_NOT_FOUND);
}

int collector_spawn(struct collector *collector)
{
	autoclose int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	autofree char **env = helper_environ(tool_environ, NULL);
	char *argv[ARRAY_SIZE(collector->kind->argv) + 3] = { NULL };
	char interval[24], pid[24], path[PATH_MAX];
	pid_t parent = getpid();
	int exec_fds[2], err = 0, r;
	size_t argc = 0;
	ssize_t n;

	if (null_fd < 0)
		return -errno;
	if (!env)
		return -ENOMEM;
	r = find_program(collector, path, sizeof(path));
	if (r < 0)
		return r;
	util_close(&collector->stderr_fd);
	collector->stderr_fd = stderr_file();
	for (; argc < ARRAY_SIZE(argv) - 3 && collector->argv[argc]; argc++)
		argv[argc] = (char *)collector->argv[argc];
	snprintf(interval, sizeof(interval), "%llu", (unsigned long long)collector->interval_s);
	argv[argc++] = interval;
	snprintf(pid, sizeof(pid), "%d", collector->job.pid);
	if (collector->kind->own && collector->job.pid)
		argv[argc] = pid;
	else if (collector->kind->own)
		argv[argc] = (char *)(collector->job.cgroup ?: "/");

	if (pipe2(exec_fds, O_CLOEXEC) < 0)
		return -errno;
	collector->pid = fork();
	if (collector->pid == 0)
		run_tool(collector, path, argv, env, null_fd, exec_fds[1], parent);
	if (collector->pid < 0)
		err = errno;
	util_close(&exec_fds[1]);
	do
		n = read(exec_fds[0], &err, sizeof(err));
	while (n < 0 && errno == EINTR);
	util_close(&exec_fds[0]);
	if (err && collector->pid > 0)
		waitpid(collector->pid, NULL, 0);
	if (err)
		return -err;

	collector->pidfd = util_pidfd_open(collector->pid);
	if (collector->pidfd < 0) {
		kill(collector->pid, SIGKILL);
		waitpid(collector->pid, NULL, 0);
	}
	return MIN(collector->pidfd, 0);
}

bool collector_is_running(const struct collector *c)
{
	return c->pidfd >= 0;
}

bool collector_reap(struct collector *c)
{
	/* An error is an end as well: ECHILD where we were started with SIGCHLD ignored. */
	if (collector_is_running(c) && waitpid(c->pid, &c->status, WNOHANG) != 0)
		util_close(&c->pidfd);
	return !collector_is_running(c);
}

/* The first line of the tool's stderr, made safe for a terminal. */
static void first_error(const struct collector *c, char *buf, size_t size)
{
	ssize_t n = pread(c->stderr_fd, buf, size - 1, 0);

	buf[MAX(n, 0)] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	for (char *p = buf; *p; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
}

void collector_describe_end(struct collector *c, const char *after)
{
	bool exited = WIFEXITED(c->status);
	char error[96];

	first_error(c, error, sizeof(error));
	snprintf(c->state, sizeof(c->state), "%s %d%s%s%s", exited ? "exited" : "killed by signal",
		 exited ? WEXITSTATUS(c->status) : WTERMSIG(c->status), after, error[0] ? ": " : "", error);
}
