/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See async_call.h. One detached thread for each call: glibc keeps the stack of the last one, and a thread
 * that hangs in the kernel could not be joined.
 */
#include "host/stall/async_call.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/util.h"
#include "host/process.h"
#include "os/thread.h"

#define LOOK_MS 10

static void *async_call_main(void *arg)
{
	struct async_call *c = arg;
	int fd = c->done_fd; /* once it is readable the rest of C is not ours */
	uint64_t one = 1;

	__atomic_store_n(&c->tid, thread_id(), __ATOMIC_RELAXED);
	c->fn(c->ctx);
	(void)!write(fd, &one, sizeof(one));
	return NULL;
}

int async_call_begin(struct async_call *call, void (*fn)(void *ctx), void *ctx)
{
	if (!async_call_wait(call, 0))
		return -EBUSY;
	if (call->done_fd < 0)
		call->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (call->done_fd < 0)
		return -errno;
	call->fn = fn;
	call->ctx = ctx;
	call->tid = 0;
	call->begun_ns = clock_now_ns(CLOCK_MONOTONIC);
	call->busy = thread_start(NULL, async_call_main, call) == 0;
	return call->busy ? 0 : -EAGAIN;
}

bool async_call_wait(struct async_call *c, int timeout_ms)
{
	struct pollfd p = { .fd = c->done_fd, .events = POLLIN };
	uint64_t n;

	if (!c->busy)
		return true;
	(void)TEMP_FAILURE_RETRY(poll(&p, 1, timeout_ms));
	c->busy = read(c->done_fd, &n, sizeof(n)) != sizeof(n);
	return !c->busy;
}

/* Returns whether its thread is held in the kernel at this moment. */
static bool is_held(const struct async_call *c)
{
	pid_t tid = __atomic_load_n(&c->tid, __ATOMIC_RELAXED);
	char state = c->busy && tid ? process_state(tid) : 0;

	return state == 'D' || state == 'S';
}

bool async_call_wait_unheld(struct async_call *c, int limit_ms)
{
	bool ended = async_call_wait(c, limit_ms);

	while (!ended && !is_held(c))
		ended = async_call_wait(c, LOOK_MS);
	return ended;
}

uint64_t async_call_busy_ns(const struct async_call *c)
{
	return c->busy ? clock_now_ns(CLOCK_MONOTONIC) - c->begun_ns : 0;
}

void async_call_free(struct async_call *c)
{
	if (!c->busy)
		util_close(&c->done_fd);
}
