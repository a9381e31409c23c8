/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A piece of work done by a child that has become the workload's user, so that a hostile folder can only
 * make it do things that user could have done. Control plane, once no other thread is left: a child of many
 * threads could not even allocate memory.
 */
#ifndef HOST_RIGHTS_RUN_AS_USER_H
#define HOST_RIGHTS_RUN_AS_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct workload_user;

/* Runs in the child: 0, or -errno with a line about it in ERROR, which is empty before. */
typedef int (*run_as_user_fn)(const void *ctx, char *error, size_t size);

/*
 * Run FN as user USER and wait for it: returns its result, or -errno; on failure ERROR is a line with the
 * reason. There is no deadline: SIGINT and SIGTERM, which are consumed, end it early (-EINTR). WHAT, the
 * object of the work, is named in a message where a file system does not answer: the wait goes on, but not
 * beyond those two signals.
 */
int run_as_user(const struct workload_user *user, const char *what, run_as_user_fn fn, const void *ctx, char *error,
		size_t size);

/* For FN: has a signal requested its end? Both signals are blocked, so that it can clean up. */
bool run_as_user_interrupted(void);

/*
 * For FN: wait for PID, a child of its own, which is ended when FN is to end. Returns its raw status. WHAT
 * as above.
 */
int run_as_user_wait(pid_t pid, const char *what);

#endif
