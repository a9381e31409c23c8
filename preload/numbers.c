/* SPDX-License-Identifier: BSD-2-Clause */
#include "numbers.h"

#include <stddef.h>
#include <sys/mman.h>

#define SLOTS (1 << 16) /* a power of two */
#define NUMBERS_MAX (SLOTS - SLOTS / 4)

struct number_slot {
	uint64_t hash; /* 0: free */
	uint8_t defined;
};

static struct number_slot *slots_get(struct numbers *all)
{
	struct number_slot *have = __atomic_load_n(&all->slots, __ATOMIC_ACQUIRE), *mine;

	if (have)
		return have;
	mine = mmap(NULL, SLOTS * sizeof(*mine), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		    -1, 0);
	if (mine == MAP_FAILED)
		return NULL;
	if (__atomic_compare_exchange_n(&all->slots, &have, mine, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return mine;
	munmap(mine, SLOTS * sizeof(*mine));
	return have;
}

uint32_t numbers_of(struct numbers *all, uint64_t hash, bool *defined)
{
	struct number_slot *slots = slots_get(all);
	uint32_t at;

	if (!slots)
		return 0;
	hash |= 1;
	for (at = (uint32_t)(hash >> 32) % SLOTS;; at = (at + 1) % SLOTS) {
		uint64_t have = __atomic_load_n(&slots[at].hash, __ATOMIC_ACQUIRE);

		if (!have) {
			if (__atomic_load_n(&all->n, __ATOMIC_RELAXED) >= NUMBERS_MAX)
				return 0;
			if (__atomic_compare_exchange_n(&slots[at].hash, &have, hash, false, __ATOMIC_ACQ_REL,
							__ATOMIC_ACQUIRE)) {
				__atomic_fetch_add(&all->n, 1, __ATOMIC_RELAXED);
				have = hash;
			}
		}
		if (have == hash)
			break;
	}
	*defined = __atomic_load_n(&slots[at].defined, __ATOMIC_ACQUIRE);
	return at + 1;
}

void numbers_defined(struct numbers *all, uint32_t number)
{
	__atomic_store_n(&all->slots[number - 1].defined, 1, __ATOMIC_RELEASE);
}
