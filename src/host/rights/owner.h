/* SPDX-License-Identifier: BSD-2-Clause */
/* Whose a process is: may a user without rights trace it? */
#ifndef HOST_RIGHTS_OWNER_H
#define HOST_RIGHTS_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A user, and what groups are theirs. */
struct owner {
	uid_t uid;
	gid_t gid;
	const gid_t *groups; /* N_GROUPS of them */
	size_t n_groups;
};

/*
 * Every thread of PID runs as O's uid alone (real, effective, saved and file system uid), its gids are one and that
 * one of O's, it has no capabilities, and it has not been made unreadable by the kernel because it once had more
 * rights. Else false, with the reason in WHY. Threads may change while this looks: what takes rights by
 * execve(2) later is the kernel side's to notice (bpf/pids.bpf.c).
 */
bool owner_is(pid_t pid, const struct owner *o, char *why, size_t size);

/* The same of the text of one thread's /proc/PID/task/TID/status. */
bool owner_is_thread(const char *status, const struct owner *o, char *why, size_t size);

/* The process that PIDFD stands for, by our /proc's number; -ESRCH: ended, or out of our sight; -EINVAL. */
pid_t owner_pidfd_pid(int pidfd);

/* Has the process ended that PIDFD stands for? While not, its number is its own. */
bool owner_pidfd_ended(int pidfd);

#endif
