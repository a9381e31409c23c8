/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of files, of their users, and of other descriptors, of a struct report. */
#include "report/files/every.h"
#include "report/files/streams.h"
#include "report/files/uses.h"
#include "report/show/tables/tables.h"

#define GET(name, type, row) VIEW_GET(name, struct report, r, type, row)
#define ROWS(name, type, parent) VIEW_ROWS_OF(name, struct report, r, type, parent)

/* --- names ------------------------------------------------------------------------------------------------ */

void view_comm(const struct view_column *c, const void *of, const void *row, struct view_cell *cell)
{
	const struct report_proc *p =
		table_find(&((const struct report *)of)->procs, *(const uint64_t *)view_at(row, c));

	cell->text = p ? p->comm : "";
}

void view_rank(const struct view_column *c, const void *of, const void *row, struct view_cell *cell)
{
	const struct report_proc *p =
		table_find(&((const struct report *)of)->procs, *(const uint64_t *)view_at(row, c));

	cell->text = p ? p->rank : NULL;
}

void view_path(const char *path, uint64_t fid, const char *others, struct view_cell *cell)
{
	cell->text = path;
	if (others)
		snprintf(cell->shown, sizeof(cell->shown), "%s", others);
	else if (!path)
		snprintf(cell->shown, sizeof(cell->shown), "FID %llu", (unsigned long long)fid);
}

GET(file_path, struct report_top_file, f)
{
	view_path(f->path, f->fid, NULL, cell);
}

GET(use_path, struct report_top_use, u)
{
	view_path(u->path, u->fid, NULL, cell);
}

GET(shm_path, struct report_shm, s)
{
	view_path(s->path, s->fid, NULL, cell);
}

GET(log_path, struct report_log, l)
{
	view_path(l->path, l->fid, NULL, cell);
}

#define PROCESS_COLUMNS(type)                                                                        \
	{ "pid", "PID", VIEW_ID, 8, 0, VIEW_AT(type, pid) },                                         \
		{ "comm", "COMM", VIEW_TEXT, 16, VIEW_EMPTY, VIEW_AT(type, pid), .get = view_comm }, \
	{                                                                                            \
		"rank", "RANK", VIEW_TEXT, 0, VIEW_NO_TEXT, VIEW_AT(type, pid), .get = view_rank     \
	}
#define FID_COLUMN(type)                                       \
	{                                                      \
		"fid", NULL, VIEW_ID, 0, 0, VIEW_AT(type, fid) \
	}
#define PATH_COLUMN(find)                                             \
	{                                                             \
		"path", "FILE", VIEW_TEXT, 0, VIEW_EMPTY, .get = find \
	}

/* --- files -------------------------------------------------------------------------------------------------- */

#define FILE_COLUMNS                                                                                               \
	{ "read_bytes", "READ", VIEW_BYTES, 10, 0, VIEW_AT(struct report_top_file, sum.read_bytes) },              \
		{ "write_bytes", "WRITTEN", VIEW_BYTES, 10, 0, VIEW_AT(struct report_top_file, sum.write_bytes) }, \
		{ "time_ns",                                                                                       \
		  "TIME",                                                                                          \
		  VIEW_NS,                                                                                         \
		  10,                                                                                              \
		  0,                                                                                               \
		  VIEW_AT(struct report_top_file, sum.time_ns),                                                    \
		  .what = "in calls on it, including those still running" },                                       \
	{                                                                                                          \
		"calls", "CALLS", VIEW_COUNT, 9, 0, VIEW_AT(struct report_top_file, sum.calls)                     \
	}
#define NAME_COLUMNS                                                                                         \
	FID_COLUMN(struct report_top_file), PATH_COLUMN(file_path),                                          \
	{                                                                                                    \
		"fstype", "FILE SYSTEM", VIEW_TEXT, 0, VIEW_NO_TEXT, VIEW_AT(struct report_top_file, fstype) \
	}

static const struct view_column file_columns[] = { FILE_COLUMNS, NAME_COLUMNS, { 0 } };

static const struct view_column shared_columns[] = {
	FILE_COLUMNS,
	{ "opens", "OPENS", VIEW_COUNT, 8, 0, VIEW_AT(struct report_top_file, sum.opens),
	  .what = "opens that succeeded" },
	{ "users", "USERS", VIEW_COUNT, 8, 0, VIEW_AT(struct report_top_file, sum.users),
	  .what = "processes that did more than close it" },
	NAME_COLUMNS,
	{ 0 },
};

