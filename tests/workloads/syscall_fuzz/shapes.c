// SPDX-License-Identifier: BSD-2-Clause
/*
 * Descriptors that come and go without an open, processes of unusual shapes, and reads that signals interrupt. Calls of
 * dup(2), sockets, pidfds, clone(2) and timers are not in the tally; the calls around them are.
 */
#include "fuzz.h"

#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

/* --- descriptors -------------------------------------------------------------------------------------- */

static void fd_duplicate(struct worker *w)
{
	const struct fd *f = fd_find(w, fd_own(w));
	struct fd *onto = fd_find(w, fd_own(w));
	const bool shared = f && f->shared;
	int fd = -1;

	if (!f)
		return;
	switch (pick(w, 4)) {
	case 0:
		fd = dup(f->fd);
		break;
	case 1:
		fd = fcntl(f->fd, one_in(w, 2) ? F_DUPFD : F_DUPFD_CLOEXEC, (int)pick(w, 200));
		break;
	case 2:
		fcntl(f->fd, F_SETFL, O_NONBLOCK | PICK(w, 0, O_APPEND, O_DIRECT));
		break;
	default:
		if (onto && onto != f) /* a close without a call of close */
			fd = one_in(w, 2) ? dup2(f->fd, onto->fd) : dup3(f->fd, onto->fd, O_CLOEXEC);
	}
	fd_take(w, fd, false, shared);
}

/* By SCM_RIGHTS, through the worker's pair of sockets: it comes back with another number. */
static void fd_pass(struct worker *w)
{
	const struct fd *f = fd_find(w, fd_own(w));
	char byte = 0, control[CMSG_SPACE(sizeof(int))] = {};
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	bool shared;
	int fd;

	if (!f)
		return;
	shared = f->shared;
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &f->fd, sizeof(int));
	if (sendmsg(w->sock[0], &msg, MSG_DONTWAIT) < 0 || recvmsg(w->sock[1], &msg, MSG_DONTWAIT) < 0)
		return;
	c = CMSG_FIRSTHDR(&msg);
	if (!c || c->cmsg_type != SCM_RIGHTS)
		return;
	memcpy(&fd, CMSG_DATA(c), sizeof(int));
	fd_take(w, fd, false, shared);
}

/* Takes a descriptor from the table of the process's first thread, by the process's pidfd. */
static void fd_get(struct worker *w)
{
	const struct fd *f = fd_find(w, fd_own(w));
	int pidfd = w->apart ? -1 : (int)syscall(SYS_pidfd_open, w->pid, 0);

	if (f && pidfd >= 0)
		fd_take(w, (int)syscall(SYS_pidfd_getfd, pidfd, f->fd, 0), false, f->shared);
	if (pidfd >= 0)
		CALL(w, close, pidfd);
}

static void fd_new(struct worker *w)
{
	int fd, ends[2] = { -1, -1 };

	if (one_in(w, 4)) {
		fd = memfd_create(one_in(w, 2) ? "m" : "a \n#", MFD_CLOEXEC);
		fd_take(w, fd, false, false);
		return;
	}
	if (one_in(w, 2) ? pipe2(ends, O_NONBLOCK | O_CLOEXEC) :
			   socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends))
		return;
	fd_take(w, ends[0], false, false);
	fd_take(w, ends[1], false, false);
}

/* W has left its process's table, in which the copies of its descriptors belong to no worker now. */
static void table_left(struct worker *w)
{
	w->kin = 1;
	w->apart = true;
}

/*
 * The first thread stays in its process's table, see fd_get(); so does one with a ring, as the kernel's threads, which
 * do some of its requests, would stay there.
 */
static bool may_leave(const struct worker *w)
{
	return w->kin > 1 && !w->depth && !w->ring && w->tid != w->pid;
}

/* A range may contain others' numbers only where the worker has a table of its own, or gets one by CLOSE_RANGE_UNSHARE.
 */
static void fd_close_range(struct worker *w)
{
	const bool alone = w->kin == 1 && !w->depth && !w->ring;
	const long leave = alone || (may_leave(w) && one_in(w, 4)) ? CLOSE_RANGE_UNSHARE : 0;
	const long flags = PICK(w, 0, 0, CLOSE_RANGE_CLOEXEC, 1 << 20, leave);
	const bool wide = w->kin == 1 || flags == CLOSE_RANGE_UNSHARE;
	const long first = fd_own(w), last = first >= 0 && wide ? first + (long)pick(w, 3) : first;
	long ret;

	if (first < 0 || one_in(w, 4)) {
		const unsigned int i = pick(w, 4);
		static const unsigned int none[][2] = {
			{ 1 << 20, UINT32_MAX }, { UINT32_MAX, UINT32_MAX }, { 10, 9 }, { 1U << 31, 1U << 31 }
		};

		if (CALL(w, close_range, none[i][0], none[i][1], flags) == 0 && flags == CLOSE_RANGE_UNSHARE &&
		    w->kin > 1)
			table_left(w);
		return;
	}
	for (long fd = first; fd <= last; fd++)
		if (fd == 2 || (fd_find(w, fd) && fd_find(w, fd)->kept))
			return;
	ret = CALL(w, close_range, first, last, flags);
	if (ret == 0 && flags == CLOSE_RANGE_UNSHARE && w->kin > 1)
		table_left(w);
	for (long fd = first; ret == 0 && !(flags & CLOSE_RANGE_CLOEXEC) && fd <= last; fd++)
		if (fd_find(w, fd))
			fd_forget(fd_find(w, fd));
}

