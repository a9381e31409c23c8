/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/touched.h"

#include <stdbool.h>

#include "base/util.h"

void touched_init(struct touched *t, uint32_t max)
{
	table_init(&t->blocks, sizeof(struct touched_block), max);
	t->left_out = 0;
}

void touched_free(struct touched *t)
{
	table_free(&t->blocks);
}

/* Returns PART * N / WHOLE, rounded down. */
static uint64_t share(uint64_t n, uint64_t part, uint64_t whole)
{
	return (uint64_t)((long double)n * (long double)part / (long double)whole);
}

static void mark(struct touched_block *b, uint64_t page, uint32_t when)
{
	if (b->last[page] >= when)
		return;
	b->before[page] = b->last[page];
	b->last[page] = when;
}

/* Adds the part of ADD from FROM to END, which lies in one block. Returns whether there is room for it. */
static bool add_part(struct touched *t, const struct touched_add *add, uint64_t from, uint64_t end)
{
	const uint64_t first = from % TOUCHED_BLOCK / TOUCHED_PAGE,
		       pages = (end - from + TOUCHED_PAGE - 1) / TOUCHED_PAGE;
	const uint64_t before = (from - add->at) / TOUCHED_PAGE, all = MAX(add->bytes / TOUCHED_PAGE, 1);
	const uint64_t touched = MAX(add->touched / TOUCHED_PAGE, add->touched != 0);
	const uint64_t written = MAX(add->written / TOUCHED_PAGE, add->written != 0);
	uint64_t n = share(before + pages, touched, all) - share(before, touched, all);
	const uint64_t w = share(before + pages, written, all) - share(before, written, all);
	struct touched_block *block;

	if (!n && !w)
		return true;
	block = table_get(&t->blocks, touched_key(add->space, from));
	if (!block)
		return false;
	block->tag = add->tag;
	n = MIN(n, TOUCHED_PAGES - first);
	for (uint64_t i = 0; i < n; i++)
		mark(block, first + i, add->when);
	block->written |= (uint32_t)(((1ULL << MIN(w, TOUCHED_PAGES - first)) - 1) << first);
	return true;
}

void touched_add(struct touched *touched, const struct touched_add *add)
{
	const uint64_t end = add->at + add->bytes;
	uint32_t blocks = 0;

	if (add->space >= TOUCHED_SPACES || add->at >= TOUCHED_END || add->bytes > TOUCHED_END) {
		touched->left_out += add->bytes;
		return;
	}
	for (uint64_t from = add->at, to; from < end; from = to, blocks++) {
		to = MIN((from / TOUCHED_BLOCK + 1) * TOUCHED_BLOCK, end);
		if (blocks == touched->blocks.max) {
			touched->left_out += end - from;
			return;
		}
		if (!add_part(touched, add, from, to))
			touched->left_out += to - from;
	}
}

void touched_tag(struct touched *touched, uint64_t space, uint64_t at, uint64_t bytes, uint64_t tag)
{
	const uint64_t end = at + MIN(bytes, TOUCHED_END);
	uint64_t base = at - at % TOUCHED_BLOCK;

	if (space >= TOUCHED_SPACES)
		return;
	for (uint32_t i = 0; base < end && i < touched->blocks.max; base += TOUCHED_BLOCK, i++) {
		struct touched_block *b = table_find(&touched->blocks, touched_key(space, base));

		if (b)
			b->tag = tag;
	}
}

/* Adds to SUM the part of BLOCK, whose first byte is at BASE, that is in [AT, END). */
static void sum_block(const struct touched_block *block, uint64_t base, uint64_t at, uint64_t end, uint32_t from,
		      struct touched_sum *sum)
{
	for (uint64_t i = 0; i < TOUCHED_PAGES; i++) {
		const uint64_t begin = MAX(base + i * TOUCHED_PAGE, at), to = MIN(base + (i + 1) * TOUCHED_PAGE, end);

		if (begin >= to || !block->last[i] || block->last[i] < from)
			continue;
		sum->bytes += to - begin;
		sum->once += !block->before[i] || block->before[i] < from ? to - begin : 0;
		sum->written += block->written >> i & 1 ? to - begin : 0;
	}
}

void touched_sum(const struct touched *touched, uint64_t space, uint64_t at, uint64_t bytes, uint32_t from,
		 struct touched_sum *sum)
{
	const uint64_t end = at >= TOUCHED_END ? at : at + MIN(bytes, TOUCHED_END - at), first = at / TOUCHED_BLOCK;

	if (space >= TOUCHED_SPACES || at >= end)
		return;
	if ((end - 1) / TOUCHED_BLOCK - first < touched->blocks.n) {
		for (uint64_t base = first * TOUCHED_BLOCK; base < end; base += TOUCHED_BLOCK) {
			const struct touched_block *b = table_find(&touched->blocks, touched_key(space, base));

			if (b)
				sum_block(b, base, at, end, from, sum);
		}
		return;
	}
	for (uint32_t i = 0; i < touched->blocks.n; i++)
		if (touched_space(touched, i) == space)
			sum_block(table_at(&touched->blocks, i), touched_at(touched, i), at, end, from, sum);
}

void touched_sum_block(const struct touched *t, uint32_t i, struct touched_sum *sum)
{
	sum_block(table_at(&t->blocks, i), 0, 0, TOUCHED_BLOCK, 0, sum);
}
