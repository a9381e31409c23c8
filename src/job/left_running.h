/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes of the job that outlive its trace: their further calls are in no file, so the manifest names them. They are
 * listed while the hooks still follow the target, and checked again when all files are written, so that a process that
 * was just ending does not count. Control plane.
 */
#ifndef JOB_LEFT_RUNNING_H
#define JOB_LEFT_RUNNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/process.h"

struct tracer;

struct left_running {
	bool known; /* with --all there is no job */
	struct process *v;
	size_t n;
	uint64_t more; /* further ones, which V has no room for; not checked again */
};

/* Lists the processes in T's target. */
void left_running_find(struct left_running *l, const struct tracer *t);
/* Drops those that have ended. */
void left_running_settle(struct left_running *running);
void left_running_free(struct left_running *l);

#endif
