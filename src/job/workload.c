/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The life of the traced command: fork, gate, exec, signals, reaping. Called only from the control plane's
 * thread. Knows nothing of probes: the caller of workload_go() has attached them.
 *
 * The gate is one poll(2) in the child: on an eventfd, which the parent increments to open the gate, and on
 * the child's own end of the error pipe, which reports POLLERR once the parent has gone. So from the gate
 * to the program's first instruction there is no system call that a probe would record.
 */
#include "job/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/exit_codes.h"
#include "base/util.h"
#include "host/rights/workload_user.h"

#define GATE_DEADLINE_MS 2000
#define OUTPUT_DEADLINE_MS 1000 /* a stopped terminal takes nothing at all */
#define GONE 1 /* the child closed its end of the error pipe: by exec or by dying */

static const struct workload no_workload = WORKLOAD_NONE;

/* The signal dispositions before main() changed them: a SIGHUP that nohup ignored stays ignored. */
static struct {
	sigset_t mask, ignored;
} inherited;

static __attribute__((constructor)) void note_inherited(void)
{
	struct sigaction sa;

	sigprocmask(SIG_SETMASK, NULL, &inherited.mask);
	sigemptyset(&inherited.ignored);
	for (int sig = 1; sig < NSIG; sig++)
		if (!sigaction(sig, NULL, &sa) && sa.sa_handler == SIG_IGN)
			sigaddset(&inherited.ignored, sig);
}

static void restore_signals(void)
{
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, sigismember(&inherited.ignored, sig) ? SIG_IGN : SIG_DFL);
	sigprocmask(SIG_SETMASK, &inherited.mask, NULL);
}

static int take_output(const int out[2])
{
	if (out[0] >= 0 && (dup2(out[0], STDOUT_FILENO) < 0 || dup2(out[1], STDERR_FILENO) < 0))
		return -errno;
	return 0;
}

static void report(int fd, int r)
{
	/* Shorter than PIPE_BUF: whole or not at all, and without a parent it is not needed. */
	if (write(fd, &r, sizeof(r)) < 0)
		_exit(EXIT_DLTRACED);
}

