/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many calls have failed by an error that a full disk, a limit or a broken disk has: for --metrics-file and
 * `status --watch'. The drain counts, the control plane reads at any time (relaxed, as a sink's counts).
 */
#ifndef DRAIN_ROWS_FAILED_CALLS_H
#define DRAIN_ROWS_FAILED_CALLS_H

#include <stdint.h>
#include <string.h>

#include "dlt/dlt.h"

#define FAILED_CALLS_ERRORS 9

/* By errno: what the report lists whatever the file. Others, such as EACCES, matter for some files only. */
extern const struct failed_calls_error {
	int nr;
	const char *name;
} failed_calls_errors[FAILED_CALLS_ERRORS];

/* All zero is nothing counted. */
struct failed_calls {
	uint64_t n[FAILED_CALLS_ERRORS];
};

/* Where a call's result is in its record, an int64_t; 0: the probe has none. */
extern const uint16_t failed_calls_results[DLT_PROBES];

/* Counts RESULT, which is negative, if it is one of these errors. */
void failed_calls_count(struct failed_calls *failed, int64_t result);

/* Counts REC, a row of PROBE, if it is such a call. For each row: hardly any has failed. */
static inline void failed_calls_row(struct failed_calls *failed, unsigned int probe, const struct dlt_hdr *rec)
{
	const uint16_t at = failed_calls_results[probe];
	int64_t result;

	if (!at)
		return;
	memcpy(&result, (const char *)rec + at, sizeof(result));
	if (__builtin_expect(result < 0, 0))
		failed_calls_count(failed, result);
}

#endif
