/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report --path: keeps only the calls on the file PATH, or on files below the folder PATH, such as a data set. All else
 * (disks, collectors, CPU time, lives of processes, sums of dropped rows) stays whole.
 */
#ifndef REPORT_FILES_PATH_FILTER_H
#define REPORT_FILES_PATH_FILTER_H

#include "report/scan/model.h"

/* Returns 0, -EINVAL or -ENOMEM. PATH is absolute, plain or escaped as a report prints it; NULL: all files. */
int path_filter_init(struct report *report, const char *path);
/* Whether the path F is inside; always true without a PATH. */
bool path_filter_has(const struct report *r, struct reader_field f);
/* Whether lists of files leave out that with the path F: the program has named other folders, and the user none. */
bool path_filter_unlists(const struct report *r, struct reader_field f);
/* Adds notes: what --path does not restrict, and whether nothing was found. */
void path_filter_note(struct report *r);

#endif
