/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums of alloc.out: what the job's programs allocated, how much of it was in use at a time and at its peak, and what
 * was never freed; in all, by stack (SITE of sites.out) and by process. Bounded: stacks and processes without room are
 * only in the sums of all.
 */
#ifndef REPORT_MEMORY_ALLOCS_H
#define REPORT_MEMORY_ALLOCS_H

#include "report/scan/scan.h"

struct report_part;

#define ALLOCS_SITES_MAX (1U << 18) /* 50 MiB when full */
#define ALLOCS_PROCESSES_MAX (1U << 16)
#define ALLOCS_SHOWN 20
#define ALLOCS_SPANS_MAX (1U << 15) /* 1.5 MiB */
#define ALLOCS_BLOCK_BYTES_MAX (1ULL << 56) /* no machine has a larger block: the row is damaged */
#define ALLOCS_SHORT_NS 10000000 /* a block that is freed sooner is short-lived */

/* Bytes in use over time, from the first row on. PEAK, AT_PEAK: the most, and what it was when all together had the
 * most. */
struct alloc_level {
	int64_t now, peak, at_peak;
	uint64_t before; /* in use before the first row: to be added to the others */
	uint64_t peak_nr; /* of all together, before the last change */
};

struct report_alloc_sum {
	uint64_t blocks, bytes; /* allocated; a realloc is one more block */
	uint64_t short_blocks, short_bytes; /* freed within ALLOCS_SHORT_NS */
	uint64_t left_blocks, left_bytes; /* never freed: in use when their process, or the trace, ended */
	uint64_t frees, cross_frees; /* of blocks that the trace knows; by another thread than the one that allocated */
	uint64_t failed;
	struct alloc_level level;
};

/* Of a site or a process. */
struct report_alloc_row {
	uint64_t id; /* SITE (0: not known), PID */
	bool others; /* all that have no row */
	struct report_alloc_sum sum;
	char *stack; /* of a site: its functions, from the innermost on; NULL: not known */
};

/* The rows with the most, the largest first, and the others as one: sites in each order, processes by their own peaks.
 */
enum alloc_order {
	ALLOCS_BY_PEAK,
	ALLOCS_BY_BYTES,
	ALLOCS_BY_SHORT,
	ALLOCS_BY_LEFT,
	ALLOC_ORDERS,
	ALLOCS_BY_OWN_PEAK = ALLOC_ORDERS,
};
struct report_alloc_rows {
	struct report_alloc_row row[ALLOCS_SHOWN + 1];
	unsigned int n;
};

/* What happened from its first row to its last. */
struct report_alloc_span {
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	int64_t most, last; /* in use, as levels are */
	uint64_t blocks, bytes; /* allocated */
};

struct report_allocs {
	struct report_alloc_sum all;
	uint64_t blocks_now, blocks_before; /* as a level has them, of blocks */
	uint64_t first_ns;
	uint64_t unpaired; /* blocks whose frees the trace does not have */
	uint64_t unknown_frees; /* of blocks whose allocation is not in the trace */
	uint64_t site_left_out, process_left_out; /* rows without a place in these: */
	struct table sites, processes; /* struct report_alloc_sum, by SITE (0: not known) and by PID */
	struct report_alloc_rows by_site[ALLOC_ORDERS], by_process;
	struct report_alloc_span *span; /* in order of time: SPAN_ROWS rows each, but the last one */
	uint32_t n_spans;
	uint64_t rows, span_rows; /* all rows; so many in a span that all find room */
};

/*
 * Adds what was allocated in [BEGIN, END) to SUM, and sets its MOST to the most that was in use in it. A span of
 * several rows counts where it ends.
 */
void report_allocs_within(const struct report_allocs *allocs, uint64_t begin_ns, uint64_t end_ns,
			  struct report_alloc_span *sum);
/* Returns a level of SUM's with what was in use before the first row. */
static inline uint64_t report_alloc_level(const struct report_alloc_sum *sum, int64_t level)
{
	const int64_t bytes = (int64_t)(sum->level.before + (uint64_t)level);

	return bytes > 0 ? (uint64_t)bytes : 0;
}

/* Whether a row of alloc.out with FUNC frees a block; whether it is of a block whose free has no row, and which is in
 * no sum. */
bool report_alloc_frees(struct reader_field func);
bool report_alloc_is_unpaired(struct reader_field func);

extern const struct report_part report_allocs_part;

#endif
