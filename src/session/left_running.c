/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/left_running.h"

#include <stdlib.h>

#include "kernel/tracer.h"

#define LOOKED_AT_MAX 4096

static void add(void *ctx, pid_t pid)
{
	struct left_running *l = ctx;

	if (l->n == LOOKED_AT_MAX)
		l->more++;
	else if (process_read(&l->v[l->n], pid) == 0)
		l->n++;
}

void left_running_find(struct left_running *l, const struct tracer *t)
{
	l->v = calloc(LOOKED_AT_MAX, sizeof(*l->v));
	if (!l->v)
		return;
	l->known = true;
	tracer_each_live(t, add, l);
}

void left_running_settle(struct left_running *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		struct process now;

		/* its number may be another's by now */
		if (process_read(&now, l->v[i].pid) == 0 && now.start_ticks == l->v[i].start_ticks)
			l->v[n++] = now;
	}
	l->n = n;
}

void left_running_free(struct left_running *l)
{
	free(l->v);
	*l = (struct left_running){ 0 };
}
