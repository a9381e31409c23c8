/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the cgroup of a process, and those above it, limit: the files of v2 and v1 that have another value than the
 * kernel's. Read once from cgroupfs; what is not there, or has gone, limits nothing.
 */
#ifndef HOST_CGROUP_CGROUP_LIMITS_H
#define HOST_CGROUP_CGROUP_LIMITS_H

#include <sys/types.h>

struct json;

#define CGROUP_LIMITS_MAX 64U

struct cgroup_limit {
	char *cgroup; /* from the root of its hierarchy: "/a/b" */
	const char *file; /* "cpu.max" */
	char *value; /* its text, without the last newline */
};

/* By hierarchy, from the cgroup outwards. */
struct cgroup_limits {
	struct cgroup_limit items[CGROUP_LIMITS_MAX];
	unsigned int n;
};

/* Reads those of PID's cgroups; none where they cannot be read. */
void cgroup_limits_read(struct cgroup_limits *limits, pid_t pid);
/* Appends those of DIR and of the folders above it, up to ROOT, which is a prefix of it. */
void cgroup_limits_append(struct cgroup_limits *limits, const char *root, const char *dir);
void cgroup_limits_free(struct cgroup_limits *limits);

/* Puts LIMITS as an array, the member KEY of the open object; nothing where there are none. */
void cgroup_limits_put(struct json *json, const char *key, const struct cgroup_limits *limits);

#endif
