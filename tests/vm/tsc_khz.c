// SPDX-License-Identifier: BSD-2-Clause
/*
 * tsc_khz: prints how many thousand times a second the counter of this machine's CPUs counts (x86), for the kernel of a
 * guest that counts by it: at boot that one measures it by a timer that QEMU emulates, and on a busy machine it may be
 * far off, and its clock too fast for the guest's whole life.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#define TRIES 1000

struct pair {
	uint64_t ticks;
	double s;
};

/* The tightest of some tries: the clock is read between two readings of the counter. */
static struct pair measure(void)
{
	uint64_t least = UINT64_MAX;
	struct pair best = { 0 };

	for (int i = 0; i < TRIES; i++) {
		struct timespec t;
		uint64_t before = __rdtsc(), after;

		clock_gettime(CLOCK_MONOTONIC, &t);
		after = __rdtsc();
		if (after - before >= least)
			continue;
		least = after - before;
		best = (struct pair){ before + least / 2, (double)t.tv_sec + 1e-9 * (double)t.tv_nsec };
	}
	return best;
}

int main(void)
{
	const struct timespec wait = { .tv_nsec = 100000000 };
	struct pair begin = measure(), end;

	nanosleep(&wait, NULL);
	end = measure();
	printf("%.0f\n", (double)(end.ticks - begin.ticks) / (end.s - begin.s) / 1000);
	return 0;
}
