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
#include "kernel/access/perf_losses.h"
#include "kernel/access/pmu.h"
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
	uint64_t fileless; /* disk requests with data of which no file is known, or of a part not */
	uint64_t overwritten; /* pages whose dirtier was forgotten before they were written back */
	uint64_t refused; /* pages that were read ahead, and of which it is not known whether they are used */
	uint64_t nvtx; /* of regions: rows that came by NVTX */
	uint64_t dropped, dropped_bytes; /* of the rows and bytes, by --keep */
	uint64_t summed; /* never written as rows: --rollup-only */
};

/* What access.out does not show. */
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

/* What alloc.out does not show. */
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

struct counts {
	struct probe_counts probes[DLT_PROBES];
	struct access_counts access;
	struct alloc_counts alloc;
	uint64_t log_lost; /* bytes of the workload's output */
	uint64_t skipped; /* skipped runs of the dispatcher, for calls of any process: some may have been ours */
};

#endif
