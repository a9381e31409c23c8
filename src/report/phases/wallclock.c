/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/phases/wallclock.h"

#include <stdbool.h>

#include "base/util.h"

void wallclock_add(struct wallclock *w, uint64_t mono_ns, uint64_t real_ns)
{
	uint64_t ns = real_ns - mono_ns;

	if (w->n == WALLCLOCK_STEPS_MAX || (w->n && ns - w->step[w->n - 1].ns + NSEC_PER_MSEC <= 2 * NSEC_PER_MSEC))
		return;
	w->step[w->n++] = (struct wallclock_step){ mono_ns, ns };
}

unsigned int wallclock_mono(const struct wallclock *wallclock, uint64_t real_ns, uint64_t ret[WALLCLOCK_INSTANTS])
{
	uint64_t left_out = 0;
	unsigned int n = 0;

	for (uint32_t i = 0; i < wallclock->n && n < WALLCLOCK_INSTANTS; i++) {
		uint64_t ns = real_ns > wallclock->step[i].ns ? real_ns - wallclock->step[i].ns : 0;
		bool early = i && ns < wallclock->step[i].from_ns,
		     late = i + 1 < wallclock->n && ns >= wallclock->step[i + 1].from_ns;

		if (!early && !late)
			ret[n++] = ns;
		else if (early && !left_out) /* it is also too late for the step before */
			left_out = wallclock->step[i].from_ns;
	}
	if (!n && wallclock->n)
		ret[n++] = left_out;
	return n;
}
