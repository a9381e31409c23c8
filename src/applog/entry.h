/* SPDX-License-Identifier: BSD-2-Clause */
/* What a line of a log, or a mark, says of a phase. */
#ifndef APPLOG_ENTRY_H
#define APPLOG_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#define PHASE_NAME_MAX 128
#define PHASE_NO_END UINT64_MAX /* of what has none yet */

/* Whence a phase is known; where several tell of a kind the first counts. */
enum phase_source {
	PHASE_MLLOG,	/* MLPerf's lines */
	PHASE_DLIO,	/* the DLIO benchmark's */
	PHASE_LOG,	/* other lines of a log */
	PHASE_MARKS,	/* marks.out */
	PHASE_WORKERS,	/* generations of worker processes */
	PHASE_INFERRED, /* what was read and written when */
	PHASE_SOURCES,
};

/* What the log or mark says at an instant. */
enum phase_event {
	PHASE_BEGINS, /* where no end of its name is told at all it lasts until the next; MLPerf's have one always */
	PHASE_ENDS,
	PHASE_LASTS, /* it begins, and lasts until its end or the next of this event, source and rank */
	PHASE_NEAR,  /* it is about an epoch and names neither its begin nor its end: epochs.h */
};

/* What a line says of an epoch beside its number. */
struct phase_words {
	bool results; /* something that was measured: a loss, a time */
	bool heading; /* nothing else */
	bool has_elapsed;
	float part; /* of the epoch that is done, 0 to 1; -1: not said */
	uint64_t elapsed_ns; /* since it began, where HAS_ELAPSED: to the second */
	uint64_t run_ns; /* that all of the training took until this line; 0: not said */
};

struct phase_entry {
	enum phase_event event;
	enum phase_source source;
	const char *name; /* unescaped, without event and number */
	uint32_t name_len;
	int64_t number, rank; /* -1: not told */
	uint64_t at_ns;
	bool by_rule; /* the user has named the line */
	struct phase_words words; /* of PHASE_NEAR */
};

#endif
