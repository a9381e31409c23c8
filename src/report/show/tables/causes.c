/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of what the disks worked for, by file and by process, of a struct report. */
#include "report/disk/causes.h"
#include "report/show/tables/tables.h"

#define GET(name, type, row) VIEW_GET(name, struct report, r, type, row)

GET(path, struct report_cause_row, v)
{
	view_path(v->path, v->id, v->what, cell);
}

GET(comm, struct report_cause_row, v)
{
	cell->text = v->id ? v->comm : NULL;
	if (v->what)
		snprintf(cell->shown, sizeof(cell->shown), "%s", v->what);
}

GET(share, struct report_cause_row, v)
{
	view_share(cell, v->sum.time_ns, r->causes->all.time_ns);
}

#define ROW(member) VIEW_AT(struct report_cause_row, member)
#define SUMS                                                                                                      \
	{ "read_bytes", "READ", VIEW_BYTES, 10, 0, ROW(sum.read_bytes) },                                         \
		{ "write_bytes", "WRITTEN", VIEW_BYTES, 10, 0, ROW(sum.write_bytes) },                            \
		{ "requests", "REQUESTS", VIEW_COUNT, 9, 0, ROW(sum.requests) },                                  \
		{ "time_ns", "TIME", VIEW_NS, 10, 0, ROW(sum.time_ns), .what = "from queued to done, added up" }, \
	{                                                                                                         \
		"share", "SHARE", VIEW_SHARE, 9, .get = share, .what = "of the time of all requests"              \
	}
#define OF_JOB(meaning)                                                          \
	{                                                                        \
		"of_job", "JOB", VIEW_FLAG, 3, 0, ROW(of_job), .what = (meaning) \
	}
#define WHAT                                                                                   \
	{                                                                                      \
		"what", NULL, VIEW_TEXT, 0, 0, ROW(what), .what = "a row that sums up several" \
	}
#define ID(key, head, width)                                                                           \
	{                                                                                              \
		key, head, VIEW_ID, width, VIEW_DASH, ROW(id), VIEW_KNOWN(struct report_cause_row, id) \
	}

static const struct view_column file_columns[] = {
	SUMS,
	OF_JOB("a process of the job used it"),
	ID("fid", NULL, 0),
	WHAT,
	{ "path", "FILE", VIEW_TEXT, 0, VIEW_EMPTY, .get = path },
	{ 0 },
};

static const struct view_column process_columns[] = {
	SUMS,
	{ "unsure_bytes", "UNSURE", VIEW_BYTES, 10, VIEW_DASH, ROW(unsure_bytes),
	  .what = "of the bytes written: other processes wrote to the same pages, and no call says which bytes" },
	OF_JOB("it belongs to the job"),
	ID("pid", "PID", 8),
	WHAT,
	{ "comm", "COMM", VIEW_TEXT, 0, VIEW_EMPTY, .get = comm },
	{ 0 },
};

#define ROWS_OF(first, many) VIEW_BEHIND(struct report, causes), VIEW_ARRAY(struct report_causes, first, many)

const struct view view_causes = {
	.key = "disk_files",
	.title = "Files that caused the disks' work, by time",
	.note = "TIME: of requests, from queued to done; JOB: a call of the job was on the file",
	.what = "twenty files, the others of the job as one, all others as one, and what is for no file; together all "
		"requests of bio.out that have ended, but "
		"those for a disk above",
	.columns = file_columns,
	ROWS_OF(file, n_files),
};

const struct view view_causers = {
	.key = "disk_processes",
	.title = "Processes that caused the disks' work, by time",
	.note = "WRITTEN: write-back is of the process that wrote",
	.what = "twenty processes, the others as one, and writes of which no process is known; together the same "
		"requests. A request of several writers is one of the process that wrote most of it, its bytes and "
		"time are of each",
	.columns = process_columns,
	ROWS_OF(process, n_processes),
};
