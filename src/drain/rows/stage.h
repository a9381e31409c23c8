/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stage: the part of the drain that makes the rows of one file from records that have to wait, be joined, or be
 * looked up first. Its state is decode->state[PROBE]. drain/stages.c lists the stages; the drain knows none by name.
 */
#ifndef DRAIN_ROWS_STAGE_H
#define DRAIN_ROWS_STAGE_H

#include <stdint.h>

struct config;
struct counts;
struct decode;
struct dlt_pids;
struct json;
struct tracer;

/* Hooks that are NULL do nothing. All but count() and manifest() are called by the drain's thread, once it runs. */
struct drain_stage {
	unsigned int probe; /* enum dlt_probe */
	/* Makes the state, for a trace that has the file; without this hook, it is made when it is needed. 0 or -errno.
	 */
	int (*open)(struct decode *d);
	/* The thread starts at NOW_NS, of CLOCK_MONOTONIC as all times here. */
	void (*begin)(struct decode *d, struct tracer *t, uint64_t now_ns);
	/* A round of records has been decoded, and with it all records until REACHED_NS. */
	void (*turn)(struct decode *d, uint64_t reached_ns);
	/* UTC is about to be set: rows of earlier records are written by the old map. */
	void (*step)(struct decode *d);
	/* A second has passed: it is NOW_NS, and all records until REACHED_NS have been decoded. */
	void (*tick)(struct decode *d, uint64_t now_ns, uint64_t reached_ns);
	/* A process of the target has forked, executed a program, or ended: REC is the record of pids. */
	void (*life)(struct decode *d, const struct dlt_pids *rec);
	/* The trace ends at END_NS, all records have been decoded: writes the rows that are left. */
	void (*end)(struct decode *d, uint64_t end_ns);
	/* Frees the state; NULL: by free(3). */
	void (*free)(void *state);
	/* Control plane, each second: sets counts_of(COUNTS, PROBE) and PROBE's own. */
	void (*count)(const struct decode *d, const struct tracer *t, struct counts *counts);
	/* Control plane: puts the object of the manifest that has these counts. */
	void (*manifest)(struct json *j, const struct config *cfg, const struct counts *counts);
};

#endif
