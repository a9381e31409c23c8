/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The programs that dltraced runs for itself (mpstat, docker, tar ...), never the workload: where they
 * are looked for, and what they are told. Pure but for the environment.
 */
#ifndef HOST_HELPER_H
#define HOST_HELPER_H

#include <stddef.h>

/* Where helpers are looked for: PATH, but for root, or with capabilities by setcap(8), a fixed one. */
const char *helper_path(void);
/* PATH from here on, whoever we are: for unit tests, which put tools of their own there. */
void helper_trust_path(void);

/* Where the helper NAME is, into BUF: 0, -ENOENT, -EACCES or -errno. */
int helper_find(const char *name, char *buf, size_t size);

/*
 * The whole environment of a helper, to be freed: PATH as above, LC_ALL=C, the entries OWN, and of ours
 * those that begin as one of TAKEN does ("DOCKER_HOST=unix:"). Both end in NULL and may be NULL. NULL:
 * no memory.
 */
char **helper_environ(char *const *own, const char *const *taken);

#endif
