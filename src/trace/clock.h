/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The clock map: CLOCK_MONOTONIC to UTC, with its measured uncertainty. Owned by the drain thread.
 * The offset in force changes only when a measurement leaves the old error band; UTC never goes
 * back except across a step.
 */
#ifndef TRACE_CLOCK_H
#define TRACE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct clock_reading {
	uint64_t mono_ns, real_ns, boot_ns;
	uint64_t error_ns; /* half the duration of the reading: the offset's uncertainty */
};

/* From MONO_NS on, UTC = mono + offset, but at least FLOOR_NS. */
struct clock_segment {
	uint64_t mono_ns;
	int64_t offset_ns;
	uint64_t error_ns;
	uint64_t floor_ns;
};

struct clock_map {
	struct clock_segment now, before;
	uint64_t steps;
};

enum clock_change { CLOCK_SAME, CLOCK_ADJUSTED, CLOCK_STEPPED };

/* Read all three clocks between two monotonic readings, keeping the tightest of TRIES. */
void clock_read(struct clock_reading *reading, unsigned int tries);
void clock_map_init(struct clock_map *m, const struct clock_reading *r);
/* STEP: the kernel announced it (clock_step_fd). ADJUSTED: a small move that it has not announced (yet). */
enum clock_change clock_map_update(struct clock_map *map, const struct clock_reading *reading, bool step);
/* Returns UTC in ns since the epoch for a CLOCK_MONOTONIC time. */
uint64_t clock_utc_ns(const struct clock_map *m, uint64_t mono_ns);
/* Returns a timerfd that becomes readable (ECANCELED) when the real-time clock is set; -errno. */
int clock_step_fd(void);
/* Make it quiet until the next time. Call before reading the clocks, or a step in between goes unseen. */
int clock_step_rearm(int fd);

#endif
