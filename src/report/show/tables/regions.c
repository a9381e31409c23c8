/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of the job's own regions, by category and name, of a struct report. */
#include "report/phases/phases.h"
#include "report/scan/model.h"
#include "report/show/tables/tables.h"

#define GET(name) VIEW_GET(name, struct report, r, struct region_sum, v)

GET(share)
{
	view_share(cell, v->covered_ns, report_duration_ns(r));
}

GET(mean)
{
	cell->n = v->total_ns / v->n;
}

GET(rate)
{
	cell->known = v->with_bytes && v->total_ns;
	cell->n = cell->known ? (uint64_t)((double)v->bytes * 1e9 / (double)v->total_ns) : 0;
}

#define AT(member) VIEW_AT(struct region_sum, member)

static const struct view_column columns[] = {
	{ "share", "OF TIME", VIEW_SHARE, 8, 0, .get = share,
	  .what = "of the trace's time: that in which at least one thread was in such a region" },
	{ "covered_ns", NULL, VIEW_NS, 0, 0, AT(covered_ns), .what = "that time" },
	{ "total_ns", "TOTAL", VIEW_NS, 10, 0, AT(total_ns), .what = "of all threads, added up" },
	{ "own_ns", "OWN", VIEW_NS, 10, 0, AT(own_ns), .what = "of that, in no other region of the thread within it" },
	{ "nested_ns", NULL, VIEW_NS, 0, 0, AT(nested_ns), .what = "the rest of it" },
	{ "count", "COUNT", VIEW_COUNT, 9, 0, AT(n) },
	{ "processes", "PROCS", VIEW_COUNT, 6, 0, AT(processes), .what = "that had any" },
	{ "mean_ns", "MEAN", VIEW_NS, 9, 0, .get = mean },
	{ "min_ns", NULL, VIEW_NS, 0, 0, AT(min_ns) },
	{ "p25_ns", NULL, VIEW_NS, 0, 0, AT(p25_ns) },
	{ "p50_ns", "P50", VIEW_NS, 9, 0, AT(p50_ns) },
	{ "p75_ns", NULL, VIEW_NS, 0, 0, AT(p75_ns) },
	{ "p99_ns", "P99", VIEW_NS, 9, 0, AT(p99_ns) },
	{ "max_ns", "LONGEST", VIEW_NS, 9, 0, AT(max_ns) },
	{ "bytes", "BYTES", VIEW_BYTES, 10, 0, AT(bytes), VIEW_KNOWN(struct region_sum, with_bytes),
	  .what = "that the regions name" },
	{ "bytes_per_s", "A SECOND", VIEW_BYTES, 10, 0, .get = rate, .what = "bytes by the time of TOTAL" },
	{ "cat", "CATEGORY", VIEW_TEXT, 13, VIEW_EMPTY, AT(cat),
	  .what = "as in the first of them: upper and lower case count as one" },
	{ "name", "NAME", VIEW_TEXT, 0, VIEW_EMPTY, AT(name) },
	{ 0 },
};

const struct view view_regions = {
	.key = "regions",
	.title = "The job's own regions, by name",
	.note = "OF TIME: of the trace, with at least one thread in it; OWN: without the regions within it",
	.what = "the regions of a category and name, those with the most time first",
	.columns = columns,
	VIEW_BEHIND(struct report, phases),
	VIEW_POINTED(struct phases, region_sums.v, region_sums.n),
	VIEW_MOST(struct region_sum, total_ns),
	.most = 1000,
	.least = 10,
	.shown = 30,
};
