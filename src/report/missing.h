/* SPDX-License-Identifier: BSD-2-Clause */
/* What is missing of a trace, measured: the manifest's counts against the rows that were read. */
#ifndef REPORT_MISSING_H
#define REPORT_MISSING_H

struct report;

/* All files have been read: rows that are lost, cut off, dropped or too many, while R->folder still says so. */
void report_missing_files(struct report *r);
/* All sums and the answer are there: what else is missing, and what the answer's caveat is. */
void report_missing_end(struct report *r);

#endif
