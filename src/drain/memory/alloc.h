/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocations: the pages of events that threads send become rows of alloc.out and sites.out, in order, each with what
 * its block's allocation was. Rows are about a second late. Drain thread.
 */
#ifndef DRAIN_MEMORY_ALLOC_H
#define DRAIN_MEMORY_ALLOC_H

#include <stdint.h>

#include "dlt/alloc.h"

struct alloc;
struct alloc_counts;
struct decode;

/* A row of alloc.out; DLT_NONE: "-". */
struct alloc_row {
	struct dlt_hdr hdr;
	uint32_t op; /* enum dlt_alloc_op */
	uint32_t pad;
	int64_t addr, size, old_addr, old_size, life_ns, alloc_tid, site, old_site;
};

/*
 * MIN_BYTES: smaller blocks are only counted, where the library does not do that. WATCH: the blocks that this line or
 * function of Python allocates are watched ones; "": none. NULL: no memory.
 */
struct alloc *alloc_new(uint64_t min_bytes, const char *watch);
void alloc_free(struct alloc *a);

/* REC has come out of a ring; without DECODE's alloc it is dropped. */
void alloc_take(struct decode *decode, const struct dlt_alloc *rec);

/* The process of HDR has been forked by PARENT, has executed another program, has ended. NULL: nothing. */
void alloc_forked(struct alloc *a, const struct dlt_hdr *hdr, uint32_t parent);
void alloc_executed(struct alloc *a, const struct dlt_hdr *hdr);
void alloc_exited(struct alloc *a, const struct dlt_hdr *hdr);

/* A second has passed; all records until READ_NS, of CLOCK_MONOTONIC, have come: rows of what is in order. */
void alloc_turn(struct decode *d, uint64_t read_ns);
/* The trace ends: rows of all that is left. */
void alloc_end(struct decode *decode);

/* Any thread: what the manifest has of it. */
void alloc_count(const struct alloc *alloc, struct alloc_counts *ret);

#endif
