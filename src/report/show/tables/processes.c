/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of processes, and of how values are spread, of a struct report. */
#include <string.h>

#include "base/fmt.h"
#include "base/json.h"
#include "report/files/spreads.h"
#include "report/show/tables/tables.h"

#define OCTAVE_LINE "%10s %-12s"
#define OCTAVE_CELL " %11s"

#define GET(name, type, row) VIEW_GET(name, struct report, r, type, row)
#define ROWS(name, type, parent) VIEW_ROWS_OF(name, struct report, r, type, parent)

/* --- processes ---------------------------------------------------------------------------------------------- */

GET(process_parent, struct report_proc, p)
{
	cell->known = p->named;
	cell->n = p->ppid;
	if (!p->named)
		strcpy(cell->shown, "?");
}

GET(process_comm, struct report_proc, p)
{
	cell->text = p->comm;
	if (p->rank[0])
		snprintf(cell->shown, sizeof(cell->shown), "%s, rank %s", p->comm, p->rank);
}

#define RANK_COLUMN                                                                           \
	{                                                                                     \
		"rank", "RANK", VIEW_TEXT, 0, VIEW_NO_TEXT, VIEW_AT(struct report_proc, rank) \
	}

static const struct view_column process_columns[] = {
	{ "pid", "PID", VIEW_ID, 8, 0, VIEW_AT(struct report_proc, pid) },
	{ "ppid", "PPID", VIEW_ID, 8, .get = process_parent },
	{ "reads", "READS", VIEW_COUNT, 10, 0, VIEW_AT(struct report_proc, reads) },
	{ "read_bytes", "BYTES", VIEW_BYTES, 10, 0, VIEW_AT(struct report_proc, read_bytes) },
	{ "writes", "WRITES", VIEW_COUNT, 10, 0, VIEW_AT(struct report_proc, writes) },
	{ "write_bytes", "BYTES", VIEW_BYTES, 10, 0, VIEW_AT(struct report_proc, write_bytes) },
	{ "file_ns", "TIME", VIEW_NS, 10, 0, VIEW_AT(struct report_proc, file_ns), .what = "in calls on files" },
	{ "wait_ns", "WAITING", VIEW_NS, 10, 0, VIEW_AT(struct report_proc, wait_ns),
	  .what = "in calls on pipes, sockets, terminals, devices" },
	{ "comm", "COMM", VIEW_TEXT, 0, VIEW_EMPTY, .get = process_comm },
	RANK_COLUMN,
	{ 0 },
};

const struct view view_processes = {
	.key = "processes",
	.title = "Processes, by time in calls on files",
	.note = "WAITING: in those on pipes, sockets, terminals, devices",
	.what = "those with calls; the first twenty by time in calls on files",
	.columns = process_columns,
	VIEW_ARRAY(struct report, top_procs, n_top_procs),
	VIEW_TOTAL(struct report, n_procs),
	.csv = "",
	.total = "n_processes",
	.most = REPORT_TOP_PROCS,
	.least = 2,
};

const struct view view_every_process = {
	.csv = "processes",
	.what = "those with calls, by time in calls on files",
	.columns = process_columns,
	VIEW_TABLE(struct report, procs),
	VIEW_HAVING(struct report_proc, calls),
	VIEW_MOST(struct report_proc, file_ns),
};

/* --- medians ------------------------------------------------------------------------------------------------ */

static bool is_bytes(enum report_spread what)
{
	return what == REPORT_READ_BYTES || what == REPORT_WRITE_BYTES;
}

static uint64_t median(const struct spread *s, enum report_spread what)
{
	return is_bytes(what) ? spread_quantile_floor(s, 500) : spread_quantile(s, 500);
}

#define WITH_SPREADS VIEW_ARRAY(struct report, top_procs, n_top_procs), VIEW_HAVING(struct report_proc, has_spreads)

/* The median of the spread at C's place. */
GET(spread_median, struct report_proc, p)
{
	enum report_spread what =
		(enum report_spread)((c->at - offsetof(struct report_proc, spread)) / sizeof(p->spread[0]));

	cell->known = p->spread[what];
	cell->n = p->spread[what] ? median(p->spread[what], what) : 0;
}

#define MEDIAN(what) .at = offsetof(struct report_proc, spread[what]), .get = spread_median

