/* SPDX-License-Identifier: BSD-2-Clause */
/* What --from and --to of a report select in each trace folder. */
#ifndef CMD_WINDOWS_H
#define CMD_WINDOWS_H

#include "base/moment.h"
#include "trace/window.h"

/*
 * Returns the parts of the N folders DIRS, the hosts of one job: times count from when the first of them began. The
 * caller frees them. NULL after a message.
 */
struct window *windows_of(const struct moment *from, const struct moment *to, char *const *dirs, unsigned int n);

#endif
