/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A part of a report: sums of its own over the rows of one or several files. src/report/parts.c lists the parts in the
 * order in which their hooks are called; the loading of a report knows none by name.
 */
#ifndef REPORT_SCAN_PART_H
#define REPORT_SCAN_PART_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/window.h"

struct report;
struct memory_options;
struct path_limits;
struct phases_options;
struct report_cpu_options;
struct whatif_wanted;

/* What a report is asked for. */
struct report_options {
	bool timed; /* with phases and a timeline */
	uint64_t begin_ns; /* begin of the timeline, CLOCK_MONOTONIC; 0: the trace's begin */
	struct window window; /* rows of this time alone; all zero: all */
	const char *path; /* absolute; only calls on this file, or on files below this folder. NULL: all */
	const struct memory_options *memory; /* with the map of memory, if the trace has rows for it; NULL: without */
	const struct report_cpu_options *cpu; /* with CPU time, if the trace has any; NULL: without */
	const struct phases_options *phases; /* how to find phases; NULL: as the folder has them */
	const struct path_limits *path_limits; /* of the path; NULL: the usual ones */
	bool every_file; /* with the sums of each, and not only of those that stand out */
	const struct whatif_wanted *what_if; /* with predictions, also of these changes; NULL: without */
};

/* Hooks that are NULL do nothing. */
struct report_part {
	/* Makes the part, if O asks for it. 0 or -errno; what it has made by then is freed by free(). */
	int (*new)(struct report *r, const struct report_options *o);
	/* Names, times and lives of processes are known; rows of operations follow. */
	void (*begin)(struct report *r);
	/* The rows that the report passes on have been read: walks through files that this part alone needs. */
	void (*read)(struct report *r);
	/* All rows have been read: finishes the sums. */
	void (*end)(struct report *r);
	/* Adds notes on what has no place in the sums. */
	void (*note)(struct report *r);
	/* All sums are finished: derives what needs sums of several parts, and picks what is shown. */
	void (*settle)(struct report *r);
	/* Frees all of the part, which may be half made, or not at all. */
	void (*free)(struct report *r);
};

#endif
