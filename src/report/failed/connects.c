/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls on sockets that failed, by their rows in net.out: mostly connects, of which those that do not wait are told by
 * getsockopt(SO_ERROR) that they have.
 */
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "report/failed/failures.h"
#include "report/files/peers.h"

struct reading {
	const struct report *report;
	struct report_failed *failed;
};

static bool take(struct scan *scan, void *own)
{
	const struct reading *reading = own;
	const int nr = failed_errno(scan_field(scan, COL_RET));
	const struct failed_error *error = nr ? failed_error_of(nr) : NULL;
	struct failure like = { .kind = FAILURE_CALL, .code = nr, .error = error };
	const struct report_proc *proc;
	const char *peer;

	if (!error || error->subject != FAILED_PEER || !scan_has_number(scan, COL_PID))
		return true;
	like.pid = scan_number(scan, COL_PID);
	proc = table_find(&reading->report->procs, like.pid);
	if (proc && proc->aside)
		return true;
	peer = report_peer_of(reading->report->peers, scan_number(scan, COL_FID));
	if (proc && proc->named)
		memcpy(like.comm, proc->comm, sizeof(like.comm));
	else
		report_copy(like.comm, sizeof(like.comm), scan_field(scan, COL_COMM));
	/* what getsockopt tells is the connect's */
	report_copy(like.call, sizeof(like.call), scan_field(scan, COL_CALL));
	if (scan_is(scan, COL_CALL, "getsockopt"))
		snprintf(like.call, sizeof(like.call), "connect");
	failures_add(reading->failed, &like, peer ?: "", peer ? strlen(peer) : 0, scan->time_ns,
		     (uint32_t)scan_number(scan, COL_TID));
	return true;
}

void failed_connects_read(struct report *report, struct report_failed *failed)
{
	struct reading reading = { report, failed };
	struct scan_taker taker = { .take = take, .own = &reading };

	if (report->peers)
		scan_walk_again(report->folder, "net", &taker);
}
