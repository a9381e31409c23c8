/* SPDX-License-Identifier: BSD-2-Clause */
/* How accesses were seen, and what access.out does not show of them: the manifest's "access". */
#ifndef DRAIN_MEMORY_ACCESS_COUNTS_H
#define DRAIN_MEMORY_ACCESS_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "drain/rows/counts.h"
#include "kernel/access/perf_losses.h"
#include "kernel/access/pmu.h"

struct config;
struct json;

struct access_counts {
	bool pages; /* it is by bits of page tables, else by events */
	bool flushes; /* translations that CPUs have are flushed, so that no access is missed */
	uint64_t looks; /* at all processes */
	uint64_t cpu_ns, longest_ns; /* that these took: CPU time of all, and the longest one */
	uint64_t refused; /* processes whose bits could not be cleared */
	const char *sampled[PMU_EVENTS]; /* events of the PMU; NULL: there are no more. Of these: */
	struct perf_losses losses;
	uint64_t addressless; /* samples without an address */
	uint64_t unwatched; /* blocks of the watched site for which there was no breakpoint */
};
_Static_assert(sizeof(struct access_counts) <= sizeof(union stage_counts), "room");

/* Puts the object of COUNTS. */
void access_manifest(struct json *json, const struct config *cfg, const struct counts *counts);

#endif
