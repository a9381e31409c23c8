/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums of cache.out, by file, by time and in all: how the kernel filled and emptied the page cache. A file's rows of
 * all intervals are added up. Bounded: a file without room is only in the sums of all; a trace with more intervals than
 * there is room for has longer ones.
 */
#ifndef REPORT_DISK_CACHE_H
#define REPORT_DISK_CACHE_H

#include "report/scan/scan.h"

struct report_part;

#define CACHE_FILES_MAX (1U << 18)
#define CACHE_SHOWN 20
#define CACHE_SPANS_MAX (1U << 16) /* 18 hours of seconds; 6 MiB */

/* All are pages, except CACHE_READ. */
enum cache_sum {
	CACHE_READ,
	CACHE_HIT,
	CACHE_MISS,
	CACHE_AHEAD,
	CACHE_USED,
	CACHE_EVICTED,
	CACHE_WASTED,
	CACHE_DIRTIED,
	CACHE_WRITTEN,
	CACHE_SUMS,
};

struct report_cache_row {
	uint64_t fid;
	uint64_t sum[CACHE_SUMS];
	uint64_t again; /* pages that entered beyond the file's size: at least a second time */
	char *path;
};

/* The rows that were sent together, for the time since those before them. */
struct report_cache_span {
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	uint64_t sum[CACHE_SUMS];
	bool cut; /* it ends where an epoch begins or ends */
};

struct report_cache {
	bool present; /* cache.out is there */
	uint64_t page_bytes;
	struct table files; /* struct report_cache_row, by FID, without a path */
	struct report_cache_row all; /* FID is 0 */
	struct report_cache_row
		row[CACHE_SHOWN + 1]; /* those with the most pages that came in; the last is of all others */
	unsigned int n;
	struct report_cache_span *span; /* of all files, in order of time */
	uint32_t n_spans, spans_room;
};

/*
 * Adds to SUM what the intervals have in [BEGIN, END); of one that is in it in part, the same part. Intervals are cut
 * where epochs that are live regions begin and end: BEGIN and END then are these cuts, and no interval is divided.
 */
void report_cache_within(const struct report_cache *cache, uint64_t begin_ns, uint64_t end_ns,
			 uint64_t sum[CACHE_SUMS]);

/* Returns the pages that came into the cache for reads. */
static inline uint64_t report_cache_in(const struct report_cache_row *row)
{
	return row->sum[CACHE_MISS] + row->sum[CACHE_AHEAD];
}

extern const struct report_part report_cache_part;

#endif
