/* SPDX-License-Identifier: BSD-2-Clause */
/* For --metrics-file: calls that failed by an error that a full disk, a limit or a broken disk has. Drain thread. */
#ifndef DRAIN_ROWS_METRICS_FAILED_H
#define DRAIN_ROWS_METRICS_FAILED_H

#include <stdint.h>

struct dlt_hdr;

#define METRICS_ERRORS 9

/* By errno: what the report lists whatever the file. Others, such as EACCES, matter for some files only. */
extern const struct metrics_error {
	int nr;
	const char *name;
} metrics_errors[METRICS_ERRORS];

/* Counts REC, a row of PROBE, in N, if it is such a call. */
void metrics_failed_row(uint64_t n[METRICS_ERRORS], unsigned int probe, const struct dlt_hdr *rec);

#endif
