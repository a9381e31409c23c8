/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads beside the main one, which takes the signals: these block them. */
#ifndef OS_THREAD_H
#define OS_THREAD_H

#include <pthread.h>
#include <sys/types.h>

/*
 * Start FN(CTX) in a thread, *THREAD, to be joined; NULL: detached, as it may block in the kernel for ever.
 * 0 or -errno.
 */
int thread_start(pthread_t *thread, void *(*fn)(void *ctx), void *ctx);

/* The kernel's number of the calling thread. glibc has gettid() since 2.30. */
pid_t thread_id(void);

#endif
