/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <cmocka.h>

#include "base/util.h"

static struct loop loop;

/* Eventfds, and how often the callback of each has run. */
static int fds[3];
static unsigned int ran[3];

static int make(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		ran[i] = 0;
	}
	return loop_init(&loop);
}

static int unmake(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
	loop_free(&loop);
	return 0;
}

static void raise_fd(unsigned int i)
{
	const uint64_t one = 1;

	assert_int_equal(write(fds[i], &one, sizeof(one)), sizeof(one));
}

static unsigned int index_of(int fd)
{
	unsigned int i = 0;

	while (fds[i] != fd)
		i++;
	return i;
}

/* Takes the event and counts; fails without an event. */
static int on_event(void *ctx, int fd, uint32_t events)
{
	uint64_t n;

	assert_int_equal(events, EPOLLIN);
	assert_int_equal(read(fd, &n, sizeof(n)), sizeof(n));
	ran[index_of(fd)]++;
	return ctx ? *(int *)ctx : 0;
}

static void callbacks_run_for_what_is_ready(void **state)
{
	assert_int_equal(loop_add(&loop, fds[0], EPOLLIN, on_event, NULL), 0);
	assert_int_equal(loop_add(&loop, fds[1], EPOLLIN, on_event, NULL), 0);
	assert_int_equal(loop_once(&loop, 0), 0);
	raise_fd(1);
	assert_int_equal(loop_once(&loop, -1), 0);
	assert_int_equal(ran[0], 0);
	assert_int_equal(ran[1], 1);
	raise_fd(0);
	raise_fd(1);
	assert_int_equal(loop_once(&loop, -1), 0);
	assert_int_equal(ran[0], 1);
	assert_int_equal(ran[1], 2);
	assert_int_equal(loop_once(&loop, 0), 0);
}

static void removed_sources_are_not_called(void **state)
{
	loop_add(&loop, fds[0], EPOLLIN, on_event, NULL);
	raise_fd(0);
	loop_del(&loop, fds[0]);
	assert_int_equal(loop_once(&loop, 0), 0);
	assert_int_equal(ran[0], 0);
	loop_del(&loop, fds[0]); /* twice, or without having been added */
	loop_del(&loop, -1);
	assert_int_equal(loop_add(&loop, fds[0], EPOLLIN, on_event, NULL), 0);
	assert_int_equal(loop_once(&loop, 0), 0);
	assert_int_equal(ran[0], 1);
}

/* Of two ready descriptors, the first one removes the other. */
static int on_event_other_out(void *ctx, int fd, uint32_t events)
{
	loop_del(&loop, fds[!index_of(fd)]);
	return on_event(ctx, fd, events);
}

static void a_callback_may_take_out_one_that_is_ready_too(void **state)
{
	loop_add(&loop, fds[0], EPOLLIN, on_event_other_out, NULL);
	loop_add(&loop, fds[1], EPOLLIN, on_event_other_out, NULL);
	raise_fd(0);
	raise_fd(1);
	assert_int_equal(loop_once(&loop, -1), 0);
	assert_int_equal(ran[0] + ran[1], 1);
	assert_int_equal(loop_once(&loop, 0), 0);
	assert_int_equal(ran[0] + ran[1], 1);
}

/* As above; a third one, which is not ready, takes its place. */
static int on_event_third_in(void *ctx, int fd, uint32_t events)
{
	loop_del(&loop, fds[!index_of(fd)]);
	assert_int_equal(loop_add(&loop, fds[2], EPOLLIN, on_event, NULL), 0);
	return on_event(ctx, fd, events);
}

static void a_place_taken_over_does_not_take_over_events(void **state)
{
	loop_add(&loop, fds[0], EPOLLIN, on_event_third_in, NULL);
	loop_add(&loop, fds[1], EPOLLIN, on_event_third_in, NULL);
	raise_fd(0);
	raise_fd(1);
	assert_int_equal(loop_once(&loop, -1), 0);
	assert_int_equal(ran[0] + ran[1], 1);
	assert_int_equal(ran[2], 0);
	raise_fd(2);
	assert_int_equal(loop_once(&loop, -1), 0);
	assert_int_equal(ran[2], 1);
}

static void a_descriptor_is_watched_once(void **state)
{
	assert_int_equal(loop_add(&loop, fds[0], EPOLLIN, on_event, NULL), 0);
	assert_int_equal(loop_add(&loop, fds[0], EPOLLIN, on_event, NULL), -EEXIST);
	raise_fd(0);
	assert_int_equal(loop_once(&loop, -1), 0);
	assert_int_equal(ran[0], 1);
}

static void what_cannot_be_watched_takes_no_place(void **state)
{
	autoclose int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	for (int i = 0; i < 2 * LOOP_MAX_FDS; i++) {
		assert_int_equal(loop_add(&loop, file, EPOLLIN, on_event, NULL), -EPERM);
		assert_int_equal(loop_add(&loop, -1, EPOLLIN, on_event, NULL), -EBADF);
	}
	assert_int_equal(loop_add(&loop, fds[0], EPOLLIN, on_event, NULL), 0);
}

