/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The log relay, see relay.h: opens the ptys or pipes and is the process that copies. Forked by
 * the control plane, never executed, so it holds nothing but its own fds and blocks every signal.
 * Knows neither the workload nor the trace; its thread (backlog.c) looks after --min-free itself, for it
 * may outlive us.
 */
#include "job/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <termios.h>

#include "base/exit_codes.h"
#include "base/util.h"
#include "host/rights/workload_user.h"
#include "os/descriptors.h"

/* Processes outside the terminal's foreground group get no signal about a new size, so the relay polls it. */
#define SIZE_CHECK_MS 250
#define ANSWER_MS 800 /* for unwritten output: the asking side waits for a second */
#define TAKE_MAX (1U << 20) /* more than a pipe or pty holds, unless root has made it larger */

struct channel {
	int in; /* pty master or read end of the pipe; -1 once it has ended */
	int out; /* where the bytes would go without the relay */
	bool pty;
	bool final; /* an OUT that has gone does not return */
	struct winsize size; /* the terminal's, as last seen */
};

struct copier {
	struct channel ch[2]; /* stdout, stderr; only the first when they lead to one file */
	int end[2]; /* the workload's ends of the channels */
	int log_fd;
	int request_fd; /* -1 once dltraced has gone */
	struct relay_log *log;
};

static void copier_close(struct copier *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(r->ch); i++) {
		util_close(&r->ch[i].in);
		util_close(&r->end[i]);
	}
	util_close(&r->request_fd);
}

/* --- the workload's ends ------------------------------------------------------------------------ */

/* The pty behind the terminal OUT: with its settings and size, but output stays verbatim. */
static int open_pty(struct channel *channel, int *end)
{
	struct termios tio;

	if (tcgetattr(channel->out, &tio) < 0)
		return -errno;
	tio.c_oflag &= ~(tcflag_t)OPOST; /* the terminal itself does it */
	if (ioctl(channel->out, TIOCGWINSZ, &channel->size) < 0 ||
	    openpty(&channel->in, end, NULL, &tio, &channel->size) < 0)
		return -errno;
	if (fcntl(channel->in, F_SETFD, FD_CLOEXEC) < 0 || fcntl(*end, F_SETFD, FD_CLOEXEC) < 0)
		return -errno;
	return 0;
}

static int open_pipe(struct channel *c, int *end)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	c->in = fds[0];
	*end = fds[1];
	return 0;
}

/* A reader may open a FIFO again; the reader of a pipe, socket or terminal is gone for good. */
static bool has_a_name(int fd)
{
	struct statfs fs;
	struct stat st;

	return !fstat(fd, &st) && S_ISFIFO(st.st_mode) && !fstatfs(fd, &fs) && fs.f_type != PIPEFS_MAGIC;
}

static int open_channel(struct channel *channel, int out, uid_t owner, int *end)
{
	int r;

	channel->out = out;
	channel->pty = isatty(out);
	channel->final = !has_a_name(out);
	r = channel->pty ? open_pty(channel, end) : open_pipe(channel, end);
	if (r < 0)
		return r;
	/* Opening /dev/stdout checks the inode's owner, which is root when we are. */
	return owner != geteuid() && fchown(*end, owner, (gid_t)-1) < 0 ? -errno : 0;
}

