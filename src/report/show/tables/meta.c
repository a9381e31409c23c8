/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of calls about metadata, by call and folder, of a struct report. */
#include "report/files/meta.h"

#include <string.h>

#include "base/error_name.h"
#include "report/show/tables/tables.h"

#define GET(name) VIEW_GET(name, struct report, r, struct report_meta_row, row)
#define OF(member) VIEW_AT(struct report_meta_row, member)

GET(func)
{
	cell->text = row->folder ? row->func : "(others)";
}

GET(request)
{
	cell->text = row->request;
	cell->known = row->folder && strcmp(row->request, "-") != 0;
}

GET(error)
{
	const char *name = error_name(row->error);

	cell->text = name;
	cell->known = row->error && name;
}

GET(failed_share)
{
	view_share(cell, row->failed, row->count);
}

GET(folder)
{
	cell->text = row->folder;
	cell->known = row->folder && strcmp(row->folder, "-") != 0;
}

static const struct view_column columns[] = {
	{ "func", "FUNC", VIEW_TEXT, 12, 0, .get = func },
	{ "request", "REQUEST", VIEW_TEXT, 16, .get = request, .what = "of ioctl; the command of fcntl" },
	{ "calls", "CALLS", VIEW_COUNT, 9, 0, OF(count) },
	{ "failed", NULL, VIEW_COUNT, 9, 0, OF(failed) },
	{ "failed_share", "FAILED", VIEW_SHARE, 7, .get = failed_share },
	{ "error", "ERROR", VIEW_TEXT, 10, .get = error, .what = "errno of the last one that failed" },
	{ "time_ns", "TIME", VIEW_NS, 8, 0, OF(ns), .what = "of all calls together" },
	{ "max_ns", "LONGEST", VIEW_NS, 8, 0, OF(max_ns), .what = "of the trace until then" },
	{ "folder", "FOLDER", VIEW_TEXT, 0, VIEW_EMPTY, .get = folder,
	  .what = "of the path as passed, or of the descriptor's file" },
	{ 0 },
};

const struct view view_meta = {
	.key = "metadata",
	.title = "Calls about metadata",
	.note = "by call and folder, those that took longest; ERROR: of the last one that failed",
	.what = "sums of meta_sums.out (stat, access, readlink, getdents64, lseek and so on) by call and folder, the "
		"200 that "
		"took longest, and the others as one",
	.columns = columns,
	VIEW_BEHIND(struct report, meta),
	VIEW_ARRAY(struct report_meta, row, n),
	.shown = 20,
};
