/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The path as a thread saw it: each moment of its time goes to one leaf. While it was off its CPU until another thread
 * of the job ended this, the moment belongs to what that thread did then, and so on. All pieces add up to the time that
 * was walked, to the ns. Costs a step for each row in that time and each thread that waits for another.
 */
#ifndef REPORT_PATH_WALK_H
#define REPORT_PATH_WALK_H

#include "report/path/edges.h"
#include "report/path/lives/doings.h"
#include "report/path/waits/polls.h"
#include "report/path/waits/tries.h"

#define PATH_DEPTH_MAX 200U /* threads that wait for each other in a row */
/* A thread's short waits for another one are looked at if they are so long in all, and so many in a row. */
#define PATH_SHORT_LEAST_NS 100000U
#define PATH_SHORT_DEPTH_MAX 8U
/* A thread that ran has a row in so much time: sums of a second, which are written once a second. */
#define PATH_ROWS_NS (3 * NSEC_PER_SEC)

/* The time of a thread between two of its waits, or the part of it in an interval of sched.out. */
struct path_between {
	uint64_t begin_ns, end_ns;
	uint64_t storage_ns, ready_ns; /* of it: in short waits for storage, able to run */
};

/* A piece of time, in which LIFE did LEAF. */
struct path_piece {
	uint64_t begin_ns, end_ns;
	struct path_leaf leaf;
	uint32_t life;
	const struct path_between *between; /* of one on a CPU: the time that it is a part of; NULL: not known */
};

typedef void (*path_take_fn)(void *own, const struct path_piece *piece);

struct path_walk {
	const struct path_shorts *shorts;
	const struct path_waits *waits; /* theirs */
	const struct path_lives *lives; /* likewise */
	struct path_polls polls;
	const uint8_t *roles; /* of each process: path_roles_of() */
	const struct path_doings *doings; /* NULL, as after path_walk_init(): nothing is known of them */
	const struct path_tries *tries; /* likewise */
	path_take_fn take;
	void *own;
	struct path_edges *edges; /* get the time in which a thread waited for another one; NULL: nothing does */
	bool *on_stack; /* of each life: it waits for the one that is looked at */
	unsigned int depth, short_depth;
	bool held; /* the one that is looked at held a lock that the one before it waited for */
	bool gil; /* it held Python's lock, likewise */
	bool unended; /* the trace is still written, or was cut off: a wait that had not ended has no row */
};

/* ROLES: see path_roles_of(). */
int path_walk_init(struct path_walk *walk, const struct path_shorts *shorts, const uint8_t *roles, path_take_fn take,
		   void *own);
void path_walk_free(struct path_walk *walk);

/* Gives all of [BEGIN, END) of LIFE's time to TAKE, in order. A time between waits has one piece on a CPU at most. */
void path_walk(struct path_walk *walk, uint32_t life, uint64_t begin_ns, uint64_t end_ns);

/* --- parts of it, for other ways to walk ------------------------------------------------------------------ */

/* Gives [BEGIN, END), which lies between two waits of LIFE. */
void path_walk_between(struct path_walk *walk, uint32_t life, uint64_t begin_ns, uint64_t end_ns);
/* Gives [BEGIN, END) of the wait WAIT, which had not ended by END. */
void path_walk_wait(struct path_walk *walk, uint32_t wait, uint64_t begin_ns, uint64_t end_ns);
/* Gives [BEGIN, END) of LIFE to a leaf of KIND, without detail. */
void path_walk_leaf(struct path_walk *walk, uint32_t life, enum path_kind kind, uint64_t begin_ns, uint64_t end_ns);

#endif
