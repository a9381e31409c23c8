/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stretches of a trace that are known less well than the rest, or not at all, each with its reason. They come from the
 * readings of clocks, from missing rows, and from times in which no thread ran. Pure; CLOCK_MONOTONIC, ns.
 */
#ifndef REPORT_SCAN_GAPS_H
#define REPORT_SCAN_GAPS_H

#include <stdbool.h>
#include <stdint.h>

#define GAPS_MAX (1U << 14)
#define GAP_WHAT_MAX 96
#define GAP_ALL_CPUS UINT32_MAX

enum gap_kind {
	GAP_NONE,
	GAP_IDLE, /* nothing ran on any CPU */
	GAP_OFF, /* no thread of the job ran on any CPU */
	GAP_LOST, /* rows are missing */
	GAP_STALLED, /* dltraced itself did not run */
	GAP_STEP, /* the clock of TIME was set */
	GAP_SUSPEND, /* the machine slept */
	GAP_KINDS,
};

extern const char *const gap_kind_names[GAP_KINDS];

struct gap {
	enum gap_kind kind;
	uint32_t cpu; /* or GAP_ALL_CPUS */
	uint64_t begin_ns, end_ns; /* 0: not known */
	int64_t ns; /* its length; for a step, how far the clock moved */
	uint64_t count; /* of lost records; 0: not known */
	const char *file; /* the file that lacks rows, as in report_kind_names; NULL: all of them, or not known */
	char what[GAP_WHAT_MAX]; /* a sentence, where there is one */
};

struct gaps {
	struct gap *v; /* NULL: none */
	uint32_t n;
	uint64_t more; /* gaps that found no room */
};

void gaps_put(struct gaps *gaps, const struct gap *gap);
/* FILE must live as long as G. */
void gaps_add(struct gaps *g, enum gap_kind kind, const char *file, uint64_t begin_ns, uint64_t end_ns, const char *fmt,
	      ...) __attribute__((format(printf, 6, 7)));
/* In order of their begins. */
void gaps_sort(struct gaps *g);
void gaps_free(struct gaps *g);

/* --- clocks ------------------------------------------------------------------------------------------- */

struct gap_clocks {
	uint64_t ns, realtime_ns, boottime_ns;
};

/* The difference of two readings; BEFORE is all zero for the first one. */
struct gap_between {
	enum gap_kind kind; /* GAP_STALLED, GAP_SUSPEND or none */
	int64_t ns; /* how long */
	int64_t step_ns; /* by how much the time of day was set */
};

struct gap_between gaps_between(const struct gap_clocks *before, const struct gap_clocks *now);

#endif
