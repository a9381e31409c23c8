// SPDX-License-Identifier: BSD-2-Clause
/* Numbers at random, the same for one seed. */
#include "fuzz.h"

/* splitmix64 */
uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

unsigned int pick(struct worker *w, unsigned int n)
{
	return (unsigned int)(random_next(&w->random) >> 32) % n;
}

bool one_in(struct worker *w, unsigned int n)
{
	return pick(w, n) == 0;
}
