/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The clock of allocations: the CPU's own counter, which takes a program 10 ns less to read than any clock of the
 * kernel, and its relation to CLOCK_MONOTONIC, measured once a second and straight in between. Drain thread.
 */
#ifndef DRAIN_MEMORY_TICKS_H
#define DRAIN_MEMORY_TICKS_H

#include <stdbool.h>
#include <stdint.h>

#define TICKS_PAIRS 16

struct ticks {
	bool tsc; /* else ticks are ns of CLOCK_MONOTONIC */
	unsigned int n; /* pairs ever measured, of which the last TICKS_PAIRS are kept */
	struct {
		uint64_t ticks, ns;
	} pair[TICKS_PAIRS];
};

/* Does the kernel itself rely on the CPU's counter? It does not where CPUs differ, or where it stops or changes its
 * speed. */
bool ticks_are_tsc(void);

/* Measure a pair now. */
void ticks_measure(struct ticks *ticks);

/* Two pairs must have been measured. */
uint64_t ticks_to_ns(const struct ticks *t, uint64_t ticks);
uint64_t ticks_of_ns(const struct ticks *t, uint64_t ns);

#endif
