/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report --path: of calls only those on files that are PATH, or below it, a data set for one. What is no
 * call on a file (disks, collectors, CPU time, process life, sums of dropped rows) stays whole.
 */
#ifndef REPORT_SCAN_ONLY_H
#define REPORT_SCAN_ONLY_H

#include "report/scan/model.h"

/* PATH is absolute, as it is or as a report prints it; NULL: all files. 0, -EINVAL or -ENOMEM. */
int report_only_init(struct report *r, const char *path);
/* Whether the path F is inside; also where no such thing was asked for. */
bool report_only_has(const struct report *r, struct reader_field f);
/* Say what it does not restrict, and that nothing was found. */
void report_only_note(struct report *r);

#endif
