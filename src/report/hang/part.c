/* SPDX-License-Identifier: BSD-2-Clause */
/* The waits at the end as a part of a report: which of those that the manifest has lasted, by their rows. */
#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "report/hang/hang.h"
#include "report/scan/part.h"
#include "report/scan/scan.h"

#define SAME_NS NSEC_PER_MSEC /* the begin of a wait, by its row and by the manifest */
#define GONE_NS (5 * NSEC_PER_SEC) /* from the signal that ended a wait to the process's end */

static int part_new(struct report *report, const struct report_options *options)
{
	report->hang = calloc(1, sizeof(*report->hang));
	return report->hang ? 0 : -ENOMEM;
}

static int64_t find(const struct report_hang *hang, uint64_t tid, uint64_t since_ns)
{
	for (uint64_t i = 0; i < hang->waits.n; i++) {
		const struct open_wait *wait = &hang->waits.v[i];

		if (wait->tid == tid && MAX(wait->since_ns, since_ns) - MIN(wait->since_ns, since_ns) < SAME_NS)
			return (int64_t)i;
	}
	return -1;
}

/* Whether a signal that ended a wait at AT was the end of process PID: not one that it handles, and goes on. */
static bool ends_process(struct report *report, uint64_t pid, uint64_t at_ns)
{
	const struct report_proc *proc = table_find(&report->procs, pid);

	return proc && proc->end_ns && proc->end_ns != UINT64_MAX && proc->end_ns <= at_ns + GONE_NS;
}

struct reading {
	struct report *report;
	struct report_hang *hang;
};

static bool take(struct scan *scan, void *own)
{
	const struct reading *reading = own;
	struct report_hang *hang = reading->hang;
	const uint64_t ns = MIN(scan_number(scan, COL_LAT_NS), scan->time_ns);
	const int64_t at = find(hang, scan_number(scan, COL_TID), scan->time_ns - ns);
	uint64_t end_ns;

	if (at < 0)
		return true;
	end_ns = scan->time_ns - MIN(scan_number(scan, COL_RUNQ_NS), ns);
	hang->end_ns[at] = end_ns;
	if (scan_is(scan, COL_BY, "end") ||
	    (scan_is(scan, COL_BY, "signal") && ends_process(reading->report, hang->waits.v[at].pid, end_ns)))
		hang->over_ns = MIN(hang->over_ns ?: end_ns, end_ns);
	return true;
}

/* What the end of one process ends, too, has lasted: its threads, and those that had its pipes. */
static void part_read(struct report *report)
{
	struct report_hang *hang = report->hang;
	struct reading reading = { report, hang };
	struct scan_taker taker = { .take = take, .own = &reading };

	if (!report->has_manifest || report->manifest.window.end_ns ||
	    open_waits_read_at(&hang->waits, report->folder->dirfd) < 0 || !hang->waits.n)
		return;
	hang->begin_ns = report->manifest.start_ns;
	scan_walk_again(report->folder, "waits", &taker);
	for (uint64_t i = 0; hang->over_ns && i < hang->waits.n; i++)
		hang->lasts[i] = hang->end_ns[i] + SAME_NS >= hang->over_ns;
	hang_find(hang);
}

static void part_free(struct report *report)
{
	free(report->hang);
}

const struct report_part report_hang_part = {
	.new = part_new,
	.read = part_read,
	.free = part_free,
};