static void fd_close(struct worker *w)
{
	const long fd = one_in(w, 12) ? PICK(w, -1, 1L << 20, INT32_MIN + 1, 1023) : fd_own(w);

	if (CALL(w, close, fd) == 0 && fd_find(w, fd))
		fd_forget(fd_find(w, fd));
}

static void table_unshare(struct worker *w)
{
	if (may_leave(w) && unshare(CLONE_FILES) == 0)
		table_left(w);
}

void deed_descriptor(struct worker *w)
{
	switch (pick(w, 40)) {
	case 0 ... 7:
		fd_duplicate(w);
		break;
	case 8 ... 11:
		fd_pass(w);
		break;
	case 12 ... 13:
		fd_get(w);
		break;
	case 14 ... 18:
		fd_new(w);
		break;
	case 19 ... 22:
		fd_close_range(w);
		break;
	case 23:
		table_unshare(w);
		break;
	default:
		fd_close(w);
	}
}

/* --- processes ---------------------------------------------------------------------------------------- */

static int child_run(void *arg)
{
	struct worker *w = arg;

	w->pid = w->tid = (pid_t)syscall(SYS_getpid);
	w->depth++;
	for (unsigned int n = 3 + pick(w, 30); n && !tally_is_full(); n--)
		deed_any(w);
	w->depth--;
	_exit(0);
}

/*
 * A child by fork or vfork, with its own table or the worker's, which waits until it has ended. Workers lie in memory
 * that all processes share, so the worker knows afterwards what the child has done with its table.
 */
void deed_process(struct worker *w)
{
	const bool table = one_in(w, 2), vm = one_in(w, 2);
	struct worker *child = table ? w : w->spare;
	const pid_t pid = w->pid, tid = w->tid;
	const unsigned int kin = w->kin;
	pid_t born;

	if (w->depth)
		return;
	if (!table) {
		*child = *w;
		child->kin = 1;
		child->random ^= 0x5555;
	}
	born = clone(child_run, w->stack + 2 * STACK,
		     (vm ? CLONE_VM | CLONE_VFORK : 0) | (table ? CLONE_FILES : 0) | SIGCHLD, child);
	if (born < 0)
		die("clone");
	if (waitpid(born, NULL, 0) < 0)
		die("waitpid");
	w->pid = pid;
	w->tid = tid;
	w->kin = kin;
}

/* --- interruptions ------------------------------------------------------------------------------------- */

static __thread struct worker *interrupted; /* the one that waits in a read */
static __thread struct {
	int timer, fd; /* fd: the other end of the pipe */
	unsigned int n;
	bool over;
} waiting;

static void timer_start(void)
{
	/* later each time, so that the slowest machine is in the read by then */
	const struct itimerspec when = { .it_value.tv_nsec = 100000L << (waiting.n < 12 ? waiting.n : 12) };

	syscall(SYS_timer_settime, waiting.timer, 0, &when, NULL);
}

/* Also makes calls, between the tries of the read. */
static void on_signal(int signal)
{
	struct worker *w = interrupted;
	struct notes notes;

	if (!w)
		return;
	notes = w->notes;
	if (w->running)
		w->running->interrupts++;
	w->notes = NO_NOTES;
	CALL(w, fdatasync, -1);
	if (++waiting.n == 3 && signal == SIGUSR2)
		CALL(w, write, waiting.fd, (long)w->buf, 1);
	w->notes = notes;
	if (!waiting.over)
		timer_start();
}

void interrupts_begin(void)
{
	struct sigaction once = { .sa_handler = on_signal },
			 again = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	sigaction(SIGUSR1, &once, NULL);
	sigaction(SIGUSR2, &again, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

/* A read of an empty pipe, which ends with EINTR, or is repeated until a handler has written something. */
void deed_interrupted(struct worker *w)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = one_in(w, 2) ? SIGUSR1 : SIGUSR2 };
	int ends[2];

	if (w->depth || pipe2(ends, O_CLOEXEC) < 0)
		return;
	fd_take(w, ends[0], true, false);
	fd_take(w, ends[1], true, false);
	if (!fd_find(w, ends[0]) || !fd_find(w, ends[1])) { /* no room: the descriptor is closed already */
		if (fd_find(w, ends[0])) {
			CALL(w, close, ends[0]);
			fd_forget(fd_find(w, ends[0]));
		}
		return;
	}
	event._sigev_un._tid = w->tid;
	memset(&waiting, 0, sizeof(waiting));
	waiting.fd = ends[1];
	if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &waiting.timer) < 0)
		die("timer_create");
	interrupted = w;
	timer_start();
	if (one_in(w, 2))
		CALL(w, read, ends[0], (long)w->buf, 10);
	else {
		w->vector[0] = (struct iovec){ w->buf, 10 };
		w->notes.bytes = 10;
		CALL(w, readv, ends[0], (long)w->vector, 1);
	}
	waiting.over = true;
	syscall(SYS_timer_delete, waiting.timer);
	interrupted = NULL;
	for (unsigned int i = 0; i < 2; i++) {
		CALL(w, close, ends[i]);
		fd_forget(fd_find(w, ends[i]));
	}
}
