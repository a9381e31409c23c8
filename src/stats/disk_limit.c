/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/disk_limit.h"

#define LEAST_REQUESTS 5 /* of each kind: fewer have no pace */
#define LEAST_BEHIND 0.2 /* of the busy time: else nothing waits for the disk but its latency */
#define FASTER 1.25 /* times: with several requests it moves so much more, or it is at its limit */

void disk_limit_add(struct disk_limit *limit, uint64_t begin_ns, uint64_t end_ns, uint64_t bytes)
{
	struct disk_pace *pace = begin_ns < limit->last_ns ? &limit->behind : &limit->alone;
	const uint64_t from_ns = begin_ns < limit->last_ns ? limit->last_ns : begin_ns;

	pace->requests++;
	pace->bytes += bytes;
	if (end_ns <= from_ns)
		return;
	pace->ns += end_ns - from_ns;
	limit->last_ns = end_ns;
}

static bool is_faster(uint64_t behind, uint64_t behind_ns, uint64_t alone, uint64_t alone_ns)
{
	return (double)behind * (double)alone_ns > FASTER * (double)alone * (double)behind_ns;
}

bool disk_limit_is_reached(const struct disk_limit *limit)
{
	const struct disk_pace *alone = &limit->alone, *behind = &limit->behind;

	if (alone->requests < LEAST_REQUESTS || behind->requests < LEAST_REQUESTS ||
	    (double)behind->ns < LEAST_BEHIND * (double)disk_limit_busy_ns(limit))
		return false;
	return !is_faster(behind->bytes, behind->ns, alone->bytes, alone->ns) ||
	       !is_faster(behind->requests, behind->ns, alone->requests, alone->ns);
}
