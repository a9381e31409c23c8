/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fate of everything that was seen, as far as it is known by now. The control plane adds it up; metrics
 * print it.
 */
#ifndef DRAIN_ROWS_COUNTS_H
#define DRAIN_ROWS_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "dlt/dlt.h"
#include "kernel/uprobe/functions.h"
#include "trace/loss.h"

struct probe_counts {
	uint64_t seen; /* entries that the kernel side saw */
	uint64_t calls; /* of those, written */
	uint64_t rows; /* in the file */
	uint64_t bytes;
	uint64_t lost; /* without a row in a file; the sum of: */
	uint64_t lost_by[LOSSES];
	uint64_t unsure; /* of the rows: the disk may not have them */
	uint64_t late; /* rows after a later one */
	uint64_t unmatched; /* seen, but neither written, lost nor in flight */
	uint64_t filtered;
	uint64_t foreign; /* left out: of other users than the trace's owner */
	uint64_t unseen; /* that the kernel did not report to a hook: of LOST; of sched switches within its sums */
	uint64_t unread; /* writes to the job's output, or their ends, that were not searched for lines about phases; of
			    pids: processes whose facts /proc had no more */
	uint64_t unanswered; /* processes that could not be read in time: see unanswered.h */
	uint64_t lines; /* of the job's output that were searched, bars each time that they were drawn */
	uint64_t brief; /* calls without a row, which are only in sums */
	uint64_t fileless; /* disk requests with data of which no file is known, or of a part not */
	uint64_t overwritten; /* pages whose dirtier was forgotten before they were written back */
	uint64_t refused; /* pages that were read ahead, and of which it is not known whether they are used */
	uint64_t nvtx; /* of regions: rows that came by NVTX */
	uint64_t dropped, dropped_bytes; /* of the rows and bytes, by --keep */
	uint64_t summed; /* never written as rows: --keep sums */
};

/* What the manifest has of a stage besides the counts of its probe: a struct of the stage's own. */
union stage_counts {
	uint64_t align;
	char bytes[192];
};

struct counts {
	struct probe_counts probes[DLT_PROBES];
	union stage_counts stages[DLT_PROBES];
	struct functions_counts functions;
	uint64_t log_lost; /* bytes of the workload's output */
	uint64_t skipped; /* skipped runs of the dispatcher, for calls of any process: some may have been ours */
};

/* Returns the counts of the stage of PROBE, as a pointer to the stage's struct. */
#define counts_of(counts, probe) ((void *)(counts)->stages[probe].bytes)

#endif
