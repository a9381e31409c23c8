/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The blocks of memory whose first bytes are watched (--access watch=SITE): as many at a time as a CPU has registers,
 * each with its breakpoint. Drain thread.
 */
#ifndef DRAIN_MEMORY_ACCESS_BLOCKS_H
#define DRAIN_MEMORY_ACCESS_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "dlt/dlt.h"

struct access_source;
struct alloc_block;

struct access_block {
	uint64_t addr; /* 0: free */
	uint64_t begin_ns;
	uint32_t tgid, site;
};

struct access_blocks {
	struct access_block v[DLT_WATCHES];
	uint64_t at[DLT_WATCHES]; /* where the breakpoints are; 0: off */
};

/* BLOCK of process TGID is in use. False: as many are watched already, or it lies where no breakpoint can. */
bool access_blocks_put(struct access_blocks *b, uint32_t tgid, const struct alloc_block *block);
/* Takes the block at ADDR of process TGID out. False: it is not one of them. */
bool access_blocks_take(struct access_blocks *b, uint32_t tgid, uint64_t addr, struct access_block *ret);
/* Puts the breakpoints where the blocks are. Returns how many blocks could not get theirs on each CPU. */
unsigned int access_blocks_move(struct access_blocks *blocks, struct access_source *source);

#endif
