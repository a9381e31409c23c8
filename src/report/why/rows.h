/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a row of a call means for why: what it adds to sums as it is read, and what must be known of it when the calls come
 * once more, in order of time (calls.h).
 */
#ifndef REPORT_WHY_ROWS_H
#define REPORT_WHY_ROWS_H

#include "report/scan/scan.h"
#include "report/why/call.h"

/* The rows of a file are about to be read. */
void why_rows_begin(struct report *r);
/* The present row of S, a call that C tells of; those of vfs_rw: rw.h. */
void why_rows_take(const struct scan *s, const struct report_call_facts *c);

/*
 * The same row read again, in its file's order from the first one on, with nothing added: false where it is no call, else
 * *ROW.
 */
bool why_rows_again(const struct scan *s, const struct report_call_facts *c, struct callstore_row *row);
/* Rows of KIND are about to be read again. */
void why_rows_begin_again(struct report *r, enum report_kind kind);

#endif
