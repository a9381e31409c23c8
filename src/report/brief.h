/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads and writes without rows, by the sums of vfs_rw_sums.out (start --min-latency). They are in all totals: of
 * files, processes, functions, sizes, the page cache and the timeline, where each sum is spread over the time it
 * covers. They are in no list of single calls, and in no account of a thread's time, as sums have no threads.
 */
#ifndef REPORT_BRIEF_H
#define REPORT_BRIEF_H

struct report;
struct report_part;

/* Adds them, before the rows of vfs_rw.out are read. */
void report_brief_read(struct report *r);

extern const struct report_part report_brief_part;

#endif
