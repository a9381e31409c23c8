/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a running trace is doing: the counts of both planes put together, the status line, warnings
 * as soon as something is lost, and what stop answers. Control plane.
 */
#ifndef SESSION_STATUS_H
#define SESSION_STATUS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "dlt/dlt.h"
#include "drain/counts.h"
#include "trace/probe_mask.h"

struct drain;
struct relay_log;
struct tracer;

/* How fast it goes, by the last second or so; 0 before that. */
struct status_rates {
	double rows_s, bytes_s, probe_rows_s[DLT_PROBES]; /* per second; rows that are only summed up are rows */
	uint64_t at_ns, bytes, probe_rows[DLT_PROBES]; /* when and from where they count on; CLOCK_MONOTONIC */
};

struct status {
	struct counts counts;
	struct status_rates rates;
	uint64_t rows, bytes, lost, dropped, summed;
	uint64_t lost_by[LOSSES];
	uint64_t log_unsure; /* bytes of workload.log: the disk may not have them */
	uint64_t unsure;
	uint64_t start_ns;
	/* what has been said already */
	struct status_said {
		uint64_t n, at_ns;
	} lost_said, unseen_said, failures_said, unsure_said, log_said;
	bool stalled_said, same_dev_said, skipped_said, log_unsure_said;
};

/* Bring the counts up to date. */
void status_update(struct status *s, const struct tracer *t, const struct drain *d);
/* After the end: what was seen must be written, lost or in flight; the rest is `unmatched`. */
void status_account(struct status *s, struct tracer *t);
/*
 * Say what is new and bad: losses, write errors, a stalled or shared disk. HANGS: the file system does not
 * answer even who only asks it.
 */
void status_warn(struct status *s, const struct drain *d, const char *dir, bool hangs);
/* The drain will not write what it has, nor what waits for it: calls that are no rows are lost. */
void status_give_up(struct status *s);
/* --log: note what the log of the workload's output lacks, and say so. LOG NULL: none. */
void status_log(struct status *s, const struct relay_log *log, const char *dir);
/* Once a second, after status_update(): the rates since the last time. */
void status_rates_tick(struct status *s);
/* Redraw the status line (elapsed, rows, bytes, lost, rates per probe). */
void status_line(struct status *s);
/* Say of each probe with losses what it lost: nothing else has it, where the manifest could not be written. */
void status_say_lost(const struct status *s);
/* The summary at the end: rows, bytes and losses, and where the files are. */
void status_put_summary(const struct status *s, const char *dir, FILE *out);

#endif
