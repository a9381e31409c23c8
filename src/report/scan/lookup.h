/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows that are read a second time, when their files have been read: of those that stand out. */
#ifndef REPORT_SCAN_LOOKUP_H
#define REPORT_SCAN_LOOKUP_H

#include "report/scan/model.h"

/* The newest path of FID, escaped as in files.out, and its FSTYPE where that is asked for; NULL when it is not known. */
char *report_path_of(struct report *r, uint64_t fid, char *fstype, size_t size);
/* The files with the most of KEY, largest first, into TOP, REPORT_TOP at most; returns how many. */
unsigned int report_pick_files(struct report *r, struct report_top_file *top,
			       uint64_t (*key)(const struct report_file *f));
/* When, by whom and on what the CALLS were. */
void report_look_up_calls(struct report *r, struct report_calls *calls);

#endif
