/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of calls by function, of a struct report. */
#include "report/scan/model.h"
#include "report/show/tables/tables.h"

#define GET(name, type, row) VIEW_GET(name, struct report, r, type, row)
#define ROWS(name, type, parent) VIEW_ROWS_OF(name, struct report, r, type, parent)
#define LINES 40

ROWS(functions, void, parent)
{
	for (unsigned int i = 0; i < r->n_funcs; i++)
		view_add(rows, r->funcs[i]);
	VIEW_SORT(rows, 0, struct report_func, op.lat.sum);
}

GET(side, struct report_func, f)
{
	if (!f->rw)
		cell->text = NULL;
	else if (f->write)
		cell->text = "W";
	else
		cell->text = "R";
}

GET(bytes, struct report_func, f)
{
	cell->known = f->op.size.n;
	cell->n = f->op.size.sum;
}

/* Returns the histogram at C's place; NULL when it is empty. */
static const struct hist *hist_at(const struct view_column *c, const struct report_func *f, struct view_cell *cell)
{
	const struct hist *h = (const struct hist *)((const char *)f + c->at);

	cell->known = h->n;
	return h;
}

GET(smallest, struct report_func, f)
{
	cell->n = hist_min(hist_at(c, f, cell));
}

GET(mean, struct report_func, f)
{
	const struct hist *h = hist_at(c, f, cell);

	cell->n = h->n ? h->sum / h->n : 0;
}

GET(size_quantile, struct report_func, f)
{
	cell->n = hist_quantile_floor(hist_at(c, f, cell), c->arg);
}

GET(lat_quantile, struct report_func, f)
{
	cell->n = hist_quantile(hist_at(c, f, cell), c->arg);
}

#define FUNC(member) VIEW_AT(struct report_func, member)
#define SIZE(key, head, find, quantile)                                                  \
	{                                                                                \
		key, head, VIEW_BYTES, 8, 0, FUNC(op.size), .get = find, .arg = quantile \
	}
#define LAT(key, head, quantile)                                                             \
	{                                                                                    \
		key, head, VIEW_NS, 8, 0, FUNC(op.lat), .get = lat_quantile, .arg = quantile \
	}

static const struct view_column function_columns[] = {
	{ "func", "FUNC", VIEW_TEXT, 16, VIEW_EMPTY, FUNC(name) },
	{ "probe", "PROBE", VIEW_TEXT, 10, 0, FUNC(kind), .names = report_kind_names },
	{ "rw", "RW", VIEW_TEXT, 2, .get = side, .what = "for vfs_rw: a call that reads and writes is in both" },
	{ "calls", "CALLS", VIEW_COUNT, 9, 0, FUNC(op.rows), .what = "rows" },
	{ "failed", "FAILED", VIEW_COUNT, 7, 0, FUNC(op.failed) },
	{ "running", "RUNNING", VIEW_COUNT, 0, VIEW_NO_TEXT, FUNC(op.running),
	  .what = "that had not ended when the trace ended" },
	{ "bytes", "BYTES", VIEW_BYTES, 8, .get = bytes, .what = "moved, or mapped of files" },
	{ "time_ns", "TIME", VIEW_NS, 8, 0, FUNC(op.lat.sum), .what = "all latencies, without calls still running" },
	SIZE("size_min_bytes", "SIZE MIN", smallest, 0),
	SIZE("size_p25_bytes", "P25", size_quantile, 250),
	SIZE("size_mean_bytes", "MEAN", mean, 0),
	SIZE("size_p50_bytes", "P50", size_quantile, 500),
	SIZE("size_p75_bytes", "P75", size_quantile, 750),
	SIZE("size_max_bytes", "MAX", size_quantile, 1000),
	LAT("p50_ns", "TIME P50", 500),
	LAT("p99_ns", "P99", 990),
	LAT("max_ns", "MAX", 1000),
	{ 0 },
};

const struct view view_functions = {
	.key = "functions",
	.title = "Calls by function",
	.note = "SIZE MIN to MAX: bytes moved, or mapped, by a call; TIME P50 to MAX: of a call",
	.what = "calls by their FUNC; quantiles are within a percent",
	.columns = function_columns,
	.rows = functions,
	.shown = LINES,
};
