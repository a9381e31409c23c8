/* SPDX-License-Identifier: BSD-2-Clause */
/* What a wait was for: a thread of the job, which ended it or, of one that nobody has ended, is the child; or a leaf.
 */
#ifndef REPORT_PATH_WAITS_TARGET_H
#define REPORT_PATH_WAITS_TARGET_H

#include "report/path/waits/waits.h"

struct path_target {
	uint32_t life; /* 0: none of the job's threads, but LEAF */
	struct path_leaf leaf;
	bool polled; /* it is inferred */
	bool gil; /* for Python's lock */
};

/* Returns the thread that ended the wait as which WAIT ends; 0: none of the job. */
uint32_t path_target_ender(const struct path_waits *waits, uint32_t wait);
/* Whether TO, a thread, held Python's lock while WAIT lasted in turns: it is one of the same process. */
bool path_target_has_gil(const struct path_waits *waits, const struct path_wait *wait, uint32_t to);
/* ON_STACK: of each life: it waits for the one that is looked at, and is not waited for; NULL: none does. Of a poll
 * returns a leaf. */
struct path_target path_target_of(const struct path_waits *waits, uint32_t wait, const bool *on_stack);

#endif
