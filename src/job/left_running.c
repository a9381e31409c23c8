/* SPDX-License-Identifier: BSD-2-Clause */
#include "job/left_running.h"

#include <stdlib.h>

#include "kernel/tracer.h"

#define LOOKED_AT_MAX 4096

struct adding {
	struct left_running *l;
	const struct tracer *t;
};

/*
 * Adds the process PID, unless it has ended. A process leaves the target before its PID can be reused: if PID is in the
 * target after the read, the right process was read.
 */
static void add(void *ctx, pid_t pid)
{
	struct adding *a = ctx;
	struct left_running *l = a->l;

	if (l->n == LOOKED_AT_MAX)
		l->more++;
	else if (process_read(&l->v[l->n], pid) == 0 && tracer_target_has(a->t, pid))
		l->n++;
}

void left_running_find(struct left_running *l, const struct tracer *t)
{
	struct adding a = { l, t };

	l->v = calloc(LOOKED_AT_MAX, sizeof(*l->v));
	if (!l->v)
		return;
	l->known = true;
	tracer_each_live(t, add, &a);
}

void left_running_settle(struct left_running *running)
{
	size_t n = 0;

	for (size_t i = 0; i < running->n; i++) {
		struct process now;

		/* another process may have its PID by now */
		if (process_read(&now, running->v[i].pid) == 0 && now.start_ticks == running->v[i].start_ticks)
			running->v[n++] = now;
	}
	running->n = n;
}

void left_running_free(struct left_running *l)
{
	free(l->v);
	*l = (struct left_running){ 0 };
}
