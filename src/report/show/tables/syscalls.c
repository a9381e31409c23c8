/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of system calls, by name, and by process and name, of a struct report. */
#include "report/why/syscalls.h"

#include "report/scan/model.h"
#include "report/show/tables/tables.h"

#define GET(name) VIEW_GET(name, struct report, r, struct report_syscalls_row, row)
#define OF(member) VIEW_AT(struct report_syscalls_row, member)

GET(call)
{
	cell->text = row->call[0] ? row->call : "(others)";
}

GET(failed_share)
{
	view_share(cell, row->failed, row->count);
}

GET(mean)
{
	cell->known = row->count != 0;
	cell->n = row->count ? row->ns / row->count : 0;
}

#define SUMS                                                                                      \
	{ "calls", "CALLS", VIEW_COUNT, 10, 0, OF(count), .what = "that returned" },              \
		{ "failed", NULL, VIEW_COUNT, 9, 0, OF(failed) },                                 \
		{ "failed_share", "FAILED", VIEW_SHARE, 7, .get = failed_share },                 \
		{ "time_ns", "TIME", VIEW_NS, 8, 0, OF(ns), .what = "of all calls together" },    \
		{ "mean_ns", "MEAN", VIEW_NS, 8, .get = mean },                                   \
	{                                                                                         \
		"max_ns", "LONGEST", VIEW_NS, 8, 0, OF(max_ns), .what = "of the trace until then" \
	}

static const struct view_column by_call[] = {
	SUMS,
	{ "processes", "PROCS", VIEW_COUNT, 7, 0, OF(processes), .what = "that made it" },
	{ "call", "CALL", VIEW_TEXT, 0, 0, .get = call, .what = "compat: all 32-bit ones" },
	{ 0 },
};

const struct view view_syscalls = {
	.key = "syscalls",
	.title = "System calls",
	.note = "of all processes (--probes +syscalls); TIME: of all calls, those that wait included",
	.what = "sums of syscalls.out by name, those that took longest first",
	.columns = by_call,
	VIEW_BEHIND(struct report, syscalls),
	VIEW_TABLE(struct report_syscalls, calls),
	VIEW_MOST(struct report_syscalls_row, ns),
	.shown = 20,
};

static const struct view_column by_process[] = {
	SUMS,
	{ "pid", "PID", VIEW_ID, 8, 0, OF(pid), VIEW_KNOWN(struct report_syscalls_row, pid) },
	{ "comm", "COMM", VIEW_TEXT, 15, 0, OF(comm) },
	{ "call", "CALL", VIEW_TEXT, 0, 0, .get = call },
	{ 0 },
};

const struct view view_syscalls_by_process = {
	.key = "syscalls_by_process",
	.title = "System calls, by process",
	.what = "sums of syscalls.out by process and name, those that took longest first",
	.columns = by_process,
	VIEW_BEHIND(struct report, syscalls),
	VIEW_TABLE(struct report_syscalls, pairs),
	VIEW_MOST(struct report_syscalls_row, ns),
	.most = 4000,
	.least = 20,
	.shown = 20,
};
