/* SPDX-License-Identifier: BSD-2-Clause */
#include "parallel.h"

#include <pthread.h>

#include "util.h"

#define THREADS_MAX 8

struct jobs {
	void (*fn)(void *ctx, unsigned int i);
	void *ctx;
	unsigned int n, next;
};

static void *work(void *arg)
{
	struct jobs *j = arg;
	unsigned int i;

	while ((i = __atomic_fetch_add(&j->next, 1, __ATOMIC_RELAXED)) < j->n)
		j->fn(j->ctx, i);
	return NULL;
}

void parallel_run(void (*fn)(void *ctx, unsigned int i), void *ctx, unsigned int n, unsigned int threads)
{
	struct jobs j = { .fn = fn, .ctx = ctx, .n = n };
	pthread_t others[THREADS_MAX];
	unsigned int started = 0;

	/* this thread is one of them; where no other can be had, it does all */
	while (started + 1 < MIN(MIN(threads, n), THREADS_MAX) &&
	       !pthread_create(&others[started], NULL, work, &j))
		started++;
	work(&j);
	while (started)
		pthread_join(others[--started], NULL);
}
