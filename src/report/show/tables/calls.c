/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of rows, calls and requests, of a struct report. */
#include "base/fmt.h"
#include "base/util.h"
#include "report/scan/model.h"
#include "report/show/tables/tables.h"

#define GET(name, type, row) VIEW_GET(name, struct report, r, type, row)
#define ROWS(name, type, parent) VIEW_ROWS_OF(name, struct report, r, type, parent)

#define TOP_WAITS 3
#define BAR "########################################"

/* --- histograms ---------------------------------------------------------------------------------------- */

/* Returns the histogram that the pointer at C's place leads to; NULL: there is none. */
static const struct hist *hist_at(const struct view_column *c, const void *row, struct view_cell *cell)
{
	static const struct hist none;
	const struct hist *h = *(const struct hist *const *)view_at(row, c);

	cell->known = h;
	if (!h || !h->n)
		snprintf(cell->shown, sizeof(cell->shown), "-");
	return h ? h : &none;
}

/* All latencies. */
GET(lat_time, void, row)
{
	cell->n = hist_at(c, row, cell)->sum;
}

GET(lat_quantile, void, row)
{
	cell->n = hist_quantile(hist_at(c, row, cell), c->arg);
}

#define LATENCIES(flags, at)                                                                 \
	{ "p50_ns", "P50", VIEW_NS, 9, flags, at, .get = lat_quantile, .arg = 500 },         \
		{ "p99_ns", "P99", VIEW_NS, 9, flags, at, .get = lat_quantile, .arg = 990 }, \
	{                                                                                    \
		"max_ns", "MAX", VIEW_NS, 9, flags, at, .get = lat_quantile, .arg = 1000     \
	}

/* --- rows by probe -------------------------------------------------------------------------------------- */

/* LAT is NULL for a probe that only the manifest has. */
struct probe_row {
	char name[40];
	const char *part;
	uint64_t rows, lost, failed, running, bytes;
	bool lost_known;
	const struct hist *lat;
};

/* OP or PROBE may be NULL. */
static void probe_row(struct view_rows *rows, const char *name, const char *part, const struct report_op *op,
		      const struct manifest_probe *probe)
{
	struct probe_row *row = view_make(rows, sizeof(*row));

	if (!row)
		return;
	snprintf(row->name, sizeof(row->name), "%s%s%s", name, part ? " " : "", part ? part : "");
	row->part = part;
	row->lost_known = probe;
	row->lost = probe ? probe->lost : 0;
	if (op)
		row->rows = op->rows;
	else if (probe)
		row->rows = probe->rows - MIN(probe->rows, probe->dropped);
	else
		row->rows = 0;
	if (op) {
		row->failed = op->failed;
		row->running = op->running;
		row->bytes = op->bytes;
		row->lat = &op->lat;
	}
}

ROWS(probes, void, parent)
{
	for (enum report_kind kind = REPORT_BIO; kind < REPORT_KINDS; kind++) {
		const char *name = report_kind_names[kind];

		if (!r->present[kind])
			continue;
		probe_row(rows, name, NULL, &r->op[kind], manifest_probe(&r->manifest, name));
		if (kind == REPORT_VFS_RW) {
			probe_row(rows, name, "reads", &r->rw[0], NULL);
			probe_row(rows, name, "writes", &r->rw[1], NULL);
		}
	}
	for (unsigned int i = 0; i < r->manifest.n_probes; i++)
		if (report_is_by_manifest(&r->manifest.probes[i]))
			probe_row(rows, r->manifest.probes[i].name, NULL, NULL, &r->manifest.probes[i]);
}

static const char *probe_part_of(const void *row)
{
	return ((const struct probe_row *)row)->part;
}

GET(probe_name, struct probe_row, p)
{
	cell->text = p->name;
	if (p->part)
		snprintf(cell->shown, sizeof(cell->shown), "  %s", p->part);
}

GET(probe_lost, struct probe_row, p)
{
	cell->known = p->lost_known;
	cell->n = p->lost;
	if (!p->lost_known)
		snprintf(cell->shown, sizeof(cell->shown), p->part ? " " : "?");
}

