/* SPDX-License-Identifier: BSD-2-Clause */
/* See started.h. Free places are a stack, whose head has a count, so that it changes even where the same place is on
 * top. */
#include "started.h"

#include <stdbool.h>

#define PLACE_BITS 16
_Static_assert(STARTED_MAX < 1 << PLACE_BITS, "places in numbers");

static struct place {
	uint64_t id; /* of the range; 0: none. The lower bits are the place's number, from 1 on */
	uint64_t times; /* that it was used */
	uint32_t below; /* where it is free: the next such place; 0: none */
	struct range range;
} places[STARTED_MAX];

static uint32_t used; /* places that have ever been used: those behind were never touched, and take no memory */
static uint64_t free_top; /* place in the lower 32 bits, count above */

static struct place *place_of(uint64_t number)
{
	return &places[number - 1];
}

static uint32_t place_take(void)
{
	uint64_t top = __atomic_load_n(&free_top, __ATOMIC_ACQUIRE);
	uint32_t n;

	while ((uint32_t)top) {
		uint32_t below = __atomic_load_n(&place_of((uint32_t)top)->below, __ATOMIC_RELAXED);

		if (__atomic_compare_exchange_n(&free_top, &top, ((top >> 32) + 1) << 32 | below, false,
						__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return (uint32_t)top;
	}
	n = __atomic_load_n(&used, __ATOMIC_RELAXED);
	while (n < STARTED_MAX)
		if (__atomic_compare_exchange_n(&used, &n, n + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return n + 1;
	return 0;
}

static void place_give(uint32_t n)
{
	uint64_t top = __atomic_load_n(&free_top, __ATOMIC_ACQUIRE);

	do
		__atomic_store_n(&place_of(n)->below, (uint32_t)top, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&free_top, &top, ((top >> 32) + 1) << 32 | n, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_ACQUIRE));
}

uint64_t started_start(const struct label *label)
{
	static bool reported;
	uint32_t n = place_take();
	struct place *place;
	uint64_t id;

	if (!n) {
		label_lost(&reported, "ranges started while " LABEL_LIMIT(STARTED_MAX) " others had not ended");
		return 0;
	}
	place = place_of(n);
	id = ++place->times << PLACE_BITS | n;
	label_begin(&place->range, label);
	place->range.region.lane = n;
	__atomic_store_n(&place->id, id, __ATOMIC_RELEASE);
	return id;
}

void started_end(uint64_t id)
{
	uint32_t n = id & ((1U << PLACE_BITS) - 1);
	struct place *p;

	if (!n || n > STARTED_MAX)
		return;
	p = place_of(n);
	if (!__atomic_compare_exchange_n(&p->id, &id, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	dltraced_end(&p->range.region);
	place_give(n);
}
