/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the time of day to CLOCK_MONOTONIC, by readings of both clocks (time_align.out), however often the time of day
 * was set. Pure; ns.
 */
#ifndef REPORT_PHASES_WALLCLOCK_H
#define REPORT_PHASES_WALLCLOCK_H

#include <stdint.h>

#define WALLCLOCK_STEPS_MAX 1024
#define WALLCLOCK_INSTANTS 4

struct wallclock {
	struct wallclock_step {
		uint64_t from_ns; /* CLOCK_MONOTONIC */
		uint64_t ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC from then on, within a millisecond */
	} step[WALLCLOCK_STEPS_MAX];
	uint32_t n;
};

/* Adds a reading of both clocks; readings come in order of MONO_NS. */
void wallclock_add(struct wallclock *w, uint64_t mono_ns, uint64_t real_ns);

/*
 * Puts the instants at which the clock showed REAL_NS into RET, in order. Returns how many; 0 without readings. A time
 * that was skipped when the clock was set is the instant of that; instant 0 is before CLOCK_MONOTONIC began.
 */
unsigned int wallclock_mono(const struct wallclock *wallclock, uint64_t real_ns, uint64_t ret[WALLCLOCK_INSTANTS]);

#endif
