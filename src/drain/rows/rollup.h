/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Roll-ups: sums of rows that are not kept, per minute, file of the trace, kind of operation and process.
 * Adds up records (--keep sums) or rows (a segment that --keep drops) and makes the rows of rollup.out.
 * One owner at a time; bounded memory.
 */
#ifndef DRAIN_ROWS_ROLLUP_H
#define DRAIN_ROWS_ROLLUP_H

#include <stdbool.h>
#include <stdint.h>

#include "dlt/dlt.h"
#include "stats/table.h"
#include "trace/reader.h"

struct clock_map;
struct probe;
struct sink;

#define ROLLUP_FILES_MAX 32

#define ROLLUP_SUMS_MAX (1U << 18)

struct rollup {
	struct table sums;
	char files[ROLLUP_FILES_MAX][DLT_COMM_LEN]; /* names behind the keys */
	unsigned int n_files;
	uint8_t number[DLT_PROBES]; /* 1 + that of a probe's file; 0: not looked up yet */
	uint64_t last_ns; /* TIMESTAMP of the newest row summed up */
	int64_t offset_ns; /* UTC - TIMESTAMP of that row */
	uint64_t minute; /* up to which the sums of a trace without rows have been written */
};

void rollup_init(struct rollup *r);
void rollup_free(struct rollup *r);

/* Are P's rows summed up with --keep sums? Rows of operations are. */
bool rollup_takes(const struct probe *p);

/*
 * Add one record of P, which rollup_takes(), at REALTIME_NS. Returns false when there is no room for it; it
 * will fit once the sums have been written.
 */
bool rollup_record(struct rollup *r, const struct probe *p, const struct dlt_hdr *rec, uint64_t realtime_ns);

/*
 * Sum up every row of the file RD, its segment SEGMENT, and write the sums to OUT. Returns how many rows,
 * or -errno, when some may have been written already.
 */
int64_t rollup_rows(struct rollup *rollup, struct reader *rd, struct sink *out, uint32_t segment);

/*
 * Write the sums of minutes before MINUTE (since the epoch; ROLLUP_ALL: all) as rows into OUT, in the order
 * of minutes; SEGMENT: the number that they come from, 0: none. ROLLUP forgets them.
 */
#define ROLLUP_ALL UINT64_MAX
void rollup_write(struct rollup *rollup, struct sink *out, uint32_t segment, uint64_t minute);

#endif
