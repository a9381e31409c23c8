/* SPDX-License-Identifier: BSD-2-Clause */
/* The owner of a process: may a user without rights trace it? */
#ifndef HOST_RIGHTS_OWNER_H
#define HOST_RIGHTS_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A user and the user's groups. */
struct owner {
	uid_t uid;
	gid_t gid;
	const gid_t *groups; /* N_GROUPS of them */
	size_t n_groups;
};

/*
 * Returns true when every thread of PID runs only as O's uid (real, effective, saved and file system uid),
 * its gids are equal and among O's, it has no capabilities, and the kernel has not made it unreadable
 * because it once had more rights. Else false, with the reason in WHY. Threads may change meanwhile: the
 * kernel side (bpf/process/pids.bpf.c) notices those that gain rights by execve(2) later.
 */
bool owner_is(pid_t pid, const struct owner *o, char *why, size_t size);

/* The check for the text of one thread's /proc/PID/task/TID/status. */
bool owner_is_thread(const char *status, const struct owner *o, char *why, size_t size);

/* Returns the process of PIDFD, by our /proc's number; -ESRCH: ended, or not visible to us; -EINVAL. */
pid_t owner_pidfd_pid(int pidfd);

/* Has the process of PIDFD ended? Until then its number is its own. */
bool owner_pidfd_ended(int pidfd);

#endif