#define OF_ROWS (VIEW_PART | VIEW_OPTIONAL)
#define LAT VIEW_AT(struct probe_row, lat)
#define BY_ROWS(member) VIEW_AT(struct probe_row, member), VIEW_KNOWN(struct probe_row, lat)

static const struct view_column probe_columns[] = {
	{ "name", "PROBE", VIEW_TEXT, 12, .get = probe_name },
	{ "rows", "ROWS", VIEW_COUNT, 11, VIEW_PART, VIEW_AT(struct probe_row, rows) },
	{ "lost", "LOST", VIEW_COUNT, 8, 0, .get = probe_lost, .what = "by the manifest" },
	{ "failed", "FAILED", VIEW_COUNT, 8, OF_ROWS, BY_ROWS(failed), .what = "of calls that failed" },
	{ "running", "RUNNING", VIEW_COUNT, 0, OF_ROWS | VIEW_NO_TEXT, BY_ROWS(running),
	  .what = "of calls that had not ended when the trace ended" },
	{ "bytes", "BYTES", VIEW_BYTES, 10, OF_ROWS | VIEW_DASH, BY_ROWS(bytes) },
	{ "time_ns", "TIME", VIEW_NS, 10, OF_ROWS, LAT, .get = lat_time,
	  .what = "all latencies, without calls still running" },
	LATENCIES(OF_ROWS, LAT),
	{ 0 },
};

const struct view view_probes = {
	.key = "probes",
	.title = "Rows by probe",
	.note = "TIME: all latencies, without calls still running",
	.what = "rows of each file; `reads` and `writes` of vfs_rw are objects in it, with the same keys. Of files "
		"that the report does not read there are `rows` and `lost` alone, by the manifest",
	.columns = probe_columns,
	.rows = probes,
	.part = probe_part_of,
	.bare = true,
};

/* --- sums ------------------------------------------------------------------------------------------------ */

static const struct view_column rollup_columns[] = {
	{ "name", "PROBE", VIEW_TEXT, 12, 0, VIEW_AT(struct report_sum, name) },
	{ "rows", "ROWS", VIEW_COUNT, 11, 0, VIEW_AT(struct report_sum, rows) },
	{ "failed", "FAILED", VIEW_COUNT, 8, 0, VIEW_AT(struct report_sum, failed) },
	{ "bytes", "BYTES", VIEW_BYTES, 10, VIEW_DASH, VIEW_AT(struct report_sum, bytes) },
	{ "time_ns", "TIME", VIEW_NS, 9, 0, VIEW_AT(struct report_sum, lat_ns) },
	{ "max_ns", "MAX", VIEW_NS, 9, 0, VIEW_AT(struct report_sum, max_lat_ns) },
	{ 0 },
};

const struct view view_rollup = {
	.key = "rollup",
	.title = "By rollup.out: rows that --keep dropped or did not write",
	.what = "rows of which only sums remain",
	.columns = rollup_columns,
	VIEW_ARRAY(struct report, sums, n_sums),
};

/* Reads and writes of a type. */
struct type_row {
	struct report_type_sum side[2];
};

static bool has_calls(const void *of, const void *row)
{
	const struct type_row *t = row;

	return t->side[0].rows + t->side[1].rows;
}

GET(type_name, void, row)
{
	cell->text = report_type_names[(const struct type_row *)row - (const struct type_row *)r->by_type];
}

static const struct view_column type_columns[] = {
	{ "type", "TYPE", VIEW_TEXT, 8, .get = type_name, .what = "TYPE of files.out" },
	{ "reads", "READS", VIEW_COUNT, 11, 0, VIEW_AT(struct type_row, side[0].rows) },
	{ "read_bytes", "BYTES", VIEW_BYTES, 10, 0, VIEW_AT(struct type_row, side[0].bytes) },
	{ "read_ns", "TIME", VIEW_NS, 10, 0, VIEW_AT(struct type_row, side[0].time_ns) },
	{ "writes", "WRITES", VIEW_COUNT, 11, 0, VIEW_AT(struct type_row, side[1].rows) },
	{ "write_bytes", "BYTES", VIEW_BYTES, 10, 0, VIEW_AT(struct type_row, side[1].bytes) },
	{ "write_ns", "TIME", VIEW_NS, 10, 0, VIEW_AT(struct type_row, side[1].time_ns) },
	{ 0 },
};

