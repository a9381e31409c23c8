/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The traced command: forked early, held at a gate until every probe is attached and the filter
 * knows it, then executed as the invoking user in that user's environment. Control plane.
 */
#ifndef JOB_WORKLOAD_H
#define JOB_WORKLOAD_H

#include <stdbool.h>
#include <sys/types.h>

#include "job/relay.h"

struct workload_user;

struct workload {
	pid_t pid;  /* 0: none */
	int pidfd;  /* -1: none; open until workload_free() */
	int go_fd;  /* eventfd: a count in it lets the child go on; -1 once it went */
	int err_fd; /* read end: errno of a failed exec, EOF when exec worked */
	bool started, ended;
	bool adopted; /* somebody else's child, who tells us its status */
	int status;	    /* waitpid's raw status, once ended */
	struct relay relay; /* --log: who holds the pty or pipe */
};

#define WORKLOAD_NONE { .pidfd = -1, .go_fd = -1, .err_fd = -1, .relay = RELAY_NONE }

/*
 * Fork the child; it becomes user U, with its environment, and waits: when this returns 0 it stands
 * at the gate and makes no system call but poll and execve until the program runs. LOG_FD >= 0: its
 * stdout and stderr go through a relay (a pty when they were a terminal) that also writes to
 * LOG_FD. 0 or -errno; on failure nothing is left behind.
 *
 * Call it before the rings are mapped: the relay may outlive us and would keep their memory.
 */
int workload_prepare(struct workload *w, char *const argv[], const struct workload_user *u,
		     int log_fd);

/* One that is there: process PID, of which PIDFD, now W's, tells the end. */
void workload_adopt(struct workload *w, pid_t pid, int pidfd);
/* Its parent has told its STATUS. */
void workload_adopted_end(struct workload *w, int status);

/*
 * Let it go; 0 once exec worked, -ENOENT / -EACCES / -errno when exec failed (the child is then
 * reaped and w->ended). A child that was killed at the gate is 0 too: reaping it tells.
 */
int workload_go(struct workload *w);

/* Pass SIG on to the workload; 0 or -errno (-ESRCH when it has ended). */
int workload_signal(struct workload *w, int sig);

/* Reap without waiting: true when it has ended (w->status is set). */
bool workload_reap(struct workload *w);

/*
 * --log: wait a moment for what the workload has written so far to arrive in the log. No longer: who
 * holds its output open and how much more it writes makes no difference.
 */
void workload_await_output(struct workload *w);

/* The status that dltraced returns for a raw wait status: N, or 128+signal. */
int workload_exit_code(int status);

/*
 * Undo what is still there: a child that never went is ended and reaped, one that runs is left
 * alone, and what one that has ended wrote gets a moment to arrive. Fine when all zero.
 */
void workload_free(struct workload *w);

#endif
