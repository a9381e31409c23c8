/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes of the job that outlive its trace: what they do then is in no file, so the manifest names them. Looked for
 * while the hooks still follow the target, and once more when all is written: one that was just about to end has ended
 * by then. Control plane.
 */
#ifndef SESSION_LEFT_RUNNING_H
#define SESSION_LEFT_RUNNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/process.h"

struct tracer;

struct left_running {
	bool known; /* with --all nobody is the job */
	struct process *v;
	size_t n;
	uint64_t more; /* beyond those in V, which were not looked at again */
};

/* Who is in T's target now. */
void left_running_find(struct left_running *l, const struct tracer *t);
/* Only those that still run. */
void left_running_settle(struct left_running *l);
void left_running_free(struct left_running *l);

#endif