const struct view view_types = {
	.key = "types",
	.title = "Read and written, by type of file",
	.columns = type_columns,
	VIEW_FIXED(struct report, by_type),
	.has = has_calls,
	.bare = true,
};

static const char *const source_labels[REPORT_SOURCES] = {
	[REPORT_BUFFERED] = "buffered", [REPORT_DIRECT] = "O_DIRECT",      [REPORT_REMOTE] = "network fs",
	[REPORT_NO_DISK] = "memory fs", [REPORT_NO_TYPE] = "unknown file",
};

GET(source_name, void, row)
{
	size_t i = (size_t)((const struct report_source_sum *)row - r->source);

	cell->text = report_source_names[i];
	snprintf(cell->shown, sizeof(cell->shown), "%s", source_labels[i]);
}

/* A number of calls whose bytes from disks are known. */
GET(source_number, struct report_source_sum, s)
{
	cell->n = view_number(c, s);
	if (s->calls <= s->unaccounted)
		snprintf(cell->shown, sizeof(cell->shown), "-");
}

GET(source_share, struct report_source_sum, s)
{
	cell->known = s == &r->source[REPORT_BUFFERED] && s->calls > s->unaccounted && s->bytes;
	cell->f = cell->known ? (double)s->disk_bytes / (double)s->bytes : 0;
}

static const struct view_column source_columns[] = {
	{ "source", "READS", VIEW_TEXT, 13, .get = source_name, .what = "buffered, direct, network, memory" },
	{ "calls", "CALLS", VIEW_COUNT, 11, 0, VIEW_AT(struct report_source_sum, calls) },
	{ "bytes", "BYTES", VIEW_BYTES, 10, 0, VIEW_AT(struct report_source_sum, bytes) },
	{ "disk_bytes", "FROM DISK", VIEW_BYTES, 10, 0, VIEW_AT(struct report_source_sum, disk_bytes),
	  .get = source_number, .what = "what the kernel fetched from disk for these calls, read-ahead included" },
	{ NULL, "SHARE", VIEW_SHARE, 9, .get = source_share },
	{ "disk_calls", "CALLS TO DISK", VIEW_COUNT, 14, 0, VIEW_AT(struct report_source_sum, disk_calls),
	  .get = source_number, .what = "calls that did" },
	{ "unaccounted", "NOT ACCOUNTED", VIEW_COUNT, 0, VIEW_NO_TEXT, VIEW_AT(struct report_source_sum, unaccounted),
	  .what = "calls of which this is not known" },
	{ 0 },
};

const struct view view_sources = {
	.key = "read_sources",
	.title = "Where reads of regular files were served from",
	.columns = source_columns,
	VIEW_FIXED(struct report, source),
	VIEW_HAVING(struct report_source_sum, calls),
	.bare = true,
};

/* --- sizes of reads: [0] ends of files, [i] of 2^(i-1) to 2^i - 1 bytes ------------------------------------- */

struct size_row {
	uint64_t calls, bytes;
};

static unsigned int octave(const void *of, const void *row)
{
	return (unsigned int)((const struct size_row *)row -
			      (const struct size_row *)((const struct report *)of)->read_size);
}

GET(size_from, void, row)
{
	unsigned int i = octave(r, row);

	cell->n = i ? 1ULL << (i - 1) : 0;
	if (!i)
		snprintf(cell->shown, sizeof(cell->shown), "end");
}

GET(size_to, void, row)
{
	unsigned int i = octave(r, row);

	cell->n = i ? (1ULL << (i - 1)) * 2 - 1 : 0;
	if (i == 0)
		snprintf(cell->shown, sizeof(cell->shown), "of file");
	else
		snprintf(cell->shown, sizeof(cell->shown), "%s", i < 64 ? FMT_BYTES(1ULL << i) : "-");
}

