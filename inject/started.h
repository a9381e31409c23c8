/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ranges of the process that have been started and not ended: by any thread each, and in any order. LANE is the
 * number of a range's place, as it may overlap with others of the thread that ends it.
 */
#ifndef INJECT_STARTED_H
#define INJECT_STARTED_H

#include "label.h"

#define STARTED_MAX 4096 /* at a time; more have no rows, and a fact `nvtx.not_recorded' says so */

/* Returns the number of the range, 0: there is none. */
uint64_t started_start(const struct label *label);
/* Nothing where ID is none, or has been ended. */
void started_end(uint64_t id);

#endif
