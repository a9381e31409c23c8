/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of a running trace: counts of both planes together, the status line, warnings of losses, and the text that
 * stop prints. Control plane.
 */
#ifndef SESSION_STATUS_H
#define SESSION_STATUS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "dlt/dlt.h"
#include "drain/rows/counts.h"
#include "trace/probe_mask.h"

struct drain;
struct relay_log;
struct tracer;

/* Rates over about the last second; 0 before that. */
struct status_rates {
	double rows_s, bytes_s, probe_rows_s[DLT_PROBES]; /* per second; rows that are only summed up count as rows */
	uint64_t at_ns, bytes, probe_rows[DLT_PROBES]; /* the values and the time of the last second; CLOCK_MONOTONIC */
};

struct status {
	struct counts counts;
	struct status_rates rates;
	uint64_t rows, bytes, lost, dropped, summed;
	uint64_t lost_by[LOSSES];
	uint64_t log_unsure; /* bytes of workload.log that the disk may not have */
	uint64_t unsure; /* rows that the disk may not have */
	uint64_t start_ns;
	bool by_config; /* the trace is one of the service's own: its user has a config, not a command line */
	/* The values of the last messages. */
	struct status_logged {
		uint64_t n, at_ns;
	} lost_logged, unseen_logged, failures_logged, unsure_logged, log_lost_logged;
	bool stalled_logged, same_dev_logged, skipped_logged, log_unsure_logged;
};

/* Returns how to choose another place for the trace, for messages. */
const char *status_elsewhere(const struct status *s);
/* Updates the counts. */
void status_update(struct status *status, const struct tracer *tracer, const struct drain *drain);
/* To be called after the end: counts as `unmatched' events that were seen, but are not emitted, lost or in flight. */
void status_account(struct status *status, struct tracer *tracer);
/* Warns of new losses, write errors, and a stalled or shared disk. HANGS: the file system does not even answer queries.
 */
void status_warn(struct status *status, const struct drain *drain, const char *dir, bool hangs);
/* To be called when the drain will write no more: counts its rows, and the records that wait for it, as lost. */
void status_give_up(struct status *s);
/* With --log: counts and reports the bytes that the log of the workload's output lacks. LOG NULL: there is no log. */
void status_log(struct status *status, const struct relay_log *log, const char *dir);
/* Updates the rates; once a second, after status_update(). */
void status_rates_tick(struct status *status);
/* Redraws the status line (elapsed, rows, bytes, lost, rates by probe). */
void status_line(struct status *status);
/* Logs each probe's losses: for the case that the manifest, which lists them, could not be written. */
void status_report_lost(const struct status *s);
/* Puts the summary at the end: rows, bytes, losses, and the place of the files. */
void status_put_summary(const struct status *status, const char *dir, FILE *out);

#endif
