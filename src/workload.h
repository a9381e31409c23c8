/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The traced command: forked early, held at a pipe until every probe is attached and the filter
 * knows it, then executed as the invoking user in that user's environment. Control plane.
 */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Who the workload runs as and who owns the trace folder. */
struct workload_user {
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	int n_groups;
	char name[256];
	char home[4096];
	bool sudo;	/* from SUDO_UID */
	char **environ; /* the environment sudo was called with, or NULL: ours */
	mode_t umask;
	char *lacks; /* what could not be restored, for one message; NULL: nothing */
};

struct workload {
	pid_t pid; /* 0: none */
	int pidfd; /* -1 when reaped */
	int go_fd; /* write end: one byte lets the child go on */
	int err_fd; /* read end: errno of a failed exec, EOF when exec worked */
	bool started, ended;
	int status; /* waitpid's raw status, once ended */
	pid_t relay_pid; /* --log: who holds the pty or pipe; 0: none */
};

/*
 * Resolve --user (NAME or uid, may be NULL) or else the user behind sudo, or else ourselves.
 * 0, -ENOENT when the user is unknown.
 */
int workload_user_get(struct workload_user *u, const char *name);
void workload_user_free(struct workload_user *u);

/*
 * The path that ARGV0 resolves to in PATH_ENV (execvp's rules), into BUF. 0, -ENOENT or -EACCES.
 */
int workload_resolve(const char *argv0, const char *path_env, char *buf, size_t size);

/*
 * Fork the child; it becomes user U, with its environment, and waits. LOG_FD >= 0: its stdout and
 * stderr go through a relay (a pty when they were a terminal) that also writes to LOG_FD.
 * 0 or -errno; on failure nothing is left behind.
 */
int workload_prepare(struct workload *w, char *const argv[], const struct workload_user *u, int log_fd);

/*
 * Let it go; 0 once exec worked, -ENOENT / -EACCES / -errno when exec failed (the child is then
 * reaped and w->ended).
 */
int workload_go(struct workload *w);

/* Pass SIG on to the workload; 0 or -errno. */
int workload_signal(struct workload *w, int sig);

/* Reap without waiting: true when it has ended (w->status is set). */
bool workload_reap(struct workload *w);

/* The status that dltraced returns for a raw wait status: N, or 128+signal. */
int workload_exit_code(int status);

/* Undo what is still there: a child that never went is ended and reaped. Fine when half built. */
void workload_free(struct workload *w);

#endif
