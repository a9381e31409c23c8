/* SPDX-License-Identifier: BSD-2-Clause */
/* An event of a phase, from a line of a log or a mark. */
#ifndef APPLOG_ENTRY_H
#define APPLOG_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#define PHASE_NAME_MAX 128
#define PHASE_NO_END UINT64_MAX /* of a phase without an end so far */

/* The sources of phases; where several have a kind, the first counts. */
enum phase_source {
	PHASE_REGIONS, /* the program's own: regions.out */
	PHASE_MLLOG, /* MLPerf's lines */
	PHASE_DLIO, /* the DLIO benchmark's */
	PHASE_LOG, /* other lines of a log */
	PHASE_MARKS, /* marks.out */
	PHASE_WORKERS, /* generations of worker processes */
	PHASE_INFERRED, /* inferred from times of reads and writes */
	PHASE_SOURCES,
};

/* The kinds of events. */
enum phase_event {
	PHASE_BEGINS, /* where its name has no ends at all, the phase lasts until the next; MLPerf's always have ends */
	PHASE_ENDS,
	PHASE_LASTS, /* it begins, and lasts until its end or the next event of this kind, source and rank */
	PHASE_WHOLE, /* it has ended and lasted for LASTED_NS; where a line began it, that is its begin */
	PHASE_NEAR, /* about an epoch, without naming its begin or end: epochs.h */
	PHASE_STEP, /* about a step of the training: step_lines.h */
};

/* The words about an epoch beside its number. */
struct phase_words {
	bool results; /* a measured value: a loss, a time */
	bool heading; /* no other words */
	bool validates; /* about the validation after the epoch's training; PART is of that */
	bool row; /* of a table that numbers epochs from 0, where bars above it may number them from 1 */
	bool has_elapsed;
	float part; /* progress of the epoch, 0 to 1; -1: not shown */
	uint64_t elapsed_ns; /* since it began, where HAS_ELAPSED: to the second */
	uint64_t run_ns; /* of all of the training up to this line; 0: not shown */
	int64_t step; /* for PHASE_STEP */
};

struct phase_entry {
	enum phase_event event;
	enum phase_source source;
	const char *name; /* unescaped, without event and number */
	uint32_t name_len;
	int64_t number, rank; /* -1: not known */
	uint64_t at_ns;
	uint64_t lasted_ns; /* for PHASE_WHOLE */
	uint64_t begin_ns; /* for PHASE_WHOLE, by the program's own reading of CLOCK_MONOTONIC; 0: not known */
	bool by_rule; /* by a rule of the user */
	struct phase_words words; /* for PHASE_NEAR and PHASE_STEP */
};

#endif