static const struct view_column median_columns[] = {
	{ "pid", "PID", VIEW_ID, 8, 0, VIEW_AT(struct report_proc, pid) },
	{ "read_p50_ns", "READ", VIEW_NS, 9, 0, MEDIAN(REPORT_READ_NS) },
	{ "read_p50_bytes", "SIZE", VIEW_BYTES, 10, 0, MEDIAN(REPORT_READ_BYTES) },
	{ "write_p50_ns", "WRITE", VIEW_NS, 9, 0, MEDIAN(REPORT_WRITE_NS) },
	{ "write_p50_bytes", "SIZE", VIEW_BYTES, 10, 0, MEDIAN(REPORT_WRITE_BYTES) },
	{ "open_p50_ns", "OPEN", VIEW_NS, 9, 0, MEDIAN(REPORT_OPEN_NS) },
	{ "other_p50_ns", "OTHER", VIEW_NS, 9, 0, MEDIAN(REPORT_OTHER_NS),
	  .what = "close, mmap, create, delete, sync, truncate" },
	{ "comm", "COMM", VIEW_TEXT, 0, VIEW_EMPTY, VIEW_AT(struct report_proc, comm) },
	RANK_COLUMN,
	{ 0 },
};

/* In JSON, process_histograms has these. */
const struct view view_medians = {
	.title = "Processes: medians of calls on files",
	.note = "SIZE: bytes moved; OTHER: close, mmap, create, delete, sync, truncate",
	.columns = median_columns,
	WITH_SPREADS,
	.csv = "process_medians",
};

/* --- spreads: by octave --------------------------------------------------------------------------------------- */

struct histogram {
	const char *probe, *of;
	bool bytes; /* of bytes; else of ns */
	uint64_t n, p50;
	uint64_t octaves[SPREAD_OCTAVES];
};

static void histogram(struct view_rows *rows, const struct report_column *column, const struct hist *h, bool bytes)
{
	struct histogram *t = h ? view_make(rows, sizeof(*t)) : NULL;

	if (!t)
		return;
	*t = (struct histogram){
		.probe = column->probe, .of = column->of, .bytes = bytes, .n = h->n, .p50 = hist_quantile(h, 500)
	};
	spread_octaves_of_hist(h, t->octaves);
}

ROWS(histograms, void, parent)
{
	struct report_column columns[REPORT_COLUMNS_MAX];
	unsigned int n = r->uses ? report_columns(r, columns) : 0;

	for (unsigned int i = 0; i < n; i++) {
		histogram(rows, &columns[i], columns[i].lat, false);
		histogram(rows, &columns[i], columns[i].size, true);
	}
}

static const char *const units[] = { "ns", "B" };

/* Puts [FROM, how many] for each octave that is not empty. */
static void histogram_counts(const void *of, const void *row, struct json *json)
{
	const struct histogram *histogram = row;

	(void)of;
	json_row(json, "counts");
	for (unsigned int e = 0; e < SPREAD_OCTAVES; e++) {
		if (!histogram->octaves[e])
			continue;
		json_array(json, NULL);
		json_u64(json, NULL, e ? 1ULL << (e - 1) : 0);
		json_u64(json, NULL, histogram->octaves[e]);
		json_end(json);
	}
	json_end(json);
}

#define HISTOGRAM_COLUMNS                                                                                    \
	{ "of",                                                                                              \
	  NULL,                                                                                              \
	  VIEW_TEXT,                                                                                         \
	  0,                                                                                                 \
	  VIEW_KEY,                                                                                          \
	  VIEW_AT(struct histogram, of),                                                                     \
	  .what = "the probe's reads or writes, where it has them; of a process read, write, open, other" }, \
		{ "unit",         NULL,                                                                      \
		  VIEW_TEXT,      0,                                                                         \
		  VIEW_KEY,       VIEW_AT(struct histogram, bytes),                                          \
		  .names = units, .what = "ns: latencies; B: sizes" },                                       \
		{ "n", NULL, VIEW_COUNT, 0, 0, VIEW_AT(struct histogram, n) },                               \
		{ "p50",                                                                                     \
		  NULL,                                                                                      \
		  VIEW_COUNT,                                                                                \
		  0,                                                                                         \
		  0,                                                                                         \
		  VIEW_AT(struct histogram, p50),                                                            \
		  .what = "of a process within a sixteenth, of its sizes below by an eighth at most" },      \
	{                                                                                                    \
		"counts", NULL, VIEW_JSON, .json = histogram_counts,                                         \
					   .what = "[FROM, how many] of FROM to 2 * FROM - 1, and of 0"      \
	}

static const struct view_column histogram_columns[] = {
	{ "probe", NULL, VIEW_TEXT, 0, VIEW_KEY, VIEW_AT(struct histogram, probe) },
	HISTOGRAM_COLUMNS,
	{ 0 },
};

const struct view view_histograms = {
	.key = "histograms",
	.what = "by power of two, of all calls or requests that ended: latencies and sizes",
	.columns = histogram_columns,
	.rows = histograms,
};

