/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See async_call.h. A thread for each time, which nobody joins: glibc keeps the stack of the last one, and what
 * hangs in the kernel could not be joined.
 */
#include "host/stall/async_call.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/thread.h"
#include "base/util.h"

static void *chore_main(void *arg)
{
	struct chore *c = arg;
	int fd = c->done_fd; /* once it is readable the rest of C is not ours */
	uint64_t one = 1;

	c->fn(c->ctx);
	(void)!write(fd, &one, sizeof(one));
	return NULL;
}

int chore_begin(struct chore *c, void (*fn)(void *ctx), void *ctx)
{
	if (!chore_wait(c, 0))
		return -EBUSY;
	if (c->done_fd < 0)
		c->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->done_fd < 0)
		return -errno;
	c->fn = fn;
	c->ctx = ctx;
	c->begun_ns = clock_now_ns(CLOCK_MONOTONIC);
	c->busy = thread_start_detached(chore_main, c) == 0;
	return c->busy ? 0 : -EAGAIN;
}

bool chore_wait(struct chore *c, int timeout_ms)
{
	struct pollfd p = { .fd = c->done_fd, .events = POLLIN };
	uint64_t n;

	if (!c->busy)
		return true;
	poll(&p, 1, timeout_ms);
	c->busy = read(c->done_fd, &n, sizeof(n)) != sizeof(n);
	return !c->busy;
}

uint64_t chore_busy_ns(const struct chore *c)
{
	return c->busy ? clock_now_ns(CLOCK_MONOTONIC) - c->begun_ns : 0;
}

void chore_free(struct chore *c)
{
	if (!c->busy)
		util_close(&c->done_fd);
}
