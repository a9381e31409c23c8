/* SPDX-License-Identifier: BSD-2-Clause */
/* What --from, --to and --phase of a report select in each trace folder. */
#ifndef CMD_REPORT_WINDOWS_H
#define CMD_REPORT_WINDOWS_H

#include "trace/window.h"

struct report_args;

/*
 * Returns the part of each of the N folders DIRS, the hosts of one job, that ARGS select: one interval, so that a
 * name that several phases have selects none. The caller frees them. NULL after a message.
 */
struct window *windows_of(const struct report_args *args, char *const *dirs, unsigned int n);

#endif
