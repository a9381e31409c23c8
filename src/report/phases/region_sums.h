/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums of the program's own regions by category and name: how many, how long, how much of that lies in other regions
 * within them, and how much of the job's time any of them covers. Categories are compared without case. Rows come in
 * order of their ends, as in the file. Memory is bounded.
 */
#ifndef REPORT_PHASES_REGION_SUMS_H
#define REPORT_PHASES_REGION_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "report/phases/step_region.h"
#include "stats/spans.h"
#include "stats/table.h"

#define REGION_SUMS_MAX 1024U /* names; 30 KB each */

struct hist;

/* The regions of one name. */
struct region_sum {
	char *cat, *name; /* escaped as in regions.out; the category as in the first of them */
	uint64_t n, processes;
	uint64_t total_ns;
	uint64_t own_ns; /* of that, in no other region of the thread within them */
	uint64_t nested_ns; /* the rest of it; at the end */
	uint64_t covered_ns; /* the time in which there was at least one; at the end */
	uint64_t bytes; /* that they name */
	uint64_t with_bytes; /* regions that name any */
	uint64_t min_ns, p25_ns, p50_ns, p75_ns, p99_ns, max_ns; /* at the end */
	struct hist *hist;
	struct spans spans;
};

struct region_sums {
	struct region_sum *v; /* in order of their first regions */
	uint32_t n;
	uint64_t left_out; /* regions of names for which there was no room */
	struct table by_name; /* 1 + the place in V, by a hash of category and name */
	struct table processes; /* by a hash of name and process */
	struct table threads;
	size_t spans_room; /* of all sets of spans */
};

void region_sums_init(struct region_sums *sums);
void region_sums_take(struct region_sums *sums, const struct step_region *region);
/* To be called after the last row. */
void region_sums_end(struct region_sums *sums);
void region_sums_free(struct region_sums *sums);

#endif
