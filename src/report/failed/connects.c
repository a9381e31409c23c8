/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls on sockets that failed, by their rows in net.out: mostly connects, of which those that do not wait are told by
 * getsockopt(SO_ERROR) that they have; and waits for the answer to a datagram that did not come.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "report/failed/failures.h"
#include "report/files/peers.h"

struct reading {
	const struct report *report;
	struct report_failed *failed;
};

/*
 * Whether the row is of a wait that has ended without a datagram: poll has a row for nothing else, and a receive that
 * may wait for a while only (SO_RCVTIMEO).
 */
static bool is_unanswered(const struct reading *reading, const struct scan *scan)
{
	const int nr = failed_errno(scan_field(scan, COL_RET));

	if (scan_is(scan, COL_CALL, "poll") || scan_is(scan, COL_CALL, "ppoll"))
		return true;
	return nr == EAGAIN && scan_is(scan, COL_RW, "R") && scan_number(scan, COL_TIME_NS) >= NSEC_PER_MSEC &&
	       report_peer_datagrams(reading->report->peers, scan_number(scan, COL_FID));
}

/* Returns how long the row's call was in the part that is looked at. */
static uint64_t waited_ns(const struct report *report, const struct scan *scan)
{
	return MIN(scan_number(scan, COL_TIME_NS), scan->time_ns - MIN(report->manifest.start_ns, scan->time_ns));
}

/* Names the process and the call of LIKE. */
static void name(const struct scan *scan, const struct report_proc *proc, struct failure *like)
{
	if (proc && proc->named)
		memcpy(like->comm, proc->comm, sizeof(like->comm));
	else
		report_copy(like->comm, sizeof(like->comm), scan_field(scan, COL_COMM));
	/* what getsockopt tells is the connect's */
	report_copy(like->call, sizeof(like->call), scan_field(scan, COL_CALL));
	if (scan_is(scan, COL_CALL, "getsockopt"))
		snprintf(like->call, sizeof(like->call), "connect");
}

static bool take(struct scan *scan, void *own)
{
	const struct reading *reading = own;
	const bool unanswered = is_unanswered(reading, scan);
	const int nr = unanswered ? 0 : failed_errno(scan_field(scan, COL_RET));
	struct failure like = { .kind = FAILURE_CALL, .code = nr };
	const struct report_proc *proc;
	const char *peer;

	like.error = unanswered ? &failed_no_answer : failed_error_of(nr);
	if (!like.error || like.error->subject != FAILED_PEER || !scan_has_number(scan, COL_PID))
		return true;
	like.pid = scan_number(scan, COL_PID);
	proc = table_find(&reading->report->procs, like.pid);
	if (proc && proc->aside)
		return true;
	peer = report_peer_of(reading->report->peers, scan_number(scan, COL_FID));
	name(scan, proc, &like);
	like.slept_ns = unanswered ? waited_ns(reading->report, scan) : 0;
	failures_add(reading->failed, &like, peer ?: "", peer ? strlen(peer) : 0, scan->time_ns,
		     unanswered ? 0 : (uint32_t)scan_number(scan, COL_TID));
	return true;
}

void failed_connects_read(struct report *report, struct report_failed *failed)
{
	struct reading reading = { report, failed };
	struct scan_taker taker = { .take = take, .own = &reading };

	if (report->peers)
		scan_walk_again(report->folder, "net", &taker);
}
