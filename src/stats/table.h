/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hash table from u64 keys to fixed-size values that grows up to a cap, for the report's sums per file,
 * process and disk. Values lie in one array in the order of their first use, all zero at first. No
 * deletion.
 *
 * Keys that are PIDs are not hashed: an index has a place for each possible PID, and only its used pages
 * take memory.
 */
#ifndef STATS_TABLE_H
#define STATS_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct table {
	size_t value_size;
	uint32_t max; /* entries at most */
	uint32_t n, room; /* entries used, and entries that fit before it grows */
	uint32_t counted; /* the first ones, whose keys count from 1, as FIDs mostly do: these need no lookup */
	uint64_t *keys;
	void *values; /* where a cache line begins */
	uint32_t *slots; /* 2 * room, open addressing: index + 1, 0 is free */
	uint32_t *pids; /* TABLE_PIDS, by key: index + 1; NULL: all keys are hashed */
};

/* PID_MAX_LIMIT of 64-bit kernels, include/linux/threads.h. */
#define TABLE_PIDS (1U << 22)

void table_init(struct table *t, size_t value_size, uint32_t max);
/* For keys that are PIDs or TIDs. Other keys work too, and without memory for the index all are hashed. */
void table_init_pids(struct table *t, size_t value_size, uint32_t max);
void table_free(struct table *t);

/* Entry I in order of first use; I < t->n. */
static inline void *table_at(const struct table *t, uint32_t i)
{
	return (char *)t->values + i * t->value_size;
}

/* Its key. */
static inline uint64_t table_key_at(const struct table *t, uint32_t i)
{
	return i < t->counted ? i + 1 : t->keys[i];
}

void *table_find_hashed(const struct table *t, uint64_t key);

/* The value of KEY, or NULL. Valid until the next table_get(). */
static inline void *table_find(const struct table *t, uint64_t key)
{
	if (t->pids && key < TABLE_PIDS)
		return t->pids[key] ? table_at(t, t->pids[key] - 1) : NULL;
	return key - 1 < t->counted ? table_at(t, (uint32_t)(key - 1)) : table_find_hashed(t, key);
}

void *table_get_or_new(struct table *table, uint64_t key);

/* table_find(), but makes a missing entry. NULL when the table holds MAX or memory is out. */
static inline void *table_get(struct table *t, uint64_t key)
{
	if (t->pids) {
		if (key < TABLE_PIDS && t->pids[key])
			return table_at(t, t->pids[key] - 1);
	} else if (key - 1 < t->counted) {
		return table_at(t, (uint32_t)(key - 1));
	}
	return table_get_or_new(t, key);
}

/*
 * KEY will be looked up soon: prefetch its slot, and when some time has passed since that, its entry.
 * Nothing else changes.
 */
void table_expect_hashed(const struct table *t, uint64_t key);
void table_expect_entry(const struct table *table, uint64_t key);

/* A value may lie across cache lines. */
static inline void table_expect_value(const struct table *t, uint32_t i)
{
	const char *value = table_at(t, i);

	__builtin_prefetch(value);
	__builtin_prefetch(value + t->value_size - 1);
}

static inline void table_expect(const struct table *t, uint64_t key)
{
	if (key - 1 < t->counted)
		table_expect_value(t, (uint32_t)(key - 1));
	else
		table_expect_hashed(t, key);
}

/*
 * Returns a key for a short string: its 64-bit FNV-1a hash. Names that collide would be added up together;
 * among a million names the chance of that is below 1 in 10 million.
 */
uint64_t table_key(const char *s, size_t len);
/* Returns the key of a longer string, whose beginning has KEY and is continued by S. */
uint64_t table_key_more(uint64_t key, const char *s, size_t len);

#endif
