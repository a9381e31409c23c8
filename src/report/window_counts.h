/* SPDX-License-Identifier: BSD-2-Clause */
/* The counts of a report on a part of a trace. */
#ifndef REPORT_WINDOW_COUNTS_H
#define REPORT_WINDOW_COUNTS_H

struct report;

/*
 * Has the manifest of REPORT, whose files in the folder DIRFD have been read, count the rows of REPORT's window alone,
 * also those of which only sums remain. Losses stay, as nobody knows when they happened. Nothing where REPORT is about
 * the whole trace.
 */
void window_counts_apply(struct report *report, int dirfd);

#endif
