/* SPDX-License-Identifier: BSD-2-Clause */
/* Whose a process is: may a user without rights trace it? */
#ifndef OWNER_H
#define OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Every thread of PID runs as UID alone (real, effective, saved and file system uid), its gids are one,
 * it has no capabilities, and it has not been made unreadable by the kernel because it once had more
 * rights. Else false, with the reason in WHY. Threads may change while this looks: what takes rights by
 * execve(2) later is the kernel side's to notice (bpf/pids.bpf.c).
 */
bool owner_is(pid_t pid, uid_t uid, char *why, size_t size);

/* The same of the text of one thread's /proc/PID/task/TID/status. */
bool owner_is_thread(const char *status, uid_t uid, char *why, size_t size);

/* The process that PIDFD stands for, by our /proc's number; -ESRCH: ended, or out of our sight; -EINVAL. */
pid_t owner_pidfd_pid(int pidfd);

/* Has the process ended that PIDFD stands for? While not, its number is its own. */
bool owner_pidfd_ended(int pidfd);

#endif
