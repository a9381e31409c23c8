/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of what failed, of a struct report. */
#include <stdio.h>

#include "report/failed/failures.h"
#include "report/failed/limits.h"
#include "report/failed/sentence.h"
#include "report/scan/model.h"
#include "report/show/tables/tables.h"

#define GET(name) VIEW_GET(name, struct report, r, struct failure, failure)

GET(what)
{
	char buf[FAILURE_NAME_BUF];

	snprintf(cell->shown, sizeof(cell->shown), "%s", failure_code(failure, buf));
	cell->text = cell->shown;
}

GET(call)
{
	cell->text = failure->call;
	cell->known = failure->kind == FAILURE_CALL;
}

GET(first)
{
	cell->n = failure_after_ns(r, failure->first_ns);
}

GET(last)
{
	cell->n = failure_after_ns(r, failure->last_ns);
}

GET(sender)
{
	cell->text = failed_senders[failure->sender];
	cell->known = failure->kind == FAILURE_SIGNAL;
}

GET(limit)
{
	cell->text = failure_limit(r, failure);
	cell->known = cell->text;
}

GET(advice)
{
	cell->text = failure_advice(failure);
}

#define OF(member) VIEW_AT(struct failure, member)

static const struct view_column failed_columns[] = {
	{ "kind", "WHAT", VIEW_TEXT, 8, 0, OF(kind), .names = failure_kinds,
	  .what = "call: a call failed; signal: one ended a process; status: a process ended with another status than "
		  "0" },
	{ "comm", "COMM", VIEW_TEXT, 16, 0, OF(comm), .what = "the process" },
	{ "call", "CALL", VIEW_TEXT, 12, .get = call, .what = "the function" },
	{ "code", "ERROR", VIEW_TEXT, 14, .get = what,
	  .what = "errno, signal or exit status; short: a write took less than it was given" },
	{ "n", "TIMES", VIEW_COUNT, 8, 0, OF(n), .what = "calls or processes" },
	{ "first_ns", "FIRST", VIEW_NS, 9, .get = first, .what = "since the trace began" },
	{ "last_ns", "LAST", VIEW_NS, 9, .get = last, .what = "likewise" },
	{ "slept_ns", "SLEPT", VIEW_NS, 9, VIEW_DASH, OF(slept_ns),
	  .what = "within 20 ms after such a call, until a time; waits of 1 ms or more" },
	{ "pid", "PID", VIEW_ID, 8, 0, OF(pid), .what = "of the first" },
	{ "sender", NULL, VIEW_TEXT, .get = sender,
	  .what = "of a signal: kernel; oom, its OOM killer for the machine; oom-limit, for a cgroup; cpu-limit; "
		  "itself; other, a "
		  "process outside the job; unknown" },
	{ "sender_pid", NULL, VIEW_ID, 0, 0, OF(sender_pid), VIEW_KNOWN(struct failure, sender_pid) },
	{ "sender_comm", NULL, VIEW_TEXT, 0, 0, OF(sender_comm) },
	{ "limit_bytes", NULL, VIEW_BYTES, 0, 0, OF(limit_bytes), VIEW_KNOWN(struct failure, limit_bytes),
	  .what = "of the cgroup's memory" },
	{ "limit", NULL, VIEW_TEXT, .get = limit, .what = "the limit that was reached" },
	{ "limit_n", NULL, VIEW_COUNT, 0, 0, OF(limit_n), VIEW_KNOWN(struct failure, has_limit_n),
	  .what = "its number when the process ended: bytes, s, files or processes" },
	{ "file", NULL, VIEW_TEXT, 0, 0, OF(file), .what = "the first one's name" },
	{ "folder", "FOLDER", VIEW_TEXT, 0, 0, OF(folder), .what = "where it failed; of a socket, its peer" },
	{ "advice", NULL, VIEW_TEXT, .get = advice },
	{ "text", NULL, VIEW_TEXT, 0, 0, OF(text), .what = "a sentence" },
	{ 0 },
};

const struct view view_failed = {
	.key = "failed",
	.title = "What failed",
	.what = "calls with errors that no program expects, and processes that a signal or an error ended, by process, "
		"call, error and folder (rules.md)",
	.columns = failed_columns,
	VIEW_BEHIND(struct report, failed),
	VIEW_POINTED(struct report_failed, v, n),
	.most = 200,
	.least = 20,
};
