/* SPDX-License-Identifier: BSD-2-Clause */
/* What alloc.out does not show: the manifest's "alloc". */
#ifndef DRAIN_MEMORY_ALLOC_COUNTS_H
#define DRAIN_MEMORY_ALLOC_COUNTS_H

#include <stdint.h>

#include "drain/rows/counts.h"

struct config;
struct json;

struct alloc_counts {
	uint64_t small_calls, small_bytes; /* allocations below the threshold */
	uint64_t threads; /* that have sent something, */
	uint64_t unread; /* and those whose last events could not be read when they were killed */
	uint64_t uncovered; /* processes that ended without having loaded the library */
	uint64_t unkept; /* blocks that are not known when they are freed, as too many were in use */
	uint64_t refused; /* pages that were not valid */
	uint64_t skipped; /* events in a signal handler that interrupted the library */
	uint64_t siteless; /* events whose stack has no number, as there were too many */
	uint64_t python; /* programs in Python whose lines are read, */
	uint64_t unread_python, unread_version; /* and those whose are not, and the version of one */
	uint64_t live_blocks, live_bytes; /* at the end */
};
_Static_assert(sizeof(struct alloc_counts) <= sizeof(union stage_counts), "room");

/* Puts the object of COUNTS. */
void alloc_manifest(struct json *json, const struct config *cfg, const struct counts *counts);

#endif
