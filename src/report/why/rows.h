/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What why does with a row of a call: adds it to sums, and keeps what the second pass needs of it, which takes all
 * calls in order of time (calls.h).
 */
#ifndef REPORT_WHY_ROWS_H
#define REPORT_WHY_ROWS_H

#include "report/scan/scan.h"
#include "report/why/call.h"

/* To be called before the rows of each file. */
void why_rows_begin(struct report *r);
/* Takes the current row of SCAN, a call with the facts FACTS; rw.h has the rows of vfs_rw. */
void why_rows_take(const struct scan *scan, const struct report_call_facts *facts);

/*
 * Takes a row that is read again, without adding to sums. Rows come in the order of their file, from the first one on.
 * Returns true with *ROW; false when it is not a call.
 */
bool why_rows_again(const struct scan *s, const struct report_call_facts *c, struct callstore_row *row);
/* To be called before the rows of KIND are read again. */
void why_rows_begin_again(struct report *r, enum report_kind kind);

#endif
