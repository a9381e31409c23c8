/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocations: the pages of events that threads send become rows of alloc.out and sites.out, in order, each with what
 * its block's allocation was. Rows are about a second late. Drain thread.
 */
#ifndef DRAIN_MEMORY_ALLOC_H
#define DRAIN_MEMORY_ALLOC_H

#include <stdint.h>

#include "dlt/alloc.h"

struct decode;
struct drain_stage;

/* A row of alloc.out; DLT_NONE: "-". */
struct alloc_row {
	struct dlt_hdr hdr;
	uint32_t op; /* enum dlt_alloc_op */
	uint32_t pad;
	int64_t addr, size, old_addr, old_size, life_ns, alloc_tid, site, old_site;
};

/* REC has come out of a ring; without a state it is dropped. */
void alloc_take(struct decode *decode, const struct dlt_alloc *rec);

extern const struct drain_stage alloc_stage;

#endif
