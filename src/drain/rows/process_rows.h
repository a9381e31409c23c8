/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of process life to rows of pids.out. A record waits for the facts that only /proc has, and all later records
 * of this file behind it: rows are in the order of time. Drain thread.
 */
#ifndef DRAIN_ROWS_PROCESS_ROWS_H
#define DRAIN_ROWS_PROCESS_ROWS_H

#include <stdint.h>

#include "dlt/pids.h"

struct decode;
struct drain_stage;

/* The record and the added facts: what the columns of pids.out are of. */
struct process_row {
	struct dlt_pids rec;
	char cgroup[512];
	int64_t rank;
	/* then the segment */
	char seg[DLT_ARGS_MAX + 64];
};

/* A record of pids has come out of a ring: its row, and every stage's life(). */
void process_rows_take(struct decode *d, const struct dlt_hdr *hdr);

extern const struct drain_stage process_rows_stage;

#endif
