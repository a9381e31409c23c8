/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/stall/hold_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "host/waits/holders.h"

#define LOOK_NS (500 * NSEC_PER_MSEC) /* of CPU time, for all of a look */
#define HANGS_NS (5 * NSEC_PER_SEC)
#define END_MS 200

struct area {
	pid_t pids[HOLD_READER_PIDS_MAX];
	size_t n;
	struct open_waits waits;
};

static struct {
	pid_t pid;
	int fd;
	bool busy;
	uint64_t queried_ns;
	struct area *area; /* shared with it */
} reader = { .fd = -1 };

static __attribute__((noreturn)) void reader_main(int fd, struct area *area, int (*confine)(void *ctx), void *ctx)
{
	sigset_t all;
	char c;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, "dltraced-waits");
	/* whoever waits for the end of a pipe must not wait for this process */
	if (dup2(fd, 0) < 0 || syscall(SYS_close_range, 1U, ~0U, 0U) < 0 || chdir("/") < 0 ||
	    (confine && confine(ctx) < 0))
		_exit(1);
	while (recv(0, &c, 1, 0) == 1) {
		c = (char)holders_find(&area->waits, area->pids, area->n,
				       clock_now_ns(CLOCK_THREAD_CPUTIME_ID) + LOOK_NS);
		if (send(0, &c, 1, MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}

int hold_reader_begin(int (*confine)(void *ctx), void *ctx)
{
	int fds[2];

	if (reader.pid)
		return 0;
	reader.area = mmap(NULL, sizeof(*reader.area), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (reader.area == MAP_FAILED || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	reader.pid = fork();
	if (!reader.pid)
		reader_main(fds[1], reader.area, confine, ctx);
	close(fds[1]);
	reader.fd = fds[0];
	if (reader.pid > 0)
		return 0;
	reader.pid = 0;
	util_close(&reader.fd);
	return -EAGAIN;
}

pid_t hold_reader_pid(void)
{
	return reader.pid;
}

void hold_reader_end(void)
{
	util_close(&reader.fd);
	if (!reader.pid)
		return;
	kill(reader.pid, SIGKILL);
	for (int i = 0; i < END_MS && waitpid(reader.pid, NULL, WNOHANG) == 0; i++)
		poll(NULL, 0, 1);
	reader.pid = 0;
}

int hold_reader_query(const pid_t *pids, size_t n)
{
	const uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
	char c = 0;

	if (reader.busy && now_ns - reader.queried_ns > HANGS_NS)
		util_close(&reader.fd);
	if (reader.fd < 0)
		return -ECHILD;
	if (reader.busy)
		return -EBUSY;
	reader.area->n = MIN(n, HOLD_READER_PIDS_MAX);
	memcpy(reader.area->pids, pids, reader.area->n * sizeof(*pids));
	reader.queried_ns = now_ns;
	reader.busy = send(reader.fd, &c, 1, MSG_NOSIGNAL) == 1;
	return reader.busy ? 0 : -ECHILD;
}

int hold_reader_answer(int wait_ms, const struct open_waits **ret)
{
	struct pollfd p = { .fd = reader.fd, .events = POLLIN };
	char c;

	if (reader.fd < 0)
		return -ECHILD;
	if (!reader.busy || TEMP_FAILURE_RETRY(poll(&p, 1, wait_ms)) <= 0)
		return -EAGAIN;
	reader.busy = false;
	if (recv(reader.fd, &c, 1, MSG_DONTWAIT) != 1 || c) {
		util_close(&reader.fd);
		return -ECHILD;
	}
	*ret = &reader.area->waits;
	return 0;
}
