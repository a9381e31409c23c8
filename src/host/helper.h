/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The programs that dltraced runs for itself (mpstat, docker, tar ...), never the workload: where they are
 * searched for, and their environment. Pure except for the environment.
 */
#ifndef HOST_HELPER_H
#define HOST_HELPER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Returns the search path of helpers: PATH, but for root, or with capabilities by setcap(8), a fixed one. */
const char *helper_path(void);
/* Use PATH from here on, also for root: for unit tests, which put tools of their own there. */
void helper_trust_path(void);

/* Finds the helper NAME and copies its path to BUF: 0, -ENOENT, -EACCES or -errno. */
int helper_find(const char *name, char *buf, size_t size);

/*
 * Returns the whole environment of a helper, to be freed: PATH as above, LC_ALL=C, the entries OWN, and
 * from ours those that begin with one of TAKEN ("DOCKER_HOST=unix:"). Both end in NULL and may be NULL.
 * NULL: no memory.
 */
char **helper_environ(char *const *own, const char *const *taken);

enum helper_flag {
	HELPER_STDOUT = 0, /* its stderr is discarded */
	HELPER_BOTH = 1, /* its stderr goes where its stdout does */
	HELPER_STDERR = 2, /* its stderr is ours */
	HELPER_OURS = 4, /* it stays in our process group; else it has one of its own */
};

/*
 * Start the helper ARGV in the environment helper_environ(NULL, TAKEN), with OUT_FD as its stdout, without
 * input. 0 or -errno, -ENOENT when there is no such program.
 */
int helper_spawn(pid_t *pid_ret, const char *const argv[], const char *const *taken, unsigned int flags, int out_fd);

/*
 * Start it, and wait for its end: its output, at most SIZE - 1 bytes, into BUF, and its raw status. 0;
 * -ETIMEDOUT after TIMEOUT_NS, -ECANCELED when STOP_FD (-1: never) is readable, -EMSGSIZE or -errno: then
 * the helper and its children are killed.
 */
int helper_output(const char *const argv[], const char *const *taken, unsigned int flags, uint64_t timeout_ns,
		  int stop_fd, char *buf, size_t size, int *status);

#endif
