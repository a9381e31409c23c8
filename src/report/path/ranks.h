/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A rank that others wait for: of several processes in charge with one name and one parent, the one in whose time the
 * paths of the others are, while its own path is hardly in theirs. In a ring each waits for its neighbour; the path
 * goes on to the one that is late.
 */
#ifndef REPORT_PATH_RANKS_H
#define REPORT_PATH_RANKS_H

#include "report/path/lives/roots.h"
#include "report/path/waits/shorts.h"

#define PATH_RANKS_MAX 32U /* that are compared: each needs a walk of its own */

struct path_slow_rank {
	uint32_t pid; /* 0: there is none */
	uint64_t waited_ns; /* how long another rank waited for it, on average */
};

/*
 * Looks for one below ROOT, and sets PATH_SLOW_RANK in ROLES for it and those that it started. Returns 0 or -ENOMEM.
 */
int path_ranks_find(const struct path_shorts *shorts, const struct path_root *root, uint8_t *roles,
		    struct path_slow_rank *ret);

#endif
