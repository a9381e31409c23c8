/* SPDX-License-Identifier: BSD-2-Clause */
#include "table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

#define ROOM_FIRST 64U

void table_init(struct table *t, size_t value_size, uint32_t max)
{
	*t = (struct table){ .value_size = value_size, .max = max };
}

void table_free(struct table *t)
{
	free(t->keys);
	free(t->values);
	free(t->slots);
	table_init(t, t->value_size, t->max);
}

/* The slot where KEY is or would be. There is always a free one: half of them stay empty. */
static uint32_t *probe(const struct table *t, uint64_t key)
{
	uint32_t mask = 2 * t->room - 1;
	/* Fibonacci hashing (Knuth, TAOCP 3, 6.4): the high half of the product is well mixed. */
	uint32_t i = (uint32_t)((key * 0x9e3779b97f4a7c15ULL) >> 32) & mask;

	while (t->slots[i] && t->keys[t->slots[i] - 1] != key)
		i = (i + 1) & mask;
	return &t->slots[i];
}

/* Each array is in place before the next is asked for: a failure half-way leaves a whole table. */
static int grow(struct table *t)
{
	uint32_t room = t->room ? 2 * t->room : ROOM_FIRST;
	uint64_t *keys;
	uint32_t *slots;
	void *values;

	keys = reallocarray(t->keys, room, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	t->keys = keys;
	values = reallocarray(t->values, room, t->value_size);
	if (!values)
		return -ENOMEM;
	t->values = values;
	slots = calloc(2 * (size_t)room, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(t->slots);
	t->slots = slots;
	t->room = room;
	for (uint32_t i = 0; i < t->n; i++)
		*probe(t, t->keys[i]) = i + 1;
	return 0;
}

void *table_at(const struct table *t, uint32_t i)
{
	return (char *)t->values + i * t->value_size;
}

/* Keys that are numbers from 1, FIDs for one, mostly lie where they count to: that spares a slot's cache line. */
void *table_find(const struct table *t, uint64_t key)
{
	uint32_t slot;

	if (key - 1 < t->n && t->keys[key - 1] == key)
		return table_at(t, (uint32_t)(key - 1));
	slot = t->room ? *probe(t, key) : 0;

	return slot ? table_at(t, slot - 1) : NULL;
}

void *table_get(struct table *t, uint64_t key)
{
	uint32_t *slot;

	if (key - 1 < t->n && t->keys[key - 1] == key)
		return table_at(t, (uint32_t)(key - 1));
	slot = t->room ? probe(t, key) : NULL;
	if (slot && *slot)
		return table_at(t, *slot - 1);
	if (t->n == t->max)
		return NULL;
	if (t->n == t->room) {
		if (grow(t) < 0)
			return NULL;
		slot = probe(t, key);
	}
	t->keys[t->n] = key;
	*slot = ++t->n;
	return memset(table_at(t, t->n - 1), 0, t->value_size);
}

uint64_t table_key(const char *s, size_t len)
{
	uint64_t h = 0xcbf29ce484222325ULL; /* offset basis; prime below: draft-eastlake-fnv */

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * 0x100000001b3ULL;
	return h;
}
