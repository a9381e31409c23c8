/* SPDX-License-Identifier: BSD-2-Clause */
/* What the rows of a trace's files add to the report. */
#ifndef REPORT_ROWS_H
#define REPORT_ROWS_H

#include "report/scan/scan.h"

/* Read all of KIND's file in DIRFD. 0, -ENOENT when it is not there, -errno. */
int report_read(struct report *r, enum report_kind kind, int dirfd);

/* --- names.c: a row; false when a number that it must have is none ------------------------------------- */

bool report_row_files(struct scan *s);
bool report_row_pids(struct scan *s);
bool report_row_time_align(struct scan *s);
bool report_row_rollup(struct scan *s);

#endif
