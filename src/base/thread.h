/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads beside the main one, which has the signals: these take none. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>

/* Begin FN(CTX) in a thread, *THREAD, to be joined; NULL: in one that nobody joins, as it may stand in the kernel for ever. 0 or -errno. */
int thread_start(pthread_t *thread, void *(*fn)(void *ctx), void *ctx);

#endif
