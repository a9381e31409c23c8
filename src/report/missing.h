/* SPDX-License-Identifier: BSD-2-Clause */
/* Measures what is missing of a trace: compares the manifest's counts with the rows that were read. */
#ifndef REPORT_MISSING_H
#define REPORT_MISSING_H

#include <stdbool.h>
#include <stdint.h>

#include "report/scan/model.h"

#define MISSING_COUNT_MAX (1ULL << 56) /* a manifest may be forged: sums of what it counts must fit */

struct report_part;

static inline bool missing_is_call(enum report_kind kind)
{
	return kind > REPORT_BIO;
}

static inline double missing_part(uint64_t n, uint64_t of)
{
	return of ? (double)n / (double)of : 0;
}

/* Finds rows that are lost, cut off, dropped or too many; after the last file, while REPORT->folder is still open. */
void report_missing_files(struct report *report);
/* Finds, at the end, what else is missing, and the answer's caveat. */
extern const struct report_part report_missing_part;

#endif
