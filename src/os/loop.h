/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One epoll loop per thread: file descriptors with a callback each. Signals, children and timers
 * come in as descriptors (signalfd, pidfd, timerfd). Knows nothing of what they mean.
 */
#ifndef OS_LOOP_H
#define OS_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#define LOOP_MAX_FDS 96

/* EVENTS are EPOLL*; a negative return ends loop_run() with it. */
typedef int (*loop_fn)(void *ctx, int fd, uint32_t events);

struct loop {
	int epoll_fd;
	bool quit;
	struct loop_source {
		int fd; /* -1: free */
		uint32_t turn; /* how often this place has been used: events of earlier owners are void */
		loop_fn fn;
		void *ctx;
	} sources[LOOP_MAX_FDS];
};

int loop_init(struct loop *l);
void loop_free(struct loop *l);
/* The loop does not own FD. 0, -ENOSPC, -errno. */
int loop_add(struct loop *loop, int fd, uint32_t events, loop_fn fn, void *ctx);
void loop_del(struct loop *l, int fd);
/* Wait at most TIMEOUT_MS (-1: for ever) and run the callbacks; returns 0 or their first negative value. */
int loop_once(struct loop *loop, int timeout_ms);
/* Runs until loop_quit() or a negative return. */
int loop_run(struct loop *l);
void loop_quit(struct loop *l);
/* Returns a CLOCK_MONOTONIC timerfd that fires every INTERVAL_NS, 0: never; or -errno. */
int loop_timerfd(uint64_t interval_ns);
/* Set it to fire after FIRST_NS, then every INTERVAL_NS (0: once); 0 or -errno. */
int loop_timer_set(int fd, uint64_t first_ns, uint64_t interval_ns);

#endif
