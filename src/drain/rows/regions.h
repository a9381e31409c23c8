/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of include/dltraced.h to rows of regions.out. A region is one message at its end. A live one has a message
 * at its begin as well, which waits (live_regions.h) for the end, or for the end of its process or of the trace: then
 * its row says "?".
 *
 * Messages are whatever a program of the target chose to send, and say nothing about any process but that one. Memory
 * is bounded. Drain thread.
 */
#ifndef DRAIN_ROWS_REGIONS_H
#define DRAIN_ROWS_REGIONS_H

#include <stdint.h>

#include "dlt/regions.h"
#include "dltraced.h"

struct decode;
struct drain_stage;
struct live_regions;

/* Columns that need no message. */
struct regions_row {
	struct dlt_hdr hdr;
	struct dlt_segs segs; /* 0: CAT, 1: NAME, 2: ARGS */
	int64_t ret, epoch, step, bytes, lane;
	uint32_t source; /* enum dltraced_source */
	uint32_t pad;
	char text[DLTRACED_NAME_MAX + DLTRACED_ARGS_MAX + 16]; /* with CAT's own name where there is none, and NULs */
};

/* REC has come out of a ring; DECODE takes the row. */
void regions_take(struct decode *decode, const struct dlt_regions *rec);

/* Returns the live regions; NULL: there has been none. */
const struct live_regions *regions_live(const struct decode *d);

/* The live regions get their rows when their process ends, or the trace. */
extern const struct drain_stage regions_stage;

#endif
