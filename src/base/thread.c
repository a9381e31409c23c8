/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/thread.h"

#include <signal.h>

static int start(pthread_t *thread, int detach_state, void *(*fn)(void *ctx), void *ctx)
{
	pthread_attr_t attr;
	sigset_t all, old;
	int r;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, detach_state);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(thread, &attr, fn, ctx);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return -r;
}

int thread_start(pthread_t *thread, void *(*fn)(void *ctx), void *ctx)
{
	return start(thread, PTHREAD_CREATE_JOINABLE, fn, ctx);
}

int thread_start_detached(void *(*fn)(void *ctx), void *ctx)
{
	pthread_t thread;

	return start(&thread, PTHREAD_CREATE_DETACHED, fn, ctx);
}
