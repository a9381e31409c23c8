/* SPDX-License-Identifier: BSD-2-Clause */
/* Why the job waited, of a report: before its rows are read, and behind them. */
#ifndef REPORT_WHY_LOAD_H
#define REPORT_WHY_LOAD_H

#include "report/why/why.h"

/* Who trains, by pids.out, which R has read, and gpu.out. R->why is NULL when there is no memory. */
void why_begin(struct report *r);
/* A call of a main thread for that others have to do something ended at END_NS. WAITS: the trainer's. */
static inline void why_wait(struct spans *waits, uint64_t end_ns, uint64_t lat_ns)
{
	spans_add(waits, end_ns > lat_ns ? end_ns - lat_ns : 0, end_ns);
}
/*
 * From when on what is written may be a checkpoint, by loaders, GPUs, and what was read; UINT64_MAX: never. Whether it is
 * known that somebody trains then. R has a timeline.
 */
bool why_trains_from(const struct report *r, uint64_t *ns);
/* What reads of the file at place I of R's table fetched from disks. */
uint64_t why_fetched_bytes(const struct report *r, uint32_t i);
/* All rows are in R: the rest. */
void why_end(struct report *r);
void why_free(struct why *w);

#endif
