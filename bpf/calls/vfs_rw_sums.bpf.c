/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends what has been added to the sums of vfs_rw.bpf.c each interval. */
#include "calls/rw_sums.bpf.h"

/* Set when the trace ends, as no later round sends what finds no room in a ring now. */
volatile __u32 ended;

/* A global function is verified once, not in each turn of a loop. */
__noinline int cell_flush(__u32 i)
{
	struct dlt_rw_cell *cell = rw_cell_at(i);

	/* a program was interrupted at it: the next round sends it */
	if (!cell || !cell->sum.count || (cell->claims && !ended))
		return 0;
	if (!rw_cell_send(cell) && ended)
		rw_sums_count(false, cell->sum.count);
	return 0;
}

/* Two levels: the verifier checks 32 + 16 turns, not 512. */
#define BATCH 32
__noinline int cells_flush(__u32 first)
{
#pragma nounroll
	for (__u32 n = 0; n < BATCH; n++)
		cell_flush(first + n);
	return 0;
}

/*
 * The daemon has each CPU run it for its own sums: it interrupts the programs that add to them, and they do not
 * interrupt it. So what it sends and clears is whole.
 */
SEC("raw_tp")
int vfs_rw_sums_send(struct bpf_raw_tracepoint_args *ctx)
{
	const __u32 first = ctx->args[0] * DLT_RW_CELLS;

#pragma nounroll
	for (__u32 n = 0; n < DLT_RW_CELLS; n += BATCH)
		cells_flush(first + n);
	return 0;
}
