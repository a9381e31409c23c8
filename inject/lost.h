/* SPDX-License-Identifier: BSD-2-Clause */
/* Ranges that get no rows: a fact about the process says so, once for each reason. */
#ifndef INJECT_LOST_H
#define INJECT_LOST_H

enum lost { LOST_PUSHED, LOST_STARTED, LOST_N };

void lost(enum lost why);

#endif
