/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One way through the root's time: its pieces, kept until the rows of calls and the job's phases have cut them.
 * Bounded: pieces without room count whole, in no phase.
 */
#ifndef REPORT_PATH_WAY_H
#define REPORT_PATH_WAY_H

#include "report/path/cuts.h"
#include "report/path/sums/idle.h"
#include "report/path/sums/sums.h"

struct path_way {
	struct path_sums *sums;
	struct path_way_piece {
		uint64_t begin_ns, end_ns;
		struct path_leaf leaf;
		uint32_t life;
		uint32_t time; /* 1 + index of its time in CUTS; 0: none */
	} * v;
	uint32_t n, max;
	struct path_cuts cuts;
	bool full, backwards; /* the pieces come from the end */
};

void path_way_free(struct path_way *way);
/* A path_take_fn, of a struct path_way. */
void path_way_take(void *own, const struct path_piece *piece);
/* All pieces have been taken; calls follow. Returns 0 or -ENOMEM. */
int path_way_walked(struct path_way *way, uint32_t lives);
/* A wait in this time was for a page of the file NAME, whatever the call was that needed it. */
void path_way_fault(struct path_way *way, uint32_t life, uint64_t begin_ns, uint64_t end_ns, uint32_t name);
/* What the pieces of a way are added to besides its sums; each may be NULL. */
struct path_also {
	struct timeline *timeline;
	struct path_idle *idle;
	struct table *workers; /* uint64_t ns, by the PID of a process that serves others */
};

/* Adds all pieces to the sums, as they have been cut, and to ALSO. */
void path_way_end(struct path_way *way, const struct path_lives *lives, const struct path_epochs *epochs,
		  struct path_also also);

#endif
