/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See proxy.h. Runs before anything else has been made; it does not access the file system of the trace
 * itself, but has a child do so.
 */
#include "host/stall/proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/exit_codes.h"
#include "base/log.h"
#include "base/util.h"
#include "host/process.h"
#include "host/stall/guard.h"

#define DEFAULT_OUT "traces/"
#define ENOUGH 3 /* number of requests to end ... */
#define ENOUGH_WAIT_S 10 /* ... and this after the last */
#define HELD_S 3 /* how long it may remain after SIGKILL */

/* statfs(2)'s f_type; <linux/magic.h> of the oldest kernel that we build on names fewer than half of them. */
static const struct {
	unsigned long type;
	const char *name;
} remote[] = {
	{ 0x6969, "nfs" },        { 0x65735546, "fuse" },  { 0xff534d42, "cifs" },     { 0xfe534d42, "smb2" },
	{ 0x517b, "smb" },        { 0x00c36400, "ceph" },  { 0x01021997, "9p" },       { 0x5346414f, "afs" },
	{ 0x6b414653, "kafs" },   { 0x73757245, "coda" },  { 0x0bd00bd0, "lustre" },   { 0x47504653, "gpfs" },
	{ 0x19830326, "beegfs" }, { 0x7461636f, "ocfs2" }, { 0x01161970, "gfs2" },     { 0xaad7aaea, "panfs" },
	{ 0x786f4256, "vboxsf" }, { 0x013111a8, "ibrix" }, { 0x20030528, "orangefs" },
};

static pid_t front; /* in the process that traces */
static int proxy_fd = -1;

bool proxy_is_remote(unsigned long fs_type)
{
	for (size_t i = 0; i < ARRAY_SIZE(remote); i++)
		if (remote[i].type == fs_type)
			return true;
	return false;
}

/* Finds where OUT's folder will be made, as far as it exists yet and can be known already. */
static bool is_remote(const char *out)
{
	char path[4096];
	struct statfs fs;
	char *slash;

	snprintf(path, sizeof(path), "%s%s", *out == '/' ? "" : "./", out);
	path[strcspn(path, "%")] = '\0';
	while (statfs(path, &fs) < 0) {
		/* a home that root may not enter: only a server refuses that */
		if (errno == EACCES && geteuid() == 0)
			return true;
		slash = strrchr(path, '/');
		if (!slash || (errno != ENOENT && errno != ENOTDIR))
			return false;
		if (slash == path && !slash[1])
			return false;
		slash[slash == path] = '\0';
	}
	return proxy_is_remote((unsigned long)(uint32_t)fs.f_type);
}

