/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which of a thread's time on a CPU was in calls on files: rows of calls cut the times between its waits. Within a
 * call's time are short waits for storage, too, and waits for a CPU: what these had is taken off. Bounded by the
 * caller.
 */
#ifndef REPORT_PATH_CUTS_H
#define REPORT_PATH_CUTS_H

#include "report/path/lives/rows.h"
#include "report/path/walk.h"

enum path_cut_kind { PATH_CUT_READ, PATH_CUT_WRITE, PATH_CUT_METADATA, PATH_CUT_KINDS };

/* The time between two waits of a thread that has a piece on a CPU. */
struct path_cut_time {
	struct path_row row; /* at_ns: its begin */
	uint64_t end_ns, storage_ns, ready_ns;
	uint32_t piece; /* the caller's number of the piece */
	struct path_calls_of {
		uint64_t ns, lead_ns; /* LEAD: by which NAME has more than all others, when it has most of them */
		uint32_t name; /* of the file */
	} of[PATH_CUT_KINDS];
};

struct path_cuts {
	struct path_cut_time *v;
	uint32_t n;
	struct path_range *by_life; /* after path_cuts_sort() */
	uint32_t last; /* index of the time that had the last call */
};

void path_cuts_free(struct path_cuts *cuts);
/* Adds the time of PIECE, which has one, as that of number NUMBER. Returns 0 or -ENOMEM. */
int path_cuts_add(struct path_cuts *cuts, const struct path_piece *piece, uint32_t number);
/* All have been added, of LIVES lives; calls follow. Returns 0 or -ENOMEM. */
int path_cuts_sort(struct path_cuts *cuts, uint32_t lives);
/* Adds a call of LIFE on the file NAME. */
void path_cuts_call(struct path_cuts *cuts, uint32_t life, uint64_t begin_ns, uint64_t end_ns, enum path_cut_kind kind,
		    uint32_t name);

/* Sets NS to the parts of the CPU_NS of TIME's piece that were in calls of each kind; they are CPU_NS at most in all.
 */
void path_cut_parts(const struct path_cut_time *time, uint64_t cpu_ns, uint64_t ns[static PATH_CUT_KINDS]);

#endif
