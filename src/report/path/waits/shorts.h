/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a thread did between two rows of waits.out, by sched.out: its sums of an interval, less the rows of waits.out
 * that end in it, are its time on a CPU and its short waits. Bounded: a thread without sums counts as on a CPU.
 */
#ifndef REPORT_PATH_WAITS_SHORTS_H
#define REPORT_PATH_WAITS_SHORTS_H

#include "report/path/waits/waits.h"

/* The rows of an interval are written one after the other. */
#define PATH_SPREAD_NS 100000000U

/* Time on a CPU, or in waits that ended alike. */
struct path_short {
	struct path_row row; /* at_ns: the end of the interval */
	uint64_t ns;
	uint32_t waits; /* how many these were, at most: those in other states of the call count, too */
	struct path_leaf leaf; /* if no thread of the job ended the waits */
	struct path_ender ender;
};

struct path_shorts {
	struct path_waits *waits;
	struct path_short *v;
	uint32_t n, max;
	bool full; /* the rest counts as time on a CPU */
	struct path_range *of; /* those of each life, after path_shorts_end() */
};

void path_shorts_init(struct path_shorts *shorts, struct path_waits *waits, uint32_t max);
void path_shorts_free(struct path_shorts *shorts);

/* Takes a row of sched.out, of a struct path_shorts. A scan_taker's. */
bool path_shorts_take(struct scan *s, void *own);
/* All rows have been taken, and path_waits_end() was called. Returns 0 or -ENOMEM. */
int path_shorts_end(struct path_shorts *shorts);

/* What a thread did in an interval. */
struct path_mix {
	const struct path_short *v;
	uint32_t n; /* 0: not known */
	uint64_t end_ns; /* of the interval; UINT64_MAX: none follows */
};

/* Returns what LIFE did in the interval that AT is in. */
struct path_mix path_shorts_at(const struct path_shorts *shorts, uint32_t life, uint64_t at_ns);

#endif
