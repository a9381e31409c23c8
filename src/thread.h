/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads beside the main one, which has the signals: these take none. */
#ifndef THREAD_H
#define THREAD_H

#include <pthread.h>
#include <stdint.h>

/* Begin FN(CTX) in a thread, *THREAD, to be joined. 0 or -errno. */
int thread_start(pthread_t *thread, void *(*fn)(void *ctx), void *ctx);
/* The same in one that nobody joins, as it may stand in the kernel for ever. */
int thread_start_detached(void *(*fn)(void *ctx), void *ctx);

/*
 * Whether a thread works, however slowly: one that is held up in the kernel uses no CPU, one on a busy
 * machine gets a little now and then. Zeroed before the first look.
 */
struct thread_work {
	uint64_t cpu_ns;  /* of the thread, at the last look */
	uint64_t seen_ns; /* when it was seen to have used some since the look before; 0: not yet */
};
/* Look at a thread that is not joined yet; NOW in ns of any clock, never 0. When it was last seen to work. */
uint64_t thread_look(struct thread_work *w, pthread_t thread, uint64_t now);

#endif