/* Do two fds lead to one place, where output written to both must keep its order? */
static bool same_file(int a, int b)
{
	struct stat sa, sb;

	return !fstat(a, &sa) && !fstat(b, &sb) && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

static void pass_size(struct channel *channel, pid_t pgrp)
{
	struct winsize now;

	if (ioctl(channel->out, TIOCGWINSZ, &now) < 0 || !memcmp(&now, &channel->size, sizeof(now)))
		return;
	channel->size = now;
	ioctl(channel->in, TIOCSWINSZ, &now);
	/*
	 * The terminal's own SIGWINCH came while the pty still had the old size. Group 1, of a
	 * container's first process, cannot be named: kill(2) takes -1 for everybody.
	 */
	if (pgrp > 1)
		kill(-pgrp, SIGWINCH);
}

/* --- copying ---------------------------------------------------------------------------------- */

/* Write all of BUF, even when another process has made FD's file non-blocking; 0 or -errno. */
static int write_out(int fd, const char *buf, size_t len)
{
	struct pollfd room = { .fd = fd, .events = POLLOUT };

	while (len) {
		ssize_t n = write(fd, buf, len);

		if (n < 0 && (errno != EAGAIN || poll(&room, 1, -1) < 0))
			return -errno;
		if (n > 0) {
			buf += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

/* Pass one piece on; returns its size, 0 when the channel has ended. */
static size_t copy(struct copier *copier, struct channel *channel)
{
	static char buf[65536];
	ssize_t n = read(channel->in, buf, sizeof(buf));
	int err;

	/* A pty returns EIO, not EOF, when its last holder has gone. */
	if (n <= 0) {
		util_close(&channel->in);
		return 0;
	}
	backlog_put(buf, (size_t)n);
	err = channel->out < 0 ? 0 : write_out(channel->out, buf, (size_t)n);
	if (err == -EPIPE || (channel->pty && err == -EIO))
		util_close(&channel->out);
	return (size_t)n;
}

/* Pass on all that is there by now, of a workload that may go on writing. */
static void take(struct copier *r, struct channel *c)
{
	struct pollfd p = { .fd = c->in, .events = POLLIN };

	/* poll(2) also makes a pty deliver data on its way */
	for (size_t n = 0; c->in >= 0 && n < TAKE_MAX && poll(&p, 1, 0) > 0;)
		n += copy(r, c);
}

/* OUT has lost its reader: the next writer here gets the error that it would get there. */
static void hang_up(struct copier *r, struct channel *c)
{
	util_close(&c->out);
	take(r, c);
	util_close(&c->in);
}

/* A channel's end is handled first: then the answer is our own end. */
static void answer(struct copier *copier)
{
	uint8_t questions[64];
	ssize_t n = read(copier->request_fd, questions, sizeof(questions));

	if (n <= 0) {
		util_close(&copier->request_fd);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(copier->ch); i++)
		take(copier, &copier->ch[i]);
	backlog_await(ANSWER_MS);
	if ((copier->ch[0].in >= 0 || copier->ch[1].in >= 0) && write(copier->request_fd, &questions[n - 1], 1) < 0)
		util_close(&copier->request_fd);
}

/* --- the process -------------------------------------------------------------------------------- */

/* Move the fds to 0, 1, ... and close all others: inherited ones would hold the trace open. */
static void keep_only(int *const fds[], int n)
{
	for (int i = 0; i < n; i++)
		*fds[i] = fcntl(*fds[i], F_DUPFD, 16);
	for (int i = 0; i < n; i++)
		*fds[i] = dup2(*fds[i], i);
	descriptors_close_from((unsigned int)n);
}

static void serve(struct copier *copier, pid_t pgrp)
{
	bool pty = copier->ch[0].pty || copier->ch[1].pty;
	struct pollfd p[5] = { { .fd = copier->request_fd, .events = POLLIN } };

	for (size_t i = 0; i < ARRAY_SIZE(copier->ch); i++) {
		struct channel *c = &copier->ch[i];

		p[1 + i] = (struct pollfd){ .fd = c->in, .events = POLLIN };
		p[3 + i] = (struct pollfd){ .fd = c->in >= 0 && c->final ? c->out : -1 };
	}
	if (poll(p, ARRAY_SIZE(p), pty ? SIZE_CHECK_MS : -1) < 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(copier->ch); i++) {
		if (copier->ch[i].pty && copier->ch[i].in >= 0)
			pass_size(&copier->ch[i], pgrp);
		if (p[1 + i].revents)
			copy(copier, &copier->ch[i]);
	}
	if (p[0].revents)
		answer(copier);
	for (size_t i = 0; i < ARRAY_SIZE(copier->ch); i++)
		if (copier->ch[i].in >= 0 && (copier->ch[i].out < 0 || p[3 + i].revents))
			hang_up(copier, &copier->ch[i]);
}

static __attribute__((noreturn)) void relay_main(struct copier *copier, const struct workload_user *user)
{
	int *const fds[] = { &copier->log_fd,    &copier->request_fd, &copier->ch[0].in,
			     &copier->ch[0].out, &copier->ch[1].in,   &copier->ch[1].out };
	pid_t pgrp = getpgrp();
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	prctl(PR_SET_NAME, "dltraced-log");
	keep_only(fds, copier->ch[1].in < 0 ? 4 : 6);
	if (chdir("/") < 0 || workload_user_become(user) < 0 || backlog_start(copier->log_fd, copier->log) < 0)
		_exit(EXIT_DLTRACED);
	while (copier->ch[0].in >= 0 || copier->ch[1].in >= 0)
		serve(copier, pgrp);
	backlog_await(-1);
	_exit(0);
}

/* --- on our side -------------------------------------------------------------------------------- */

static int start(struct relay *relay, struct copier *copier, const struct workload_user *user, int ends[2])
{
	void *shared = mmap(NULL, sizeof(*relay->log), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int pair[2], err;

	if (shared == MAP_FAILED)
		return -errno;
	copier->log = relay->log = shared;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	relay->request_fd = pair[0];
	copier->request_fd = pair[1];
	err = open_channel(&copier->ch[0], STDOUT_FILENO, user->uid, &copier->end[0]);
	if (!err && !same_file(STDOUT_FILENO, STDERR_FILENO))
		err = open_channel(&copier->ch[1], STDERR_FILENO, user->uid, &copier->end[1]);
	else if (!err && (copier->end[1] = fcntl(copier->end[0], F_DUPFD_CLOEXEC, 3)) < 0)
		err = -errno;
	if (err < 0)
		return err;
	relay->pid = fork();
	if (!relay->pid)
		relay_main(copier, user);
	if (relay->pid < 0) {
		relay->pid = 0;
		return -errno;
	}
	/* without it the relay could not be waited for; it ends as soon as ENDS are closed */
	relay->pidfd = util_pidfd_open(relay->pid);
	if (relay->pidfd < 0)
		return relay->pidfd;
	ends[0] = TAKE_FD(copier->end[0]);
	ends[1] = TAKE_FD(copier->end[1]);
	return 0;
}

int relay_start(struct relay *relay, const struct workload_user *user, int log_fd, int ends[2])
{
	struct copier c __attribute__((cleanup(copier_close))) = {
		.ch = { { .in = -1, .out = -1 }, { .in = -1, .out = -1 } },
		.end = { -1, -1 },
		.log_fd = log_fd,
		.request_fd = -1,
	};
	int err;

	*relay = (struct relay)RELAY_NONE;
	err = start(relay, &c, user, ends);
	if (err < 0)
		relay_free(relay);
	return err;
}

void relay_keep_free(struct relay *r, uint64_t bytes)
{
	__atomic_store_n(&r->log->min_free, bytes, __ATOMIC_RELAXED);
}

void relay_end_log(struct relay *r)
{
	if (r->log)
		__atomic_store_n(&r->log->ended, true, __ATOMIC_RELAXED);
}

/* Poll FD for input until DEADLINE_NS: 0, -ETIMEDOUT or -errno. */
static int await(int fd, uint64_t deadline_ns)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int n;

	do {
		uint64_t now = clock_now_ns(CLOCK_MONOTONIC);

		n = poll(&p, 1, now < deadline_ns ? (int)((deadline_ns - now) / NSEC_PER_MSEC) + 1 : 0);
	} while (n < 0 && errno == EINTR);
	if (n > 0)
		return 0;
	return n < 0 ? -errno : -ETIMEDOUT;
}

int relay_await(struct relay *relay, int timeout_ms)
{
	uint64_t deadline_ns = clock_now_ns(CLOCK_MONOTONIC) + (uint64_t)timeout_ms * NSEC_PER_MSEC;
	uint8_t got;
	int err;

	relay->question++;
	if (send(relay->request_fd, &relay->question, 1, MSG_NOSIGNAL) == 1) {
		do {
			ssize_t n;

			err = await(relay->request_fd, deadline_ns);
			if (err < 0)
				return err;
			n = read(relay->request_fd, &got, 1);
			if (n <= 0)
				break; /* it is about to end */
			if (got == relay->question)
				return 0;
		} while (true); /* an answer that came too late for its question */
	}
	return await(relay->pidfd, deadline_ns);
}

void relay_free(struct relay *r)
{
	if (r->pid)
		waitpid(r->pid, NULL, WNOHANG);
	util_close(&r->pidfd);
	util_close(&r->request_fd);
	if (r->log)
		munmap(r->log, sizeof(*r->log));
	*r = (struct relay)RELAY_NONE;
}
