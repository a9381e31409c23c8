/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/loop.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "base/util.h"

int loop_init(struct loop *l)
{
	l->quit = false;
	for (unsigned int i = 0; i < LOOP_MAX_FDS; i++)
		l->sources[i] = (struct loop_source){ .fd = -1 };
	l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return l->epoll_fd < 0 ? -errno : 0;
}

void loop_free(struct loop *l)
{
	util_close(&l->epoll_fd);
}

static struct loop_source *find(struct loop *l, int fd)
{
	for (unsigned int i = 0; i < LOOP_MAX_FDS; i++)
		if (l->sources[i].fd == fd)
			return &l->sources[i];
	return NULL;
}

int loop_add(struct loop *loop, int fd, uint32_t events, loop_fn fn, void *ctx)
{
	struct loop_source *s = find(loop, -1);
	struct epoll_event ev = { .events = events };

	if (!s)
		return -ENOSPC;
	ev.data.u64 = (uint64_t)++s->turn << 32 | (uint32_t)(s - loop->sources);
	if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0)
		return -errno;
	*s = (struct loop_source){ .fd = fd, .turn = s->turn, .fn = fn, .ctx = ctx };
	return 0;
}

void loop_del(struct loop *l, int fd)
{
	struct loop_source *s = find(l, fd);

	if (fd < 0 || !s)
		return;
	epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
	s->fd = -1;
}

int loop_once(struct loop *loop, int timeout_ms)
{
	struct epoll_event ev[16];
	int n = epoll_wait(loop->epoll_fd, ev, ARRAY_SIZE(ev), timeout_ms);

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	for (int i = 0; i < n; i++) {
		/* An earlier callback may have removed the source, and added another in its place. */
		struct loop_source *s = &loop->sources[(uint32_t)ev[i].data.u64];
		bool gone = s->fd < 0 || s->turn != ev[i].data.u64 >> 32;
		int r = gone ? 0 : s->fn(s->ctx, s->fd, ev[i].events);

		if (r < 0)
			return r;
	}
	return 0;
}

int loop_run(struct loop *l)
{
	while (!l->quit) {
		int r = loop_once(l, -1);

		if (r < 0)
			return r;
	}
	return 0;
}

void loop_quit(struct loop *l)
{
	l->quit = true;
}

int loop_timer_set(int fd, uint64_t first_ns, uint64_t interval_ns)
{
	struct itimerspec it = {
		.it_value = { (time_t)(first_ns / NSEC_PER_SEC), (long)(first_ns % NSEC_PER_SEC) },
		.it_interval = { (time_t)(interval_ns / NSEC_PER_SEC), (long)(interval_ns % NSEC_PER_SEC) },
	};

	return timerfd_settime(fd, 0, &it, NULL) < 0 ? -errno : 0;
}

int loop_timerfd(uint64_t interval_ns)
{
	autoclose int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	int r = fd < 0 ? -errno : loop_timer_set(fd, interval_ns, interval_ns);

	return r < 0 ? r : TAKE_FD(fd);
}
