/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A call that may never return, such as a request to a file server that is gone, made by a thread of its
 * own for the control plane, which goes on meanwhile. One at a time; each runs with the credentials that
 * the caller has when it begins.
 */
#ifndef HOST_STALL_ASYNC_CALL_H
#define HOST_STALL_ASYNC_CALL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct async_call {
	int done_fd; /* readable: the last one has ended; -1: there has not been one */
	bool busy; /* as known here */
	uint64_t begun_ns;
	pid_t tid; /* of its thread; 0: not known yet; atomic */
	void (*fn)(void *ctx);
	void *ctx;
};
#define ASYNC_CALL_NONE       \
	{                     \
		.done_fd = -1 \
	}

/*
 * Begin FN(CTX): 0 or -errno, -EBUSY while the last one is in flight. CTX belongs to the thread until
 * async_call_wait() has returned true.
 */
int async_call_begin(struct async_call *call, void (*fn)(void *ctx), void *ctx);
/* Wait up to TIMEOUT_MS, -1: for ever. Returns true when it has ended, or there is none. */
bool async_call_wait(struct async_call *c, int timeout_ms);
/*
 * Wait until it has ended, or until it has taken LIMIT_MS and its thread is held in the kernel then, where it would
 * also wait on: returns false. A thread that runs, or waits for a CPU, is waited for.
 */
bool async_call_wait_unheld(struct async_call *c, int limit_ms);
/* Returns how long it has been in flight, ns; 0: it is not. */
uint64_t async_call_busy_ns(const struct async_call *c);
/* Not while it is in flight: its thread still uses it. */
void async_call_free(struct async_call *c);

#endif
