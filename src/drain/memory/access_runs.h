/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The touched pages of one process in one interval, in the order of their addresses, become rows: blocks with equal
 * shares of touched bytes beside one another are one row. Owns the block and the row that are not complete. Drain
 * thread.
 */
#ifndef DRAIN_MEMORY_ACCESS_RUNS_H
#define DRAIN_MEMORY_ACCESS_RUNS_H

#include <stdint.h>

#include "dlt/access.h"

/* A row of access.out; DLT_NONE: "-". */
struct access_row {
	struct dlt_hdr hdr;
	struct dlt_file_id id;
	uint32_t source, kind; /* enum dlt_access_source, dlt_access_kind */
	uint64_t addr, bytes;
	int64_t touched, written, count, huge, node, tid, ip, offset, site;
};

/* Pages of one kind, and of one node: what is in one block has the node of the first of it. */
struct access_touch {
	uint64_t addr, bytes;
	int64_t written, huge; /* bytes of pages that were written, that are huge: 0 or all; DLT_NONE: not known */
	int64_t count; /* events; DLT_NONE: not known */
	int64_t node; /* of NUMA; DLT_NONE: not known */
	/* of a single event, its thread, instruction, and accessed address */
	int64_t tid, ip;
	uint64_t at;
	uint32_t kind;
	uint32_t area; /* a number: what is of two areas is not joined */
};

typedef void (*access_runs_fn)(void *ctx, struct access_row *row);

struct access_runs {
	uint64_t block_bytes; /* a power of two */
	uint64_t page_bytes;
	access_runs_fn emit;
	void *ctx;
	uint32_t area; /* the row's */
	struct access_row row; /* its header and source are of all rows; BYTES 0: there is none yet */
	struct access_touch block; /* BYTES are those that are touched; 0: there is none yet */
};

/* TOUCH has the address after the last one's. */
void access_runs_add(struct access_runs *runs, const struct access_touch *touch);
/* These were the last ones of the process. */
void access_runs_end(struct access_runs *r);

#endif