static __attribute__((noreturn)) void child_main(char *const argv[], const struct workload_user *user, const int out[2],
						 int go_fd, int err_fd)
{
	struct pollfd gate[] = { { .fd = go_fd, .events = POLLIN }, { .fd = err_fd } };
	int r = take_output(out);

	if (!r)
		r = workload_user_become(user);
	umask(user->umask);
	if (user->environ)
		environ = user->environ; /* execvp reads PATH from it */
	restore_signals();
	report(err_fd, r);
	while (poll(gate, ARRAY_SIZE(gate), -1) < 0 && errno == EINTR)
		;
	if (!(gate[0].revents & POLLIN))
		_exit(EXIT_DLTRACED);
	execvp(argv[0], argv);
	r = -errno;
	report(err_fd, r);
	_exit(r == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

/* The child's report: 0 or -errno, or GONE. */
static int await_report(int fd)
{
	ssize_t n;
	int r;

	do
		n = read(fd, &r, sizeof(r));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return n == sizeof(r) ? r : GONE;
}

static int prepare(struct workload *workload, char *const argv[], const struct workload_user *user, int log_fd)
{
	autoclose int go_fd = eventfd(0, EFD_CLOEXEC), report_fd = -1, child_end = -1;
	autoclose int out = -1, err = -1;
	int ends[2] = { -1, -1 }, fds[2], r;
	pid_t pid;

	if (go_fd < 0 || pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	report_fd = fds[0];
	child_end = fds[1];
	if (log_fd >= 0) {
		r = relay_start(&workload->relay, user, log_fd, ends);
		if (r < 0)
			return r;
		out = ends[0];
		err = ends[1];
	}
	/* Where our parent ignored it, the child would leave no status to wait for. */
	signal(SIGCHLD, SIG_DFL);
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid) {
		close(report_fd); /* or POLLERR would never come */
		child_main(argv, user, ends, go_fd, child_end);
	}
	util_close(&child_end); /* or EOF would never come */
	workload->pid = pid;
	workload->go_fd = TAKE_FD(go_fd);
	workload->err_fd = TAKE_FD(report_fd);
	workload->pidfd = util_pidfd_open(pid);
	if (workload->pidfd < 0)
		return workload->pidfd;
	r = await_report(workload->err_fd);
	return r == GONE ? -ECHILD : r;
}

int workload_prepare(struct workload *w, char *const argv[], const struct workload_user *u, int log_fd)
{
	int r;

	*w = no_workload;
	r = prepare(w, argv, u, log_fd);
	if (r < 0)
		workload_free(w);
	return r;
}

void workload_adopt(struct workload *w, pid_t pid, int pidfd)
{
	*w = no_workload;
	w->pid = pid;
	w->pidfd = pidfd;
	w->started = w->adopted = true;
}

void workload_adopted_end(struct workload *w, int status, const uint64_t usage[USAGES])
{
	w->status = status;
	if (usage)
		memcpy(w->usage, usage, sizeof(w->usage));
	w->ended = true;
	util_close(&w->pidfd);
}

static uint64_t timeval_ns(const struct timeval *tv)
{
	return (uint64_t)tv->tv_sec * NSEC_PER_SEC + (uint64_t)tv->tv_usec * 1000;
}

static void take_usage(uint64_t usage[USAGES], const struct rusage *ru)
{
	usage[USAGE_USER_NS] = timeval_ns(&ru->ru_utime);
	usage[USAGE_SYSTEM_NS] = timeval_ns(&ru->ru_stime);
	usage[USAGE_MAX_RSS_BYTES] = (uint64_t)ru->ru_maxrss * 1024;
	usage[USAGE_MINOR_FAULTS] = (uint64_t)ru->ru_minflt;
	usage[USAGE_MAJOR_FAULTS] = (uint64_t)ru->ru_majflt;
	usage[USAGE_VOLUNTARY_SWITCHES] = (uint64_t)ru->ru_nvcsw;
	usage[USAGE_INVOLUNTARY_SWITCHES] = (uint64_t)ru->ru_nivcsw;
}

static bool reap(struct workload *w, int flags)
{
	struct rusage ru;

	/* the pidfd stays open: its users have the number, which must not become another's */
	if (w->pid && !w->ended && !w->adopted && wait4(w->pid, &w->status, flags, &ru) == w->pid) {
		w->ended = true;
		take_usage(w->usage, &ru);
	}
	return w->ended;
}

int workload_go(struct workload *workload)
{
	int r;

	if (eventfd_write(workload->go_fd, 1) < 0)
		return -errno;
	r = await_report(workload->err_fd);
	util_close(&workload->go_fd);
	util_close(&workload->err_fd);
	if (r < 0) {
		reap(workload, 0);
		return r;
	}
	workload->started = true;
	return 0;
}

int workload_signal(struct workload *w, int sig)
{
	return w->pidfd < 0 || w->ended ? -ESRCH : util_pidfd_kill(w->pidfd, sig);
}

int workload_stop_news(struct workload *w)
{
	siginfo_t si = { 0 };

	if (!w->pid || w->ended || w->adopted ||
	    waitid(P_PID, (id_t)w->pid, &si, WSTOPPED | WCONTINUED | WNOHANG) < 0 || !si.si_pid)
		return 0;
	return si.si_code == CLD_CONTINUED ? SIGCONT : si.si_status;
}

bool workload_reap(struct workload *w)
{
	return reap(w, WNOHANG);
}

/* Wait until the process has ended, at most TIMEOUT_MS. */
static void await_end(int pidfd, int timeout_ms)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	while (poll(&p, 1, timeout_ms) < 0 && errno == EINTR)
		;
}

void workload_await_output(struct workload *w)
{
	if (w->relay.pid)
		relay_await(&w->relay, OUTPUT_DEADLINE_MS);
}

void workload_free(struct workload *workload)
{
	if (!workload->pid && !workload->relay.pid)
		return;
	if (workload->pid && !workload->started && !workload->ended) {
		util_close(&workload->err_fd); /* at the gate the child takes this for our end */
		await_end(workload->pidfd, GATE_DEADLINE_MS);
		kill(workload->pid, SIGKILL); /* not reaped yet, so the number is still its own */
		reap(workload, 0);
	}
	if (workload->ended || !workload->pid)
		workload_await_output(workload);
	util_close(&workload->pidfd);
	util_close(&workload->go_fd);
	util_close(&workload->err_fd);
	relay_free(&workload->relay);
	*workload = no_workload;
}
