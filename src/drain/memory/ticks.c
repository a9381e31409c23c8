/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/memory/ticks.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "base/util.h"

#define TRIES 16
#if defined(__x86_64__)
#define HAVE_COUNTER true
#define counter() __rdtsc()
#else
#define HAVE_COUNTER false
#define counter() 0ULL
#endif

bool ticks_are_tsc(void)
{
	autofree char *name = NULL;

	/* see Documentation/timers/timekeeping.rst on clock sources */
	return HAVE_COUNTER &&
	       !util_read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource", 64, &name, NULL) &&
	       !strcmp(name, "tsc\n");
}

/* Neighbours are so far apart that the error of each does not bend the line between them. */
#define APART_NS (100 * NSEC_PER_MSEC)

/* The tightest of some tries: the clock is read between two readings of the counter. */
void ticks_measure(struct ticks *ticks)
{
	uint64_t best = UINT64_MAX, at = ticks->n % TICKS_PAIRS;

	if (!HAVE_COUNTER ||
	    (ticks->n > 1 && clock_now_ns(CLOCK_MONOTONIC) - ticks->pair[(ticks->n - 1) % TICKS_PAIRS].ns < APART_NS))
		return;
	for (int i = 0; i < TRIES; i++) {
		uint64_t before = counter(), ns = clock_now_ns(CLOCK_MONOTONIC), after = counter();

		if (after - before >= best)
			continue;
		best = after - before;
		ticks->pair[at].ticks = before + best / 2;
		ticks->pair[at].ns = ns;
	}
	ticks->n++;
}

/*
 * Between neighbours straight; before the first and behind the last pair, on the line through the two next to it.
 * Rounded, so that ns are the same again after the way to ticks, which are shorter.
 */
static uint64_t along(uint64_t x, uint64_t x0, uint64_t x1, uint64_t y0, uint64_t y1)
{
	const double y = (double)(int64_t)(x - x0) * (double)(y1 - y0) / (double)(x1 - x0);

	return y0 + (uint64_t)(int64_t)(y < 0 ? y - 0.5 : y + 0.5);
}

/* Returns the end of the piece that AT (ticks, or ns) is in. */
static unsigned int piece_of(const struct ticks *t, uint64_t at, bool ns)
{
	unsigned int i = t->n - 1, first = t->n > TICKS_PAIRS ? t->n - TICKS_PAIRS : 0;

	while (i > first + 1 && (ns ? t->pair[(i - 1) % TICKS_PAIRS].ns : t->pair[(i - 1) % TICKS_PAIRS].ticks) > at)
		i--;
	return i;
}

uint64_t ticks_to_ns(const struct ticks *t, uint64_t ticks)
{
	const unsigned int i = t->tsc ? piece_of(t, ticks, false) : 0, a = (i - 1) % TICKS_PAIRS, b = i % TICKS_PAIRS;

	return t->tsc ? along(ticks, t->pair[a].ticks, t->pair[b].ticks, t->pair[a].ns, t->pair[b].ns) : ticks;
}

uint64_t ticks_of_ns(const struct ticks *t, uint64_t ns)
{
	const unsigned int i = t->tsc ? piece_of(t, ns, true) : 0, a = (i - 1) % TICKS_PAIRS, b = i % TICKS_PAIRS;

	return t->tsc ? along(ns, t->pair[a].ns, t->pair[b].ns, t->pair[a].ticks, t->pair[b].ticks) : ns;
}
