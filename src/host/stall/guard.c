/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See guard.h. A thread for each stretch, joined at its end: there is none when the workload is forked and
 * when privileges are given up.
 */
#include "host/stall/guard.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/util.h"
#include "host/background.h"
#include "host/stall/clock.h"
#include "os/thread.h"

#define LOOK_MS 200
#define STALL_CLOCK_NS (3 * NSEC_PER_SEC)
#define NAME_MAX_SHOWN 1024

static struct {
	pthread_t thread;
	clockid_t clock; /* the CPU time of the guarded thread */
	pid_t tid;
	int end_fd; /* -1: none */
	int code;
	char what[NAME_MAX_SHOWN];
} watched = { .end_fd = -1 };

static const struct stall_guard_front *front;

void stall_guard_behind(const struct stall_guard_front *f)
{
	front = f;
}

int stall_guard_lost(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	sigset_t pending;

	if (sigpending(&pending) == 0)
		for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
			if (sigismember(&pending, ends[i]))
				return 128 + ends[i];
	if (front && front->gone())
		return 128 + SIGKILL;
	return background_caller_gone() ? 128 + SIGINT : 0;
}

/* A process that hangs in the kernel is left there: nobody waits for anything that it has. */
static __attribute__((noreturn)) void leave(int lost)
{
	int code = watched.code == STALL_GUARD_BY_SIGNAL ? lost : watched.code;

	log_err("%s: no longer waited for", watched.what);
	if (front)
		front->leave(code);
	_exit(code);
}

static void *watch_main(void *arg)
{
	struct pollfd p = { .fd = watched.end_fd, .events = POLLIN };
	struct stall_clock still;
	bool warned = false;
	int lost;

	stall_clock_begin(&still, watched.tid, clock_now_ns(watched.clock), clock_now_ns(CLOCK_MONOTONIC));
	while (poll(&p, 1, LOOK_MS) == 0) {
		if (stall_clock_ns(&still, clock_now_ns(watched.clock), clock_now_ns(CLOCK_MONOTONIC)) < STALL_CLOCK_NS)
			continue;
		if (!warned)
			log_warn("%s: its file system does not answer; waiting for it; ^C or TERM ends the wait",
				 watched.what);
		warned = true;
		lost = watched.code == STALL_GUARD_REPORTS ? 0 : stall_guard_lost();
		if (lost)
			leave(lost);
	}
	return NULL;
}

void stall_guard_begin(const char *what, int code)
{
	watched.code = code;
	watched.tid = thread_id();
	snprintf(watched.what, sizeof(watched.what), "%s", what);
	if (pthread_getcpuclockid(pthread_self(), &watched.clock))
		return;
	watched.end_fd = eventfd(0, EFD_CLOEXEC);
	/* this thread does not take signals, but sees them pending until another thread does */
	if (watched.end_fd >= 0 && thread_start(&watched.thread, watch_main, NULL) < 0)
		util_close(&watched.end_fd);
}

void stall_guard_end(void)
{
	if (watched.end_fd < 0)
		return;
	eventfd_write(watched.end_fd, 1);
	pthread_join(watched.thread, NULL);
	util_close(&watched.end_fd);
}
