/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hash table from u64 keys to fixed-size values that grows up to a cap: what the report sums up
 * per file, process and disk. Values lie in one array in the order of their first use, all zero at
 * first. No deletion. Pure.
 */
#ifndef TABLE_H
#define TABLE_H

#include <stddef.h>
#include <stdint.h>

struct table {
	size_t value_size;
	uint32_t max;	  /* entries at most */
	uint32_t n, room; /* entries there are, and that fit before it grows */
	uint64_t *keys;
	void *values;
	uint32_t *slots; /* 2 * room, open addressing: index + 1, 0 is free */
};

void table_init(struct table *t, size_t value_size, uint32_t max);
void table_free(struct table *t);

/* The value of KEY, or NULL. Valid until the next table_get(). */
void *table_find(const struct table *t, uint64_t key);
/* The same, made when it is not there. NULL when the table holds MAX or memory is out. */
void *table_get(struct table *t, uint64_t key);
/* Entry I in order of first use; I < t->n. */
void *table_at(const struct table *t, uint32_t i);

/*
 * A key for a short string: its 64-bit FNV-1a hash. Names that collide would be summed up together;
 * among a million names the chance of that is below 1 in 10 million.
 */
uint64_t table_key(const char *s, size_t len);

#endif