#define TOP_TEN .most = REPORT_TOP, .least = 1
#define FILES(list, count) .columns = file_columns, VIEW_ARRAY(struct report, list, count), TOP_TEN
#define USED(list, count)                                                                                         \
	.columns = shared_columns, VIEW_BEHIND(struct report, uses), VIEW_ARRAY(struct report_uses, list, count), \
	TOP_TEN

const struct view view_files_by_bytes = {
	.key = "files_by_bytes",
	.title = "Files with the most bytes",
	.what = "the first ten",
	FILES(top_bytes, n_top_bytes),
};
const struct view view_files_by_time = {
	.key = "files_by_time",
	.title = "Files with the most time",
	.note = "including calls still running",
	.what = "the first ten",
	FILES(top_time, n_top_time),
};
const struct view view_files_by_written = {
	.key = "files_by_written",
	.title = "Files with the most bytes written",
	.what = "the first ten",
	USED(written, n_written),
};
const struct view view_files_by_opens = {
	.key = "files_by_opens",
	.title = "Files opened most often",
	.what = "the first ten",
	USED(opened, n_opened),
};
const struct view view_files_shared = {
	.key = "files_shared",
	.title = "Files that several processes used, by bytes",
	.note = "USERS: processes that did more than close it",
	.what = "the first ten by bytes of those that had several users",
	USED(shared, n_shared),
};

const struct view view_every_file = {
	.csv = "files",
	.what = "every file with calls",
	.columns = shared_columns,
	VIEW_BEHIND(struct report, every),
	VIEW_POINTED(struct report_every, files, n_files),
};

/* --- processes and their files -------------------------------------------------------------------------- */

GET(use_calls, struct report_top_use, u)
{
	cell->n = u->sum.calls;
}

static const struct view_column use_columns[] = {
	{ "read_bytes", "READ", VIEW_BYTES, 10, 0, VIEW_AT(struct report_top_use, sum.read_bytes) },
	{ "write_bytes", "WRITTEN", VIEW_BYTES, 10, 0, VIEW_AT(struct report_top_use, sum.write_bytes) },
	{ "time_ns", "TIME", VIEW_NS, 10, 0, VIEW_AT(struct report_top_use, sum.time_ns) },
	{ "calls", "CALLS", VIEW_COUNT, 9, .get = use_calls },
	PROCESS_COLUMNS(struct report_top_use),
	FID_COLUMN(struct report_top_use),
	PATH_COLUMN(use_path),
	{ 0 },
};

#define PAIRS(list, count)                                                                                     \
	.columns = use_columns, VIEW_BEHIND(struct report, uses), VIEW_ARRAY(struct report_uses, list, count), \
	VIEW_TOTAL(struct report_uses, uses.n), TOP_TEN

const struct view view_uses_by_bytes = {
	.key = "uses_by_bytes",
	.title = "Processes and their files with the most bytes",
	.what = "the first ten pairs",
	.total = "n_uses",
	PAIRS(by_bytes, n_by_bytes),
};
const struct view view_uses_by_time = {
	.key = "uses_by_time",
	.title = "Processes and their files with the most time",
	.note = "including calls still running",
	.what = "the first ten pairs",
	PAIRS(by_time, n_by_time),
};

const struct view view_every_use = {
	.csv = "uses",
	.what = "every process and each of its files",
	.columns = use_columns,
	VIEW_BEHIND(struct report, every),
	VIEW_POINTED(struct report_every, uses, n_uses),
};

/* --- shared memory ------------------------------------------------------------------------------------------ */

static const struct view_column shm_columns[] = {
	{ "size_bytes", "SIZE", VIEW_BYTES, 10, 0, VIEW_AT(struct report_shm, size),
	  .what = "the largest size seen, from files.out and truncations" },
	{ "mappings", "MAPPINGS", VIEW_COUNT, 9, 0, VIEW_AT(struct report_shm, maps) },
	{ "mapped_bytes", "MAPPED", VIEW_BYTES, 10, 0, VIEW_AT(struct report_shm, map_bytes),
	  .what = "the sum of their lengths" },
	{ "calls", "CALLS", VIEW_COUNT, 9, 0, VIEW_AT(struct report_shm, calls) },
	{ "time_ns", "TIME", VIEW_NS, 10, 0, VIEW_AT(struct report_shm, time_ns) },
	FID_COLUMN(struct report_shm),
	PATH_COLUMN(shm_path),
	{ 0 },
};