GET(size_bar, struct size_row, v)
{
	uint64_t most = 1;

	for (unsigned int i = 0; i < ARRAY_SIZE(r->read_size); i++)
		most = MAX(most, r->read_size[i].calls);
	cell->text = &BAR[(sizeof(BAR) - 1) * (most - v->calls) / most];
}

static const struct view_column size_columns[] = {
	{ "from", "FROM", VIEW_BYTES, 10, .get = size_from },
	{ "to", "TO BELOW", VIEW_BYTES, 10, .get = size_to },
	{ "calls", "READS", VIEW_COUNT, 11, 0, VIEW_AT(struct size_row, calls) },
	{ "bytes", "BYTES", VIEW_BYTES, 10, 0, VIEW_AT(struct size_row, bytes) },
	{ NULL, "", VIEW_TEXT, 0, VIEW_EMPTY, .get = size_bar },
	{ 0 },
};

const struct view view_read_sizes = {
	.key = "read_sizes",
	.title = "Sizes of reads from files",
	.note = "not from pipes, sockets, terminals, devices",
	.what = "reads that returned this many bytes; 0 is the end of a file",
	.columns = size_columns,
	VIEW_FIXED(struct report, read_size),
	VIEW_HAVING(struct size_row, calls),
};

/* --- single calls ----------------------------------------------------------------------------------------- */

static const struct view_column call_columns[] = {
	{ "lat_ns", "LATENCY", VIEW_NS, 10, 0, VIEW_AT(struct report_call, lat_ns) },
	{ "probe", "PROBE", VIEW_TEXT, 10, 0, VIEW_AT(struct report_call, kind), .names = report_kind_names },
	{ "pid", "PID", VIEW_ID, 8, 0, VIEW_AT(struct report_call, pid) },
	{ "tid", "TID", VIEW_ID, 8, 0, VIEW_AT(struct report_call, tid) },
	{ "comm", "COMM", VIEW_TEXT, 16, VIEW_EMPTY, VIEW_AT(struct report_call, comm) },
	{ "ended", "ENDED", VIEW_TEXT, 31, VIEW_EMPTY, VIEW_AT(struct report_call, time) },
	{ "func", "FUNC", VIEW_TEXT, 17, VIEW_EMPTY, VIEW_AT(struct report_call, func) },
	{ "file", "FILE", VIEW_TEXT, 0, VIEW_EMPTY, VIEW_AT(struct report_call, target) },
	{ 0 },
};

#define LONGEST(of)                                                                   \
	VIEW_ARRAY(struct report, of.call, of.n), VIEW_TOTAL(struct report, of.seen), \
		.columns = call_columns, .inside = "longest", .total = "seen", .most = REPORT_TOP, .least = 1

const struct view view_slowest = {
	.key = "slowest",
	.title = "Slowest calls on files",
	.what = "calls on files that ended, the ten longest",
	LONGEST(slow),
};
const struct view view_waits = {
	.key = "waits",
	.title = "Longest waits on pipes, sockets, terminals, devices",
	.shown = TOP_WAITS,
	LONGEST(waits),
};
const struct view view_running = {
	.key = "running",
	.title = "Still running at the end",
	.what = "calls on files that had not ended when the trace ended",
	LONGEST(running),
};
const struct view view_running_waits = {
	.key = "running_waits",
	.title = "Still waiting at the end on pipes, sockets, terminals, devices",
	.shown = TOP_WAITS,
	LONGEST(running_waits),
};

/* --- disks ------------------------------------------------------------------------------------------------ */

struct disk_row {
	const struct report_disk *disk;
	struct report_disk_op op;
	char t[2];
	bool first;
};

ROWS(disk_ops, struct report_disk, d)
{
	bool first = true;

	for (unsigned int t = 0; t < REPORT_TS; t++) {
		struct disk_row *row = d->op[t].requests ? view_make(rows, sizeof(*row)) : NULL;

		if (!row)
			continue;
		*row = (struct disk_row){ d, d->op[t], { report_t_names[t] }, first };
		first = false;
	}
}

