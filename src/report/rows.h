/* SPDX-License-Identifier: BSD-2-Clause */
/* Adds the rows of a trace's files to the report. */
#ifndef REPORT_ROWS_H
#define REPORT_ROWS_H

#include "report/scan/clocks.h"
#include "report/scan/scan.h"

/* Reads all of KIND's file; ALSO, which may be NULL, takes its rows, too. Returns 0, -ENOENT when it is not there,
 * -errno. */
int report_read(struct report *report, enum report_kind kind, struct scan_taker *also);

/* Adds the gaps and steps of the clocks, after time_align.out (names.c). */
void report_clock_gaps(struct report *report, const struct scan_clocks *clocks);

/* --- names.c: take a row; false when a number that it must have is none -------------------------------- */

bool report_row_files(struct scan *s);
bool report_row_pids(struct scan *s);
bool report_row_time_align(struct scan *s);
bool report_row_rollup(struct scan *s);
/* Returns the sum of the file NAME, which is added when new; NULL: there are too many. */
struct report_sum *report_sum_of(struct report *r, struct reader_field name);
/* TO may be NULL. */
void report_sum_add(struct report_sum *to, const struct report_sum *s);

#endif
