/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process may use: CPUs, its priority, its limits, and the shared memory that it sees. Read once from /proc, the
 * cgroup file systems and statfs(2), any of which may lack something: what is not known is absent.
 */
#ifndef HOST_CGROUP_ALLOWANCE_H
#define HOST_CGROUP_ALLOWANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "dlt/pids.h"

struct json;

struct allowance {
	pid_t pid; /* 0: not known */
	char cpus[1024], cpuset[1024]; /* lists as "0-3,8": of the process, and of its cgroup; "": not known */
	unsigned int n_cpus, n_cpuset; /* how many of them are online */
	const char
		*cpus_by; /* who has taken CPUs from it: "cgroup", "inherited", "affinity" (set since); NULL: nobody */
	bool has_schedule, has_oom;
	long nice, policy, oom_score_adj; /* POLICY: SCHED_OTHER (0), SCHED_FIFO (1) ... */
	struct {
		bool known;
		uint64_t soft, hard;
	} limit[DLT_RLIMITS];
	uint64_t shm_bytes, shm_used_bytes; /* of the tmpfs on its /dev/shm; both 0: there is none */
};

/* Reads what PID may use. FRESH: it has run nothing of its own yet, so that all of this is inherited. */
void allowance_read(struct allowance *a, pid_t pid, bool fresh);
/* Puts A as members of the open object. */
void allowance_put(struct json *json, const struct allowance *a);

/* --- its parts, for tests ---------------------------------------------------------------------------------- */

/* Parses the text of /proc/PID/limits. */
void allowance_parse_limits(struct allowance *a, const char *text);
/* Parses the text of /proc/PID/stat. */
void allowance_parse_stat(struct allowance *a, const char *text);
/* Sets who has taken CPUs from the process, of ONLINE. */
void allowance_judge(struct allowance *a, unsigned int online, bool fresh);

#endif
