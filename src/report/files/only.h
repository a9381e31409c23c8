/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report --path: keeps only the calls on the file PATH, or on files below the folder PATH, such as a data set. All else
 * (disks, collectors, CPU time, lives of processes, sums of dropped rows) stays whole.
 */
#ifndef REPORT_FILES_ONLY_H
#define REPORT_FILES_ONLY_H

#include "report/scan/model.h"

/* Returns 0, -EINVAL or -ENOMEM. PATH is absolute, plain or escaped as a report prints it; NULL: all files. */
int report_only_init(struct report *r, const char *path);
/* Whether the path F is inside; always true without a PATH. */
bool report_only_has(const struct report *r, struct reader_field f);
/* Adds notes: what --path does not restrict, and whether nothing was found. */
void report_only_note(struct report *r);

#endif
