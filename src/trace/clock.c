/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns the relation of CLOCK_MONOTONIC to UTC. Called by the drain thread; any loop may watch the step
 * timer. Knows neither rows nor their writers.
 *
 * adjtime(), NTP and PTP slews change the rate of both clocks alike (clock_gettime(2)), so on Linux the
 * offset moves only when the clock is set, by however little, and at a resume from suspend: the kernel
 * announces both, but a reading may see the change before that message is read.
 */
#include "trace/clock.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <time.h>

#include "base/util.h"

/* An unannounced change is still a step when no slew could have made it. */
#define STEP_NS ((int64_t)NSEC_PER_SEC)

void clock_read(struct clock_reading *reading, unsigned int tries)
{
	uint64_t best = UINT64_MAX;

	do {
		uint64_t before = clock_now_ns(CLOCK_MONOTONIC);
		uint64_t real = clock_now_ns(CLOCK_REALTIME);
		uint64_t boot = clock_now_ns(CLOCK_BOOTTIME);
		uint64_t width = clock_now_ns(CLOCK_MONOTONIC) - before;

		if (width >= best)
			continue;
		best = width;
		*reading = (struct clock_reading){
			.mono_ns = before + width / 2,
			.real_ns = real,
			.boot_ns = boot,
			.error_ns = width - width / 2,
		};
	} while (tries-- > 1);
}

static struct clock_segment segment_of(const struct clock_reading *r)
{
	return (struct clock_segment){
		.mono_ns = r->mono_ns,
		.offset_ns = (int64_t)(r->real_ns - r->mono_ns),
		.error_ns = r->error_ns,
	};
}

void clock_map_init(struct clock_map *m, const struct clock_reading *r)
{
	*m = (struct clock_map){ .now = segment_of(r), .before = segment_of(r) };
}

enum clock_change clock_map_update(struct clock_map *map, const struct clock_reading *reading, bool step)
{
	struct clock_segment next = segment_of(reading);
	int64_t moved = next.offset_ns - map->now.offset_ns;
	/* Bands that overlap may have one offset; bands that do not cannot. */
	bool same = llabs(moved) <= (int64_t)(map->now.error_ns + next.error_ns);

	step |= !same && llabs(moved) > STEP_NS;
	if (step)
		map->steps++;
	if (same) {
		/* Already known from an earlier reading, but now UTC may go back. */
		if (step)
			map->now.floor_ns = 0;
		return step ? CLOCK_STEPPED : CLOCK_SAME;
	}
	/* Set back a little, unannounced: UTC stands still until it has caught up. */
	if (!step)
		next.floor_ns = clock_utc_ns(map, reading->mono_ns);
	map->before = map->now;
	map->now = next;
	return step ? CLOCK_STEPPED : CLOCK_ADJUSTED;
}

uint64_t clock_utc_ns(const struct clock_map *m, uint64_t mono_ns)
{
	const struct clock_segment *s = mono_ns >= m->now.mono_ns ? &m->now : &m->before;
	/* unsigned: a time that no clock can have shown gives a wrong result, not undefined behavior */
	int64_t utc = (int64_t)(mono_ns + (uint64_t)s->offset_ns);

	return (uint64_t)MAX(utc, (int64_t)s->floor_ns);
}

/*
 * The time is never reached: it exceeds the range of the kernel's clocks, and is cut to that. ECANCELED:
 * the clock was set since the last arming (fs/timerfd.c, timerfd_setup()); the timer is armed all the same,
 * and no read is needed to make the fd quiet.
 */
int clock_step_rearm(int fd)
{
	struct itimerspec never = { .it_value.tv_sec = INT64_MAX / (int64_t)NSEC_PER_SEC };

	if (timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL) < 0 && errno != ECANCELED)
		return -errno;
	return 0;
}

int clock_step_fd(void)
{
	autoclose int fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	int r;

	if (fd < 0)
		return -errno;
	r = clock_step_rearm(fd);
	return r < 0 ? r : TAKE_FD(fd);
}