GET(disk_queued, struct disk_row, v)
{
	const struct report_disk_op *op = &v->op;

	cell->f = op->lat->sum ? (double)op->queue_ns / (double)op->lat->sum : 0;
}

/* A note on the disk as a whole: only in the first of its lines. */
GET(disk_note, struct disk_row, d)
{
	char *at = cell->shown, *end = at + sizeof(cell->shown);

	cell->text = "";
	at += snprintf(at, (size_t)(end - at), "%s", d->disk->stacked ? "bios" : "");
	if (d->first && d->disk->failed)
		at += snprintf(at, (size_t)(end - at), "%sfailed: %s", at > cell->shown ? "; " : "",
			       FMT_COUNT(d->disk->failed));
	if (d->first && d->disk->self_requests)
		snprintf(at, (size_t)(end - at), "%sby dltraced itself: %s, %s", at > cell->shown ? "; " : "",
			 FMT_COUNT(d->disk->self_requests), FMT_BYTES(d->disk->self_bytes));
}

#define DISK_LAT VIEW_AT(struct disk_row, op.lat)

static const struct view_column disk_op_columns[] = {
	{ "t", "T", VIEW_TEXT, 1, 0, VIEW_AT(struct disk_row, t),
	  .what = "R read, W write, D discard, F flush, Z zero, O other" },
	{ "requests", "REQUESTS", VIEW_COUNT, 11, 0, VIEW_AT(struct disk_row, op.requests) },
	{ "bytes", "BYTES", VIEW_BYTES, 10, 0, VIEW_AT(struct disk_row, op.bytes) },
	{ "queue_ns", "IN QUEUES", VIEW_NS, 0, VIEW_NO_TEXT, VIEW_AT(struct disk_row, op.queue_ns),
	  .what = "before the driver got them" },
	{ "time_ns", "TIME", VIEW_NS, 0, VIEW_NO_TEXT, DISK_LAT, .get = lat_time, .what = "all latencies" },
	LATENCIES(0, DISK_LAT),
	{ NULL, "QUEUED", VIEW_SHARE, 8, .get = disk_queued },
	{ NULL, "", VIEW_TEXT, 0, VIEW_EMPTY, .get = disk_note },
	{ 0 },
};

const struct view view_disk_ops = {
	.key = "ops",
	.title = "Disks, whole machine",
	.note = "QUEUED: share of the latency before the driver got it",
	.what = "by T of bio.out",
	.columns = disk_op_columns,
	.rows = disk_ops,
	.parent = &view_disks,
};

static const struct view_column disk_columns[] = {
	{ "name", "DISK", VIEW_TEXT, 12, VIEW_KEY | VIEW_EMPTY, VIEW_AT(struct report_disk, name) },
	{ "bios", "BIOS", VIEW_FLAG, 0, VIEW_KEY | VIEW_NO_TEXT, VIEW_AT(struct report_disk, stacked),
	  .what = "a disk that handles bios, whose bytes also count for the disks below it" },
	{ "failed", "FAILED", VIEW_COUNT, 0, VIEW_NO_TEXT, VIEW_AT(struct report_disk, failed) },
	{ "self_requests", NULL, VIEW_COUNT, 0, 0, VIEW_AT(struct report_disk, self_requests),
	  .what = "of dltraced itself" },
	{ "self_bytes", NULL, VIEW_BYTES, 0, 0, VIEW_AT(struct report_disk, self_bytes), .what = "of dltraced itself" },
	{ "ops", NULL, VIEW_ROWS, .list = &view_disk_ops },
	{ 0 },
};

const struct view view_disks = {
	.key = "disks",
	.what = "the first 1024",
	.columns = disk_columns,
	VIEW_TABLE(struct report, disks),
	.left_out = "disks_left_out",
	.most = REPORT_DISKS_MAX,
	.least = 4,
};
