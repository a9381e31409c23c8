/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/memory/alloc_blocks.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_MIN 256U

static size_t place_of(const struct alloc_blocks *t, uint64_t addr)
{
	return (size_t)(addr * 0x9e3779b97f4a7c15ULL >> 32) & (t->room - 1);
}

/* Returns the place of ADDR, or the free one where it belongs. */
static size_t find(const struct alloc_blocks *t, uint64_t addr)
{
	size_t i = place_of(t, addr);

	while (t->v[i].addr && t->v[i].addr != addr)
		i = (i + 1) & (t->room - 1);
	return i;
}

static bool grow(struct alloc_blocks *blocks)
{
	struct alloc_blocks larger = { .n = blocks->n, .room = blocks->room ? 2 * blocks->room : ROOM_MIN };

	larger.v = calloc(larger.room, sizeof(*larger.v));
	if (!larger.v)
		return false;
	for (size_t i = 0; i < blocks->room; i++)
		if (blocks->v[i].addr)
			larger.v[find(&larger, blocks->v[i].addr)] = blocks->v[i];
	free(blocks->v);
	*blocks = larger;
	return true;
}

bool alloc_blocks_put(struct alloc_blocks *t, const struct alloc_block *b)
{
	size_t i;

	if (!b->addr || (t->n + 1 > t->room / 4 * 3 && !grow(t)))
		return false;
	i = find(t, b->addr);
	t->n += !t->v[i].addr;
	t->v[i] = *b;
	return true;
}

/* The hole is filled by what stands behind it and may stand there, and so on. */
bool alloc_blocks_take(struct alloc_blocks *t, uint64_t addr, struct alloc_block *ret)
{
	size_t hole, i, mask = t->room - 1;

	if (!t->n)
		return false;
	hole = find(t, addr);
	if (!t->v[hole].addr)
		return false;
	*ret = t->v[hole];
	for (i = (hole + 1) & mask; t->v[i].addr; i = (i + 1) & mask) {
		size_t home = place_of(t, t->v[i].addr);

		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		t->v[hole] = t->v[i];
		hole = i;
	}
	t->v[hole].addr = 0;
	t->n--;
	return true;
}

static int by_age(const void *a, const void *b)
{
	const struct alloc_block *x = a, *y = b;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return (x->addr > y->addr) - (x->addr < y->addr);
}

void alloc_blocks_end(struct alloc_blocks *blocks, void (*fn)(void *ctx, const struct alloc_block *block), void *ctx)
{
	size_t n = 0;

	for (size_t i = 0; i < blocks->room; i++)
		if (blocks->v[i].addr)
			blocks->v[n++] = blocks->v[i];
	if (n)
		qsort(blocks->v, n, sizeof(*blocks->v), by_age);
	for (size_t i = 0; i < n; i++)
		fn(ctx, &blocks->v[i]);
	alloc_blocks_free(blocks);
}

void alloc_blocks_free(struct alloc_blocks *t)
{
	free(t->v);
	*t = (struct alloc_blocks){ 0 };
}
