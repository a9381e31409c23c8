/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a disk is at its limit: whether it moves no more while several requests are on their way than while one is. A
 * volume with a limit of bytes or requests, and a disk with one arm, are so; an SSD moves more the more it has to do.
 * Pure. Requests come in the order of their ends; all times ns.
 */
#ifndef STATS_DISK_LIMIT_H
#define STATS_DISK_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

struct disk_limit {
	uint64_t last_ns; /* the end of the last request */
	/* Requests that began when none was on its way; that were behind another one, since that one's end. */
	struct disk_pace {
		uint64_t requests, bytes, ns;
	} alone, behind;
};

void disk_limit_add(struct disk_limit *limit, uint64_t begin_ns, uint64_t end_ns, uint64_t bytes);

/* Returns the time in which a request was on its way. */
static inline uint64_t disk_limit_busy_ns(const struct disk_limit *limit)
{
	return limit->alone.ns + limit->behind.ns;
}

bool disk_limit_is_reached(const struct disk_limit *limit);

#endif