/* A child makes the request, which may hang in the kernel; the waiting parent can be ended. */
static bool is_remote_by_child(const char *out)
{
	bool is = true; /* no answer is an answer */
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return is_remote(out);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		is = is_remote(out);
		_exit(write(fds[1], &is, sizeof(is)) < 0);
	}
	close(fds[1]);
	stall_guard_begin(out, STALL_GUARD_REPORTS);
	if (pid < 0)
		is = is_remote(out);
	else if (read(fds[0], &is, sizeof(is)) != sizeof(is))
		is = true;
	stall_guard_end();
	close(fds[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return is;
}

/* --- the proxy --------------------------------------------------------------------------------------- */

static const int passed_on[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };

/* A terminal's keys have reached the other process too. Returns true when the signal was to end it. */
static bool pass_on(int fd, pid_t pid)
{
	struct signalfd_siginfo si;
	int sig;

	if (read(fd, &si, sizeof(si)) != sizeof(si))
		return false;
	sig = (int)si.ssi_signo;
	if (si.ssi_code <= 0)
		kill(pid, sig);
	return sig == SIGINT || sig == SIGTERM;
}

/* End as the other process has ended. */
static int status_of(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) < 0)
		return EXIT_DLTRACED;
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	prctl(PR_SET_DUMPABLE, 0); /* one core file is enough */
	signal(WTERMSIG(status), SIG_DFL);
	kill(getpid(), WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

static int stand(pid_t pid, int code_fd, int signal_fd)
{
	autoclose int pidfd = util_pidfd_open(pid);
	unsigned int end_signals = 0, waited_s = 0, held_s = 0;
	int code;

	for (;;) {
		struct pollfd p[] = { { pidfd, POLLIN, 0 }, { code_fd, POLLIN, 0 }, { signal_fd, POLLIN, 0 } };
		int n = poll(p, ARRAY_SIZE(p), 1000);

		if (p[0].revents || pidfd < 0)
			return status_of(pid);
		if (p[1].revents && read(code_fd, &code, sizeof(code)) == sizeof(code))
			return code;
		if (p[1].revents)
			code_fd = -1; /* it is about to end */
		if (n > 0 && p[2].revents)
			end_signals += pass_on(signal_fd, pid);
		if (n)
			continue;
		waited_s += end_signals >= ENOUGH;
		held_s = process_is_held(pid) ? held_s + 1 : 0;
		if (waited_s >= ENOUGH_WAIT_S || held_s >= HELD_S) {
			log_err("process %d does not end: it is left behind, and ends when the file system that it "
				"waits for answers",
				pid);
			return 128 + (held_s ? SIGKILL : SIGINT);
		}
	}
}

static int in_front(pid_t pid, int code_fd, const sigset_t *mask)
{
	autoclose int signal_fd = signalfd(-1, mask, SFD_CLOEXEC | SFD_NONBLOCK);

	return signal_fd < 0 ? status_of(pid) : stand(pid, code_fd, signal_fd);
}

/* --- the process behind it --------------------------------------------------------------------------- */

pid_t proxy_pid(void)
{
	return front;
}

int proxy_gone_fd(void)
{
	return proxy_fd;
}

bool proxy_gone(void)
{
	struct pollfd p = { .fd = proxy_fd };

	return proxy_fd >= 0 && poll(&p, 1, 0) > 0 && p.revents & POLLERR;
}

void proxy_leave(int code)
{
	if (proxy_fd >= 0)
		(void)!write(proxy_fd, &code, sizeof(code));
}

/* Ignored signals stay ignored, as under nohup(1). */
static void fill_mask(sigset_t *mask)
{
	struct sigaction action;

	sigemptyset(mask);
	for (size_t i = 0; i < ARRAY_SIZE(passed_on); i++)
		if (sigaction(passed_on[i], NULL, &action) || action.sa_handler != SIG_IGN)
			sigaddset(mask, passed_on[i]);
}

static const struct stall_guard_front in_front_of_us = { .gone = proxy_gone, .leave = proxy_leave };

bool proxy_stand(const char *out, int *code)
{
	sigset_t mask, old;
	int fds[2];
	pid_t pid;

	if (front || !is_remote_by_child(out ? out : DEFAULT_OUT) || pipe2(fds, O_CLOEXEC) < 0)
		return false;
	fill_mask(&mask);
	sigprocmask(SIG_BLOCK, &mask, &old);
	front = getpid();
	pid = fork();
	if (pid > 0) {
		close(fds[1]);
		*code = in_front(pid, fds[0], &mask);
		return true;
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(fds[0]);
	proxy_fd = fds[1];
	if (pid < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != front) {
		if (!pid)
			_exit(EXIT_DLTRACED); /* killed meanwhile */
		util_close(&proxy_fd);
		front = 0;
	}
	stall_guard_behind(&in_front_of_us);
	return false;
}

bool proxy_wait(char *const *dirs, int n, int *code)
{
	pid_t parent = getpid(), pid;
	bool any = false;

	for (int i = 0; i < n; i++)
		any |= is_remote_by_child(dirs[i]);
	pid = any ? fork() : -1;
	if (pid > 0) {
		*code = status_of(pid);
		return true;
	}
	if (!pid && (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent))
		_exit(EXIT_DLTRACED);
	return false;
}
