/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace of what another process has: its user's targets, its folder, its child as the workload. What a session needs
 * to be given for that, by the hooks of a struct session_kind, whose process has these rights. Control plane.
 */
#ifndef SESSION_BORROWED_H
#define SESSION_BORROWED_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "os/loop.h"

struct session;

/* Who has requested the trace. */
struct borrower {
	uid_t uid;
	gid_t gid;
	gid_t *groups; /* the session owns them from then on */
	size_t n_groups;
	pid_t client; /* the process that asks for it */
	char *const *environ; /* the variables that the client has selected */
	const char *cwd; /* NULL: not known */
};

/* Returns the kind's own data. */
void *session_of(const struct session *s);

/* The trace is B's: it shows processes of this user alone. Returns 0. */
int session_work_for(struct session *session, const struct borrower *b);

/* Adds the process of PIDFD to the target. Returns its number, or -1 after a message. */
pid_t session_target(struct session *session, int pidfd);
/*
 * All targets are in; WORKLOAD is the pidfd of the client's child that waits to be the workload, -1: none. Returns 0,
 * or an exit status after a message: a process is not the user's. An early answer: targets_enter() has the final say.
 */
int session_targets_checked(struct session *session, int workload);
/* Takes the folder FD, which must be one that UID has just made. Returns 0, or an exit status after a message. */
int session_folder_take(struct session *session, int fd, uid_t uid);
/* Takes the log in the folder, if the trace has one, and the pidfd of the workload; -1: none. Likewise. */
int session_workload_take(struct session *session, int pidfd);

/* Calls FN when FD is readable, with the session. Returns 0 or -errno. */
int session_watch(struct session *s, int fd, loop_fn fn);
void session_unwatch(struct session *s, int fd);

/* How the workload ended, which only its parent knows. */
struct workload_end {
	int status;
	const uint64_t *usage; /* NULL: not known */
	uint64_t lost; /* bytes of its output */
};

/* The workload of the pidfd FD has ended, its status is still unknown. */
void session_workload_over(struct session *s, int fd);
/* Its status has come; NULL: it will never come. */
void session_workload_known(struct session *s, const struct workload_end *end);
/* The trace is to end, as at `dltraced stop'. */
void session_is_over(struct session *s);

#endif
