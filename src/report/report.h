/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a trace folder to a struct report: every file is streamed once. Offline: knows nothing of BPF, needs no root,
 * and trusts no byte of the folder.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "report/scan/model.h"
#include "report/scan/part.h"

/*
 * Sums up the folder DIR and, unless O has a path, finds why the job waited. Returns 0, -ENODATA when DIR is no trace,
 * -EINVAL when O's path is none, -ERANGE when it has nothing of O's window, -ENOTDIR or another -errno.
 */
int report_load(struct report **ret, const char *dir, const struct report_options *o);
/* Loads the folder DIRFD likewise; DIR is only shown, and may name another folder by now. */
int report_load_at(struct report **ret, const char *dir, int dirfd, const struct report_options *options);
void report_free(struct report *report);

#endif
