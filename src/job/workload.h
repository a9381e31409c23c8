/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The traced command: forked early, held at a gate until every probe is attached and the filter has its
 * number, then executed as the invoking user in that user's environment. Control plane.
 */
#ifndef JOB_WORKLOAD_H
#define JOB_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "job/relay.h"
#include "trace/usage.h"

struct workload_user;

struct workload {
	pid_t pid; /* 0: none */
	int pidfd; /* -1: none; open until workload_free() */
	int go_fd; /* eventfd: a count in it opens the gate; -1 once it has */
	int err_fd; /* read end: errno of a failed exec, EOF when exec worked */
	bool started, ended;
	bool adopted; /* another process's child, whose parent reports its status */
	int status; /* waitpid's raw status, once ended */
	uint64_t usage[USAGES]; /* once ended, all but the wall time */
	struct relay relay; /* --log: the process that holds the pty or pipe */
};

#define WORKLOAD_NONE                                                       \
	{                                                                   \
		.pidfd = -1, .go_fd = -1, .err_fd = -1, .relay = RELAY_NONE \
	}

/*
 * Fork the child; it becomes user U, with its environment, and waits: when this returns 0 it is at the gate
 * and makes no system call but poll and execve until the program runs. LOG_FD >= 0: its stdout and stderr
 * go through a relay (a pty when they were a terminal) that also writes to LOG_FD. MEM_NODE >= 0: it takes
 * memory of this NUMA node alone. 0 or -errno; on failure nothing is left behind.
 *
 * Call it before the rings are mapped: the relay may outlive us and would keep their memory.
 */
int workload_prepare(struct workload *w, char *const argv[], const struct workload_user *u, int log_fd);

/* Adopt a running process: PID, whose PIDFD, now W's, reports its end. */
void workload_adopt(struct workload *w, pid_t pid, int pidfd);
/* Its parent has reported its STATUS, and what it used, which may be NULL. */
void workload_adopted_end(struct workload *w, int status, const uint64_t usage[USAGES]);

/*
 * Open the gate; 0 once exec worked, -ENOENT / -EACCES / -errno when exec failed (the child is then reaped
 * and w->ended). A child that was killed at the gate also gives 0: reaping it shows the status.
 */
int workload_go(struct workload *workload);

/* Pass SIG on to the workload; 0 or -errno (-ESRCH when it has ended). */
int workload_signal(struct workload *w, int sig);

/*
 * Returns the signal that has stopped it since the last call, as ^Z does, SIGCONT when it has gone on since, 0 if there
 * is no news, or it is another process's child.
 */
int workload_stop_news(struct workload *w);

/* Reap without waiting: true when it has ended (w->status is set). */
bool workload_reap(struct workload *w);

/*
 * --log: wait a moment for the workload's output so far to arrive in the log. No longer, however long other
 * processes hold the output open and however much they write.
 */
void workload_await_output(struct workload *w);

/*
 * Clean up: a child that never passed the gate is ended and reaped, one that runs is left alone, and the
 * output of one that has ended gets a moment to arrive. Fine when all zero.
 */
void workload_free(struct workload *workload);

#endif
