/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads some rows a second time, after their files: those of files and calls that stand out. */
#ifndef REPORT_SCAN_LOOKUP_H
#define REPORT_SCAN_LOOKUP_H

#include "report/scan/model.h"

/* Returns the newest path of FID, escaped as in files.out, and its FSTYPE unless that is NULL; NULL when it is not
 * known. */
char *report_path_of(struct report *report, uint64_t fid, char *fstype, size_t size);
/* Puts the files with the largest KEY into TOP, largest first, REPORT_TOP at most; returns how many. */
unsigned int report_pick_files(struct report *report, struct report_top_file *top,
			       uint64_t (*key)(const struct report_file *f));
/* Fills in time, process and target of CALLS. */
void report_look_up_calls(struct report *r, struct report_calls *calls);

#endif
