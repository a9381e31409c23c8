/* SPDX-License-Identifier: BSD-2-Clause */
/* The user that the traced command runs as: the one behind sudo, or --user, or ourselves. */
#ifndef HOST_RIGHTS_WORKLOAD_USER_H
#define HOST_RIGHTS_WORKLOAD_USER_H

#include <stdbool.h>
#include <sys/types.h>

/* The user that the workload runs as and that owns the trace folder. */
struct workload_user {
	uid_t uid;
	gid_t gid;
	gid_t *groups; /* NULL when it is ourselves: our groups stay */
	int n_groups;
	char name[256];
	char home[4096];
	bool sudo; /* from SUDO_UID */
	char **environ; /* the workload's environment; NULL: ours */
	mode_t umask;
	char *lacks; /* parts that sudo removed and that could not be restored, for one message; NULL: nothing */
};

/*
 * Resolve --user (NAME or uid, may be NULL) or else the user behind sudo, or else ourselves.
 * 0, -ENOENT when the user is unknown, -ENOMEM.
 */
int workload_user_get(struct workload_user *u, const char *name);
void workload_user_free(struct workload_user *u);

/* Make the calling process U's; for a child after fork. 0 or -errno. */
int workload_user_become(const struct workload_user *u);

/* Puts ENTRY ("NAME=VALUE") in the place of the variable of its name in U's environment. 0 or -errno. */
int workload_user_setenv(struct workload_user *u, char *entry);

/*
 * Puts WHAT in front of the value of VARIABLE ("NAME=") in U's environment, with ':' between them. 0 or -errno.
 */
int workload_user_prepend(struct workload_user *u, const char *variable, const char *what);

#endif