static void octave_heads(const struct view_rows *rows, bool bytes, FILE *out)
{
	fprintf(out, OCTAVE_LINE, "FROM", "TO BELOW");
	for (size_t i = 0; i < rows->n; i++) {
		const struct histogram *t = rows->v[i].row;
		char head[24];

		if (t->bytes != bytes)
			continue;
		snprintf(head, sizeof(head), "%s%s", t->of && t->probe[0] == 'b' ? "bio " : "",
			 t->of ? t->of : t->probe);
		fprintf(out, OCTAVE_CELL, head);
	}
	fputc('\n', out);
}

/* Prints a line for each power of two that is not empty, a cell for each histogram of ns or of BYTES. */
static void octaves(const struct view_rows *rows, bool bytes, const char *title, FILE *out)
{
	char *(*fmt)(char buf[FMT_MAX], uint64_t v) = bytes ? fmt_bytes : fmt_ns;
	uint64_t sum[SPREAD_OCTAVES] = { 0 }, all = 0;
	char from[FMT_MAX], to[FMT_MAX];

	for (size_t i = 0; i < rows->n; i++) {
		const struct histogram *t = rows->v[i].row;

		for (unsigned int e = 0; e < SPREAD_OCTAVES && t->bytes == bytes; e++)
			all += sum[e] += t->octaves[e];
	}
	if (!all)
		return;
	view_title(out, title);
	octave_heads(rows, bytes, out);
	for (unsigned int e = 0; e < SPREAD_OCTAVES; e++) {
		if (!sum[e])
			continue;
		fprintf(out, OCTAVE_LINE, fmt(from, e ? 1ULL << (e - 1) : 0), e > 63 ? "-" : fmt(to, 1ULL << e));
		for (size_t i = 0; i < rows->n; i++) {
			const struct histogram *t = rows->v[i].row;

			if (t->bytes == bytes)
				fprintf(out, OCTAVE_CELL, t->octaves[e] ? FMT_COUNT(t->octaves[e]) : "-");
		}
		fputc('\n', out);
	}
}

void report_octaves_text(const void *of, FILE *out)
{
	struct view_rows rows = { 0 };

	view_rows_fill(&rows, &view_histograms, of, NULL);
	octaves(&rows, false, "Latencies: how many calls and requests took this long", out);
	octaves(&rows, true, "Sizes: how many calls and requests had this many bytes (pipes and the like included)",
		out);
	view_rows_free(&rows);
}

/* One octave of a histogram. */
struct count_row {
	uint64_t from, count;
};

ROWS(counts, struct histogram, t)
{
	for (unsigned int e = 0; e < SPREAD_OCTAVES; e++) {
		struct count_row *row = t->octaves[e] ? view_make(rows, sizeof(*row)) : NULL;

		if (row)
			*row = (struct count_row){ e ? 1ULL << (e - 1) : 0, t->octaves[e] };
	}
}

static const struct view_column count_columns[] = {
	{ "from", NULL, VIEW_COUNT, 0, 0, VIEW_AT(struct count_row, from) },
	{ "count", NULL, VIEW_COUNT, 0, 0, VIEW_AT(struct count_row, count) },
	{ 0 },
};

const struct view view_histogram_counts = {
	.csv = "histogram_counts",
	.what = "`counts` of each of histograms",
	.columns = count_columns,
	.rows = counts,
	.parent = &view_histograms,
};

ROWS(of_process, struct report_proc, p)
{
	for (enum report_spread what = 0; what < REPORT_SPREADS; what++) {
		struct histogram *t = p->spread[what] ? view_make(rows, sizeof(*t)) : NULL;

		if (!t)
			continue;
		*t = (struct histogram){ .of = report_spread_names[what],
					 .bytes = is_bytes(what),
					 .n = p->spread[what]->n,
					 .p50 = median(p->spread[what], what) };
		spread_octaves(p->spread[what], t->octaves);
	}
}

static const struct view_column spread_columns[] = { HISTOGRAM_COLUMNS, { 0 } };

static const struct view process_spreads = {
	.key = "histograms",
	.columns = spread_columns,
	.rows = of_process,
	.parent = &view_process_histograms,
};

static const struct view_column spreads_columns[] = {
	{ "pid", NULL, VIEW_ID, 0, VIEW_KEY, VIEW_AT(struct report_proc, pid) },
	{ "comm", NULL, VIEW_TEXT, 0, VIEW_KEY | VIEW_EMPTY, VIEW_AT(struct report_proc, comm) },
	{ "rank", NULL, VIEW_TEXT, 0, VIEW_KEY, VIEW_AT(struct report_proc, rank) },
	{ "histograms", NULL, VIEW_ROWS, .list = &process_spreads },
	{ 0 },
};

const struct view view_process_histograms = {
	.key = "process_histograms",
	.csv = "",
	.what = "histograms of the calls on files of each of `processes`",
	.columns = spreads_columns,
	WITH_SPREADS,
	.most = REPORT_TOP_PROCS,
	.least = 2,
};