static void there_is_room_for_as_many_as_it_says(void **state)
{
	int many[LOOP_MAX_FDS];

	for (int i = 0; i < LOOP_MAX_FDS; i++) {
		many[i] = eventfd(0, EFD_CLOEXEC);
		assert_int_equal(loop_add(&loop, many[i], EPOLLIN, on_event, NULL), 0);
	}
	assert_int_equal(loop_add(&loop, fds[0], EPOLLIN, on_event, NULL), -ENOSPC);
	loop_del(&loop, many[17]);
	assert_int_equal(loop_add(&loop, fds[0], EPOLLIN, on_event, NULL), 0);
	raise_fd(0);
	assert_int_equal(loop_once(&loop, -1), 0);
	assert_int_equal(ran[0], 1);
	for (int i = 0; i < LOOP_MAX_FDS; i++)
		close(many[i]);
}

/* --- ends ------------------------------------------------------------------------------------- */

static void a_negative_return_ends_the_run_with_it(void **state)
{
	int r = -EIO;

	loop_add(&loop, fds[0], EPOLLIN, on_event, &r);
	raise_fd(0);
	assert_int_equal(loop_run(&loop), -EIO);
	raise_fd(0);
	assert_int_equal(loop_once(&loop, -1), -EIO);
}

static void a_positive_return_goes_on(void **state)
{
	int r = 1;

	loop_add(&loop, fds[0], EPOLLIN, on_event, &r);
	raise_fd(0);
	assert_int_equal(loop_once(&loop, -1), 0);
}

static int on_event_again_then_quit(void *ctx, int fd, uint32_t events)
{
	on_event(NULL, fd, events);
	if (ran[0] < 3)
		raise_fd(0);
	else
		loop_quit(&loop);
	return 0;
}

static void runs_until_it_is_to_quit(void **state)
{
	loop_add(&loop, fds[0], EPOLLIN, on_event_again_then_quit, NULL);
	raise_fd(0);
	assert_int_equal(loop_run(&loop), 0);
	assert_int_equal(ran[0], 3);
	assert_int_equal(loop_run(&loop), 0); /* it stays ended */
}

static void a_loop_that_is_not_there_any_more_fails(void **state)
{
	struct loop gone;

	assert_int_equal(loop_init(&gone), 0);
	loop_free(&gone);
	assert_int_equal(gone.epoll_fd, -1);
	assert_int_equal(loop_run(&gone), -EBADF);
	loop_free(&gone);
}

/* --- timers ----------------------------------------------------------------------------------- */

static void timers_are_set_to_the_given_time(void **state)
{
	autoclose int fd = loop_timerfd(7200 * NSEC_PER_SEC + 5), once = loop_timerfd(1), off = loop_timerfd(0);
	struct itimerspec it;

	assert_int_equal(loop_timer_set(once, 3600 * NSEC_PER_SEC, 0), 0);
	assert_int_equal(timerfd_gettime(fd, &it), 0);
	assert_int_equal(timespec_ns(&it.it_interval), 7200 * NSEC_PER_SEC + 5);
	assert_in_range(timespec_ns(&it.it_value), 3600 * NSEC_PER_SEC, 7200 * NSEC_PER_SEC + 5);
	assert_int_equal(timerfd_gettime(once, &it), 0);
	assert_int_equal(timespec_ns(&it.it_interval), 0);
	assert_in_range(timespec_ns(&it.it_value), 1, 3600 * NSEC_PER_SEC);
	assert_int_equal(timerfd_gettime(off, &it), 0);
	assert_int_equal(timespec_ns(&it.it_value), 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
}

static int on_timer(void *ctx, int fd, uint32_t events)
{
	uint64_t n;

	assert_int_equal(read(fd, &n, sizeof(n)), sizeof(n));
	assert_true(n >= 1);
	ran[0]++;
	loop_quit(&loop);
	return 0;
}

static void a_timer_wakes_the_loop(void **state)
{
	autoclose int fd = loop_timerfd(1);

	assert_int_equal(loop_add(&loop, fd, EPOLLIN, on_timer, NULL), 0);
	assert_int_equal(loop_run(&loop), 0);
	assert_int_equal(ran[0], 1);
}

#define WITH_LOOP(test) cmocka_unit_test_setup_teardown(test, make, unmake)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_LOOP(a_callback_may_take_out_one_that_is_ready_too),
		WITH_LOOP(a_descriptor_is_watched_once),
		cmocka_unit_test(a_loop_that_is_not_there_any_more_fails),
		WITH_LOOP(a_negative_return_ends_the_run_with_it),
		WITH_LOOP(a_place_taken_over_does_not_take_over_events),
		WITH_LOOP(a_positive_return_goes_on),
		WITH_LOOP(a_timer_wakes_the_loop),
		WITH_LOOP(callbacks_run_for_what_is_ready),
		WITH_LOOP(runs_until_it_is_to_quit),
		WITH_LOOP(there_is_room_for_as_many_as_it_says),
		cmocka_unit_test(timers_are_set_to_the_given_time),
		WITH_LOOP(what_cannot_be_watched_takes_no_place),
		WITH_LOOP(removed_sources_are_not_called),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
