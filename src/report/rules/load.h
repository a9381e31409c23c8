/* SPDX-License-Identifier: BSD-2-Clause */
/* Why the job waited: the steps of a report before its rows are read, and after them. */
#ifndef REPORT_RULES_LOAD_H
#define REPORT_RULES_LOAD_H

#include "report/why/why.h"

/* Finds the trainers by pids.out, which REPORT has read, and gpu.out. REPORT->why stays NULL when memory is out. */
void why_begin(struct report *report);
/* Adds a call of a main thread that waited for another process and ended at END_NS to its trainer's WAITS. */
static inline void why_wait(struct spans *waits, uint64_t end_ns, uint64_t lat_ns)
{
	spans_add(waits, end_ns > lat_ns ? end_ns - lat_ns : 0, end_ns);
}
/*
 * Sets *NS to the time from which on writes may be checkpoints, by loaders, GPUs and reads; UINT64_MAX: never. Returns
 * whether training is sure to have begun then. R has a timeline.
 */
bool why_trains_from(const struct report *r, uint64_t *ns);
/* Returns the bytes that reads of the file at place I of R's table fetched from disks. */
uint64_t why_fetched_bytes(const struct report *r, uint32_t i);
/*
 * To be called after the last row: finds which processes train, when, and which source shows when they waited. Phases
 * can be inferred then.
 */
void why_settle(struct report *report);
/* Does the rest, after the last row, why_settle() and phases_infer(). */
void why_end(struct report *report);
void why_free(struct why *why);

#endif
