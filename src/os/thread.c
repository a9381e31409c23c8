/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/thread.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

int thread_start(pthread_t *thread, void *(*fn)(void *ctx), void *ctx)
{
	pthread_attr_t attr;
	sigset_t all, old;
	pthread_t none;
	int r;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, thread ? PTHREAD_CREATE_JOINABLE : PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(thread ? thread : &none, &attr, fn, ctx);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return -r;
}

pid_t thread_id(void)
{
	return (pid_t)syscall(SYS_gettid);
}
