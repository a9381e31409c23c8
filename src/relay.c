/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The log relay, see relay.h: opens the ptys or pipes and is the process that copies. Forked by
 * the control plane, never executed, so it holds nothing but its own fds and blocks every signal.
 * Knows neither the workload nor the trace.
 */
#include "relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <termios.h>

#include "util.h"
#include "workload.h"

/* Nobody outside the terminal's foreground group is told of a new size, so the relay looks. */
#define SIZE_CHECK_MS 250

struct channel {
	int in;	 /* pty master or read end of the pipe; -1 once it has ended */
	int out; /* where the bytes would go without the relay */
	bool pty;
	struct winsize size; /* of the terminal, as last seen */
};

struct relay {
	struct channel ch[2]; /* stdout, stderr; only the first when they lead to one file */
	int end[2];	      /* the workload's ends of them */
	int log_fd;
};

static void relay_close(struct relay *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(r->ch); i++) {
		util_close(&r->ch[i].in);
		util_close(&r->end[i]);
	}
}

/* The pty behind the terminal OUT: its settings and size, but what is written stays verbatim. */
static int open_pty(struct channel *c, int *end)
{
	struct termios tio;

	if (tcgetattr(c->out, &tio) < 0)
		return -errno;
	tio.c_oflag &= ~(tcflag_t)OPOST; /* the terminal itself does it */
	if (ioctl(c->out, TIOCGWINSZ, &c->size) < 0 ||
	    openpty(&c->in, end, NULL, &tio, &c->size) < 0)
		return -errno;
	if (fcntl(c->in, F_SETFD, FD_CLOEXEC) < 0 || fcntl(*end, F_SETFD, FD_CLOEXEC) < 0)
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

static int open_channel(struct channel *c, int out, uid_t owner, int *end)
{
	int r;

	c->out = out;
	c->pty = isatty(out);
	r = c->pty ? open_pty(c, end) : open_pipe(c, end);
	if (r < 0)
		return r;
	/* Opening /dev/stdout asks the inode's owner, which is root when we are. */
	return owner != geteuid() && fchown(*end, owner, (gid_t)-1) < 0 ? -errno : 0;
}

/* Whether two fds lead to one place, where what is written to both must keep its order. */
static bool same_file(int a, int b)
{
	struct stat sa, sb;

	return !fstat(a, &sa) && !fstat(b, &sb) && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

static void pass_size(struct channel *c, pid_t pgrp)
{
	struct winsize now;

	if (ioctl(c->out, TIOCGWINSZ, &now) < 0 || !memcmp(&now, &c->size, sizeof(now)))
		return;
	c->size = now;
	ioctl(c->in, TIOCSWINSZ, &now);
	/*
	 * The terminal's own SIGWINCH came while the pty still had the old size. Group 1, of a
	 * container's first process, cannot be named: kill(2) takes -1 for everybody.
	 */
	if (pgrp > 1)
		kill(-pgrp, SIGWINCH);
}

/* All of BUF, also when somebody has made FD's file non-blocking; gives up at an error. */
static void write_out(int fd, const char *buf, size_t len)
{
	struct pollfd room = { .fd = fd, .events = POLLOUT };

	while (len) {
		ssize_t n = write(fd, buf, len);

		if (n < 0 && (errno != EAGAIN || poll(&room, 1, -1) < 0))
			return;
		if (n > 0) {
			buf += n;
			len -= (size_t)n;
		}
	}
}

static void copy(struct channel *c, int log_fd)
{
	static char buf[65536];
	ssize_t n = read(c->in, buf, sizeof(buf));

	/* A pty says EIO, not EOF, when its last holder has gone. */
	if (n <= 0) {
		util_close(&c->in);
		return;
	}
	/* A side that fails loses these bytes and does not stop the other: space may return. */
	write_out(log_fd, buf, (size_t)n);
	write_out(c->out, buf, (size_t)n);
}

/* Move the fds to 0, 1, ... and close all others: what we inherit would hold the trace open. */
static void keep_only(int *const fds[], int n)
{
	for (int i = 0; i < n; i++)
		*fds[i] = fcntl(*fds[i], F_DUPFD, 16);
	for (int i = 0; i < n; i++)
		*fds[i] = dup2(*fds[i], i);
	closefrom(n);
}

static __attribute__((noreturn)) void relay_main(struct relay *r, const struct workload_user *u)
{
	int *const fds[] = { &r->log_fd, &r->ch[0].in, &r->ch[0].out, &r->ch[1].in, &r->ch[1].out };
	bool pty = r->ch[0].pty || r->ch[1].pty;
	pid_t pgrp = getpgrp();
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	prctl(PR_SET_NAME, "dltraced-log");
	keep_only(fds, r->ch[1].in < 0 ? 3 : 5);
	if (chdir("/") < 0 || workload_user_become(u) < 0)
		_exit(125);
	while (r->ch[0].in >= 0 || r->ch[1].in >= 0) {
		struct pollfd p[] = { { .fd = r->ch[0].in, .events = POLLIN },
				      { .fd = r->ch[1].in, .events = POLLIN } };

		poll(p, ARRAY_SIZE(p), pty ? SIZE_CHECK_MS : -1);
		for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
			if (r->ch[i].pty && r->ch[i].in >= 0)
				pass_size(&r->ch[i], pgrp);
			if (p[i].revents)
				copy(&r->ch[i], r->log_fd);
		}
	}
	_exit(0);
}

int relay_start(const struct workload_user *u, int log_fd, int ends[2], pid_t *pid)
{
	struct relay r __attribute__((cleanup(relay_close))) = {
		.ch = { { .in = -1 }, { .in = -1 } }, .end = { -1, -1 }, .log_fd = log_fd,
	};
	int err = open_channel(&r.ch[0], STDOUT_FILENO, u->uid, &r.end[0]);
	pid_t child;

	if (err < 0)
		return err;
	if (!same_file(STDOUT_FILENO, STDERR_FILENO))
		err = open_channel(&r.ch[1], STDERR_FILENO, u->uid, &r.end[1]);
	else if ((r.end[1] = fcntl(r.end[0], F_DUPFD_CLOEXEC, 3)) < 0)
		err = -errno;
	if (err < 0)
		return err;
	child = fork();
	if (child < 0)
		return -errno;
	if (!child)
		relay_main(&r, u);
	ends[0] = TAKE_FD(r.end[0]);
	ends[1] = TAKE_FD(r.end[1]);
	*pid = child;
	return 0;
}
