/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The blocks of alloc.out, from allocation to end. An end counts only once the rows of the interval that it is in are
 * known, as access.out has these after it. Bounded: a block without room is left out.
 */
#ifndef REPORT_MEMORY_ACCESS_LIVE_H
#define REPORT_MEMORY_ACCESS_LIVE_H

#include "report/scan/scan.h"

struct access_live;

struct access_block {
	uint64_t pid, addr, size, site; /* site 0: not known */
	uint64_t begin_ns, end_ns;
};

struct access_live *access_live_new(uint32_t max); /* NULL: no memory */
void access_live_free(struct access_live *l);
/* Takes the current row of SCAN, of alloc.out. */
void access_live_take(struct access_live *live, const struct scan *scan);

typedef void (*access_block_fn)(void *own, const struct access_block *b);
/* Gives the blocks that ended before NS to END, in the order of their ends. */
void access_live_until(struct access_live *l, uint64_t ns, access_block_fn end, void *own);
/* Gives all others: those that are in use end at NS. */
void access_live_end(struct access_live *l, uint64_t ns, access_block_fn end, void *own);
/* Returns how many blocks found no room. */
uint64_t access_live_left_out(const struct access_live *l);

#endif
