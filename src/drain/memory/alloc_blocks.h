/* SPDX-License-Identifier: BSD-2-Clause */
/* The blocks of memory that a process has in use, by address. Drain thread. */
#ifndef DRAIN_MEMORY_ALLOC_BLOCKS_H
#define DRAIN_MEMORY_ALLOC_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct alloc_block {
	uint64_t addr; /* 0: free */
	uint64_t size;
	uint64_t begin_ns; /* CLOCK_MONOTONIC */
	uint32_t tid; /* who has allocated it */
	uint32_t site;
};

/* An open table, at most three quarters full. All zero is an empty one. */
struct alloc_blocks {
	struct alloc_block *v;
	size_t n, room; /* ROOM: a power of two, or 0 */
};

/* Put B, in the place of one of the same address. False: there is no memory, and it is not in the table. */
bool alloc_blocks_put(struct alloc_blocks *t, const struct alloc_block *b);
/* Take the block at ADDR out. False: there is none. */
bool alloc_blocks_take(struct alloc_blocks *t, uint64_t addr, struct alloc_block *ret);
/* Take all out, the oldest first. */
void alloc_blocks_end(struct alloc_blocks *blocks, void (*fn)(void *ctx, const struct alloc_block *b), void *ctx);
void alloc_blocks_free(struct alloc_blocks *t);

#endif
