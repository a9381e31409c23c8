/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pause after a failure: a thread whose call failed often sleeps, and then tries again. Its rows in waits.out that
 * begin right behind such a call, and that a timer ended, are the time that the failure cost.
 */
#include <stdlib.h>

#include "base/util.h"
#include "report/failed/failures.h"

/* What a program does between the error and its sleep: an exception of Python, a line that it prints. */
#define BEHIND_NS (20 * NSEC_PER_MSEC)

static int by_thread(const void *a, const void *b)
{
	const struct failed_call *one = a, *other = b;

	if (one->tid != other->tid)
		return one->tid < other->tid ? -1 : 1;
	return (one->at_ns > other->at_ns) - (one->at_ns < other->at_ns);
}

/* Returns the last call of TID that failed at AT_NS or before, and not long before; NULL: none. */
static const struct failed_call *before(const struct report_failed *failed, uint32_t tid, uint64_t at_ns)
{
	uint32_t low = 0, high = failed->n_calls;

	while (low < high) {
		const uint32_t mid = low + (high - low) / 2;
		const struct failed_call *call = &failed->calls[mid];

		if (call->tid < tid || (call->tid == tid && call->at_ns <= at_ns))
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || failed->calls[low - 1].tid != tid || at_ns - failed->calls[low - 1].at_ns > BEHIND_NS)
		return NULL;
	return &failed->calls[low - 1];
}

static bool take(struct scan *scan, void *own)
{
	struct report_failed *failed = own;
	const uint64_t ns = MIN(scan_number(scan, COL_LAT_NS), scan->time_ns);
	const struct failed_call *call;

	if (!scan_has_number(scan, COL_TID))
		return false;
	if (!scan_is(scan, COL_BY, "timer") || !scan_is(scan, COL_STATE, "sleep"))
		return true;
	call = before(failed, (uint32_t)scan_number(scan, COL_TID), scan->time_ns - ns);
	if (call)
		((struct failure *)table_at(&failed->groups, call->group))->slept_ns += ns;
	return true;
}

void failed_sleeps_read(struct report *report, struct report_failed *failed)
{
	struct scan_taker taker = { .take = take, .own = failed };

	if (!failed->n_calls)
		return;
	qsort(failed->calls, failed->n_calls, sizeof(*failed->calls), by_thread);
	scan_walk_again(report->folder, "waits", &taker);
}
