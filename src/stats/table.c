/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ROOM_FIRST 64U
#define LINE_BYTES 64 /* of cache lines; a value of this size lies in one line then */

void table_init(struct table *t, size_t value_size, uint32_t max)
{
	*t = (struct table){ .value_size = value_size, .max = max };
}

/* malloc() might return memory that was used before, all of which would have to be cleared. */
void table_init_pids(struct table *t, size_t value_size, uint32_t max)
{
	void *pids = mmap(NULL, TABLE_PIDS * sizeof(*t->pids), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	table_init(t, value_size, max);
	t->pids = pids == MAP_FAILED ? NULL : pids;
}

void table_free(struct table *t)
{
	free(t->keys);
	free(t->values);
	free(t->slots);
	if (t->pids)
		munmap(t->pids, TABLE_PIDS * sizeof(*t->pids));
	table_init(t, t->value_size, t->max);
}

/*
 * Returns KEY's first slot. Fibonacci hashing (Knuth, TAOCP 3, 6.4): the high half of the product is well
 * mixed.
 */
static uint32_t home(const struct table *t, uint64_t key)
{
	return (uint32_t)((key * 0x9e3779b97f4a7c15ULL) >> 32) & (2 * t->room - 1);
}

/* Returns the slot where KEY is or would be. There is always a free one: half of them stay empty. */
static uint32_t *probe(const struct table *t, uint64_t key)
{
	uint32_t mask = 2 * t->room - 1, i = home(t, key);

	while (t->slots[i] && t->keys[t->slots[i] - 1] != key)
		i = (i + 1) & mask;
	return &t->slots[i];
}

static bool is_indexed(const struct table *t, uint64_t key)
{
	return t->pids && key < TABLE_PIDS;
}

static void *grown_values(const struct table *t, uint32_t room)
{
	void *values =
		aligned_alloc(LINE_BYTES, ((size_t)room * t->value_size + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES);

	if (values && t->n)
		memcpy(values, t->values, t->n * t->value_size);
	return values;
}

/* Each array is in place before the next is allocated: a failure half-way leaves a whole table. */
static int grow(struct table *table)
{
	uint32_t room = table->room ? 2 * table->room : ROOM_FIRST;
	uint64_t *keys;
	uint32_t *slots;
	void *values;

	keys = reallocarray(table->keys, room, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	table->keys = keys;
	values = grown_values(table, room);
	if (!values)
		return -ENOMEM;
	free(table->values);
	table->values = values;
	slots = calloc(2 * (size_t)room, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(table->slots);
	table->slots = slots;
	table->room = room;
	for (uint32_t i = 0; i < table->n; i++)
		if (!is_indexed(table, table->keys[i]))
			*probe(table, table->keys[i]) = i + 1;
	return 0;
}

void *table_find_hashed(const struct table *t, uint64_t key)
{
	uint32_t slot;

	slot = t->room ? *probe(t, key) : 0;
	return slot ? table_at(t, slot - 1) : NULL;
}

static uint32_t *slot_of(const struct table *t, uint64_t key)
{
	if (is_indexed(t, key))
		return &t->pids[key];
	return t->room ? probe(t, key) : NULL;
}

void *table_get_or_new(struct table *table, uint64_t key)
{
	uint32_t *slot;

	slot = slot_of(table, key);
	if (slot && *slot)
		return table_at(table, *slot - 1);
	if (table->n == table->max)
		return NULL;
	if (table->n == table->room) {
		if (grow(table) < 0)
			return NULL;
		slot = slot_of(table, key);
	}
	table->keys[table->n] = key;
	table->counted += !table->pids && table->counted == table->n && key == table->n + 1ULL;
	*slot = ++table->n;
	return memset(table_at(table, table->n - 1), 0, table->value_size);
}

void table_expect_hashed(const struct table *t, uint64_t key)
{
	if (is_indexed(t, key))
		__builtin_prefetch(&t->pids[key]);
	else if (t->room)
		__builtin_prefetch(&t->slots[home(t, key)]);
}

/* Nearly all are at the first slot. */
void table_expect_entry(const struct table *table, uint64_t key)
{
	uint32_t at = 0;

	if (key - 1 < table->counted)
		return;
	if (is_indexed(table, key))
		at = table->pids[key];
	else if (table->room)
		at = table->slots[home(table, key)];
	if (!at)
		return;
	__builtin_prefetch(&table->keys[at - 1]);
	table_expect_value(table, at - 1);
}

/* The prime, and the offset basis below: draft-eastlake-fnv. */
uint64_t table_key_more(uint64_t key, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		key = (key ^ (unsigned char)s[i]) * 0x100000001b3ULL;
	return key;
}

uint64_t table_key(const char *s, size_t len)
{
	return table_key_more(0xcbf29ce484222325ULL, s, len);
}
