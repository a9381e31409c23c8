/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether the disk that the job reads was at its limit for most of the job's time, whatever the job's threads did
 * meanwhile. */
#include "base/fmt.h"
#include "base/util.h"
#include "report/rules/rules_impl.h"

#define LEAST_BUSY 0.6 /* of the time */

uint64_t rules_saturated_ns(const struct report *report, uint64_t wall_ns)
{
	const struct report_disk *disk = rules_disk_of_reads(report);
	const uint64_t busy_ns = disk ? MIN(disk_limit_busy_ns(&disk->limit), wall_ns) : 0;

	return disk && (double)busy_ns >= LEAST_BUSY * (double)wall_ns && disk_limit_is_reached(&disk->limit) ?
		       busy_ns :
		       0;
}

void rules_show_saturated(struct report *report, struct finding *finding)
{
	const struct report_disk *disk = rules_disk_of_reads(report);
	const struct disk_limit *limit = &disk->limit;
	const double seconds = (double)disk_limit_busy_ns(limit) / NSEC_PER_SEC;

	finding_add(finding,
		    "the disk %s had requests for %s, and moved %s/s, %.0f requests/s, however many were on their way: "
		    "more workers read no faster",
		    disk->name, FMT_NS(disk_limit_busy_ns(limit)),
		    FMT_BYTES((uint64_t)((double)(limit->alone.bytes + limit->behind.bytes) / seconds)),
		    (double)(limit->alone.requests + limit->behind.requests) / seconds);
}
