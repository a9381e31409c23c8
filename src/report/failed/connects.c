/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls on sockets that failed, by their rows in net.out: mostly connects, of which those that do not wait are told by
 * getsockopt(SO_ERROR) that they have; and waits for an answer that did not come.
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

/* Calls on several descriptors, which have a row for nothing but a wait that has ended without an answer. */
static const struct {
	const char *call;
	bool always_reads; /* its program may have the socket in the set for good, whether it expects an answer or not
			    */
} waits[] = {
	{ "epoll_pwait", true }, { "epoll_pwait2", true }, { "epoll_wait", true }, { "poll", false },
	{ "ppoll", false },      { "pselect6", false },    { "select", false },
};

/* On one socket without any answer; more are figures, or lines of a log, that nobody is to answer. */
#define QUESTIONS_MAX 8

/*
 * Whether the row is of a wait that has ended without an answer: also a receive of a datagram for a while only
 * (SO_RCVTIMEO). Not where the answer came later, and the job has waited on for it.
 */
static bool is_unanswered(const struct reading *reading, const struct scan *scan)
{
	const struct report_peers *peers = reading->report->peers;
	const uint64_t fid = scan_number(scan, COL_FID);
	const int nr = failed_errno(scan_field(scan, COL_RET));
	bool is_wait = nr == EAGAIN && scan_is(scan, COL_RW, "R") && scan_number(scan, COL_TIME_NS) >= NSEC_PER_MSEC &&
		       report_peer_datagrams(peers, fid);
	uint64_t receives, sends = report_peer_sends(peers, fid, &receives);

	for (size_t i = 0; i < ARRAY_SIZE(waits) && !is_wait; i++)
		is_wait = scan_is(scan, COL_CALL, waits[i].call) &&
			  !(waits[i].always_reads && !receives && sends > QUESTIONS_MAX);
	return is_wait && !report_peer_answers_after(peers, fid, scan->time_ns);
}

/* Whether socket FID, on which a wait has ended in vain, waited for its connection: nothing was sent on it yet. */
static bool is_connecting(const struct report_peers *peers, uint64_t fid)
{
	uint64_t receives;

	return !report_peer_datagrams(peers, fid) && !report_peer_sends(peers, fid, &receives);
}

/* Returns how long the row's call was in the part that is looked at. */
static uint64_t waited_ns(const struct report *report, const struct scan *scan)
{
	return MIN(scan_number(scan, COL_TIME_NS), scan->time_ns - MIN(report->manifest.start_ns, scan->time_ns));
}

/* Names the process and the call of LIKE. */
static void name(const struct scan *scan, const struct report_proc *proc, bool connecting, struct failure *like)
{
	if (proc && proc->named)
		memcpy(like->comm, proc->comm, sizeof(like->comm));
	else
		report_copy(like->comm, sizeof(like->comm), scan_field(scan, COL_COMM));
	/* what getsockopt tells is the connect's */
	report_copy(like->call, sizeof(like->call), scan_field(scan, COL_CALL));
	if (scan_is(scan, COL_CALL, "getsockopt") || connecting)
		snprintf(like->call, sizeof(like->call), "connect");
}

static bool take(struct scan *scan, void *own)
{
	const struct reading *reading = own;
	const bool unanswered = is_unanswered(reading, scan);
	const int nr = unanswered ? 0 : failed_errno(scan_field(scan, COL_RET));
	struct failure like = { .kind = FAILURE_CALL, .code = nr };
	const uint64_t fid = scan_number(scan, COL_FID);
	const struct report_proc *proc;
	const char *peer;

	like.error = unanswered ? &failed_no_answer : failed_error_of(nr);
	if (!like.error || like.error->subject != FAILED_PEER || !scan_has_number(scan, COL_PID))
		return true;
	like.pid = scan_number(scan, COL_PID);
	proc = table_find(&reading->report->procs, like.pid);
	if (proc && proc->aside)
		return true;
	peer = report_peer_of(reading->report->peers, fid);
	name(scan, proc, unanswered && is_connecting(reading->report->peers, fid), &like);
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
