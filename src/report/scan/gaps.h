/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stretches of a trace of which it tells less than of the rest, or nothing, each with its reason: what the
 * readings of its clocks know of them, and whoever finds rows missing. Pure; CLOCK_MONOTONIC, ns.
 */
#ifndef REPORT_SCAN_GAPS_H
#define REPORT_SCAN_GAPS_H

#include <stdbool.h>
#include <stdint.h>

#define GAPS_MAX 1024
#define GAP_WHAT_MAX 96

struct gap {
	uint64_t begin_ns, end_ns;
	char what[GAP_WHAT_MAX];
};

struct gaps {
	struct gap *v; /* NULL: none */
	uint32_t n;
	uint64_t more; /* that found no room */
};

void gaps_add(struct gaps *g, uint64_t begin_ns, uint64_t end_ns, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* In order of their begins. */
void gaps_sort(struct gaps *g);
void gaps_free(struct gaps *g);

/* --- clocks ------------------------------------------------------------------------------------------- */

struct gap_clocks {
	uint64_t ns, realtime_ns, boottime_ns;
};

enum gap_of_clocks { GAP_NONE, GAP_STALLED, GAP_SUSPEND, GAP_STEP };

/* What lies between two readings, of which BEFORE may be none yet (zeros). */
struct gap_between {
	enum gap_of_clocks kind;
	int64_t ns;	 /* how long */
	int64_t step_ns; /* by how much the time of day was set */
};

struct gap_between gaps_between(const struct gap_clocks *before, const struct gap_clocks *now);

#endif
