/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Accesses of memory: the kernel side's page faults, and accesses that were watched or sampled, become rows of
 * access.out, sorted and joined in each interval. Rows are up to a second late. Drain thread.
 */
#ifndef DRAIN_MEMORY_ACCESS_H
#define DRAIN_MEMORY_ACCESS_H

#include <stdint.h>

#include "dlt/access.h"

struct alloc_block;
struct decode;
struct drain_stage;

/* REC has come out of a ring; without a state it is dropped. */
void access_take(struct decode *decode, const struct dlt_access *rec);

/* A block that is to be watched, of process TGID, is in use; the block at ADDR has ended. In the order of time. */
void access_block_begins(struct decode *d, uint32_t tgid, const struct alloc_block *block);
void access_block_ends(struct decode *d, uint32_t tgid, uint64_t addr, uint64_t end_ns);
/* All blocks until UNTIL_NS, and all accesses, have come: rows of these. */
void access_blocks_known(struct decode *decode, uint64_t until_ns);
/* After alloc's, whose blocks it looks at. */
extern const struct drain_stage access_stage;

#endif
