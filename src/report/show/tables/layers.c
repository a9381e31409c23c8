/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of the layers of a training job, of a struct report. */
#include "report/phases/phases.h"
#include "report/scan/model.h"
#include "report/show/tables/tables.h"

#define GET(name) VIEW_GET(name, struct report, r, struct region_layer, v)

GET(share)
{
	view_share(cell, v->covered_ns, report_duration_ns(r));
}

GET(in_parent)
{
	cell->known = v->parent && v->covered_ns;
	if (cell->known)
		view_share(cell, v->in_parent_ns, v->covered_ns);
}

GET(with_compute)
{
	cell->known = v != &r->phases->layers.v[LAYER_COMPUTE] && r->phases->layers.v[LAYER_COMPUTE].n && v->covered_ns;
	if (cell->known)
		view_share(cell, v->with_compute_ns, v->covered_ns);
}

GET(rate)
{
	cell->known = v->with_bytes && v->covered_ns;
	cell->n = cell->known ? (uint64_t)((double)v->bytes * 1e9 / (double)v->covered_ns) : 0;
}

#define AT(member) VIEW_AT(struct region_layer, member)

static const struct view_column columns[] = {
	{ "share", "OF TIME", VIEW_SHARE, 8, 0, .get = share,
	  .what = "of the trace's time: that in which at least one thread was in the layer" },
	{ "covered_ns", "TIME", VIEW_NS, 10, 0, AT(covered_ns), .what = "that time" },
	{ "in_parent_share", "IN PARENT", VIEW_SHARE, 10, 0, .get = in_parent,
	  .what = "of that time: with a thread in the layer above at the same moment" },
	{ "with_compute_share", "COMPUTING", VIEW_SHARE, 10, 0, .get = with_compute,
	  .what = "of that time: with a thread in the layer compute at the same moment" },
	{ "total_ns", "TOTAL", VIEW_NS, 10, 0, AT(total_ns), .what = "of all threads, added up" },
	{ "count", "COUNT", VIEW_COUNT, 10, 0, AT(n), .what = "of regions, or of calls" },
	{ "processes", "PROCS", VIEW_COUNT, 6, 0, AT(processes), .what = "that had any" },
	{ "bytes", "BYTES", VIEW_BYTES, 10, 0, AT(bytes), VIEW_KNOWN(struct region_layer, with_bytes),
	  .what = "that regions name, or calls moved" },
	{ "bytes_per_s", "A SECOND", VIEW_BYTES, 10, 0, .get = rate, .what = "bytes by the time of TIME" },
	{ "parent", "PARENT", VIEW_TEXT, 12, 0, AT(parent),
	  .what = "the layer above, or the next one above that has regions" },
	{ "layer", "LAYER", VIEW_TEXT, 0, 0, AT(name) },
	{ 0 },
};

const struct view view_layers = {
	.key = "layers",
	.title = "Layers of the job, by its regions",
	.note = "IN PARENT, COMPUTING: of TIME, while the layer above was at work, or anything computed",
	.what = "layers of training that have regions, each with the one above it; calls on files of readers, of "
		"checkpoints and of all",
	.columns = columns,
	VIEW_BEHIND(struct report, phases),
	VIEW_FIXED(struct phases, layers.v),
	VIEW_HAVING(struct region_layer, n),
};
