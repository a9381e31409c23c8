/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers of a process's stacks and functions, by the hash of what they are. A forked child has them, too: the daemon
 * takes what the child does not define from its parent.
 */
#ifndef PRELOAD_NUMBERS_H
#define PRELOAD_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: none yet. */
struct numbers {
	struct number_slot *slots;
	uint32_t n;
};

static inline uint64_t numbers_mix(uint64_t x)
{
	x *= 0x9e3779b97f4a7c15ULL;
	return x ^ x >> 29;
}

/*
 * Returns the number of HASH, from 1; 0: there are too many. *DEFINED: an event has said what it is. Whoever has a
 * number first may not have done so yet: then each thread does, with the same content, and calls numbers_defined().
 */
uint32_t numbers_of(struct numbers *all, uint64_t hash, bool *defined);
void numbers_defined(struct numbers *all, uint32_t number);

#endif