const struct view view_shm = {
	.key = "shm",
	.title = "Shared memory in /dev/shm",
	.note = "MAPPED: the lengths of all its mappings; SIZE: the largest one seen",
	.what = "twenty of the files in /dev/shm",
	.columns = shm_columns,
	VIEW_BEHIND(struct report, uses),
	VIEW_ARRAY(struct report_uses, top_shm, n_top_shm),
	VIEW_TOTAL(struct report_uses, shm.n),
	.csv = "",
	.inside = "largest",
	.total = "files",
	.most = REPORT_TOP_SHM,
	.least = 1,
};

const struct view view_every_shm = {
	.csv = "shm",
	.what = "every file in /dev/shm",
	.columns = shm_columns,
	VIEW_BEHIND(struct report, uses),
	VIEW_TABLE(struct report_uses, shm),
	VIEW_MOST(struct report_shm, map_bytes),
};

/* --- descriptors that are no file, and standard output ------------------------------------------------------ */

ROWS(classes, void, parent)
{
	const struct report_streams *u = r->streams;

	for (unsigned int i = 0; u && i < u->n_classes; i++)
		if (u->classes[i].calls)
			view_add(rows, &u->classes[i]);
}

static const struct view_column class_columns[] = {
	{ "class", "CLASS", VIEW_TEXT, 20, 0, VIEW_AT(struct report_class, name),
	  .what = "eventfd, eventpoll, pipe, socket, terminal, memfd, each device by its path, and so on" },
	{ "files", "FILES", VIEW_COUNT, 8, 0, VIEW_AT(struct report_class, files) },
	{ "calls", "CALLS", VIEW_COUNT, 11, 0, VIEW_AT(struct report_class, calls) },
	{ "reads", "READS", VIEW_COUNT, 11, 0, VIEW_AT(struct report_class, reads) },
	{ "read_bytes", "BYTES", VIEW_BYTES, 10, 0, VIEW_AT(struct report_class, read_bytes) },
	{ "writes", "WRITES", VIEW_COUNT, 11, 0, VIEW_AT(struct report_class, writes) },
	{ "write_bytes", "BYTES", VIEW_BYTES, 10, 0, VIEW_AT(struct report_class, write_bytes) },
	{ "time_ns", "TIME", VIEW_NS, 10, 0, VIEW_AT(struct report_class, time_ns), .what = "of all calls on them" },
	{ 0 },
};

const struct view view_classes = {
	.key = "classes",
	.title = "Pipes, sockets, terminals, devices and the like, by class",
	.note = "TIME: of all calls on them",
	.what = "descriptors that are not files on disks",
	.columns = class_columns,
	.rows = classes,
};

GET(log_how, struct report_log, l)
{
	cell->text = report_log_how(l->how, cell->shown);
}

GET(log_rate, void, row)
{
	cell->f = report_log_rate(row);
	cell->known = cell->f >= 0;
}

GET(log_gap, struct report_log, l)
{
	const struct spread *gaps = l->gaps;

	cell->known = gaps;
	cell->n = gaps ? spread_quantile(gaps, 500) : 0;
}

static const struct view_column log_columns[] = {
	{ "writes", "WRITES", VIEW_COUNT, 9, 0, VIEW_AT(struct report_log, calls) },
	{ "write_bytes", "BYTES", VIEW_BYTES, 10, 0, VIEW_AT(struct report_log, bytes) },
	{ "time_ns", "TIME", VIEW_NS, 10, 0, VIEW_AT(struct report_log, time_ns) },
	{ "per_s", "PER S", VIEW_NUMBER, 9, .get = log_rate, .what = "how many a second, from the first to the last" },
	{ "gap_p50_ns", "GAP", VIEW_NS, 10, .get = log_gap, .what = "the median time between two" },
	PROCESS_COLUMNS(struct report_log),
	{ "as", "AS", VIEW_TEXT, 14, .get = log_how,
	  .what = "stdout, stderr, a file appended to (append) or called .log (log)" },
	FID_COLUMN(struct report_log),
	PATH_COLUMN(log_path),
	{ 0 },
};

const struct view view_logs = {
	.key = "logs",
	.title = "Output and logs: stdout, stderr, files appended to or called .log",
	.note = "GAP: median between two writes",
	.what = "writes of each process to each log, the first ten by writes",
	.columns = log_columns,
	VIEW_BEHIND(struct report, streams),
	VIEW_ARRAY(struct report_streams, top, n_top),
	VIEW_TOTAL(struct report_streams, logs.n),
	.csv = "",
	.inside = "busiest",
	.total = "seen",
	TOP_TEN,
};

const struct view view_every_log = {
	.csv = "logs",
	.what = "writes of each process to each log",
	.columns = log_columns,
	VIEW_BEHIND(struct report, streams),
	VIEW_TABLE(struct report_streams, logs),
	VIEW_MOST(struct report_log, calls),
};
