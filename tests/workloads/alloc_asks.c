// SPDX-License-Identifier: BSD-2-Clause
/*
 * alloc_asks: a thread asks for its stack first of all, as threads of Rust and of Python 3.14 do, and then allocates
 * 70000 bytes. pthread_getattr_np(3) allocates, too, while it holds the thread's lock.
 */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static void *run(void *arg)
{
	pthread_attr_t attr;
	void *volatile block;

	if (pthread_getattr_np(pthread_self(), &attr))
		return NULL;
	block = malloc(70000);
	free(block);
	pthread_attr_destroy(&attr);
	return arg;
}

int main(void)
{
	pthread_t thread;
	void *ran = NULL;

	if (pthread_create(&thread, NULL, run, &ran) || pthread_join(thread, &ran) || !ran) {
		fputs("alloc_asks: no thread\n", stderr);
		return 1;
	}
	return 0;
}
