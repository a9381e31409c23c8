/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of the memory that programs touched: by process, by mapped file, by stack of its allocation. */
#include "base/util.h"
#include "report/memory/accesses.h"
#include "report/show/tables/tables.h"

#define GET(name, type, row) VIEW_GET(name, struct report, r, type, row)

/* --- by process -------------------------------------------------------------------------------------------- */

GET(source, struct report_access_process, p)
{
	cell->text = access_source_names[p->source];
}

GET(most, struct report_access_process, p)
{
	cell->known = p->intervals != 0;
	cell->n = p->most;
}

GET(mean, struct report_access_process, p)
{
	cell->known = p->intervals != 0;
	cell->n = p->intervals ? p->sum / p->intervals : 0;
}

GET(count, struct report_access_process, p)
{
	cell->known = p->source != ACCESS_PAGES && p->source != ACCESS_WRITES; /* these say whether, not how often */
	cell->n = p->count;
}

GET(intervals, struct report_access_process, p)
{
	cell->known = p->intervals != 0;
	cell->n = p->intervals;
}

GET(written, void, row)
{
	cell->known = r->accesses->has_written;
	cell->n = view_number(c, row);
}

#define PROCESS(member) VIEW_AT(struct report_access_process, member)
static const struct view_column process_columns[] = {
	{ "source", "SOURCE", VIEW_TEXT, 6, .get = source,
	  .what = "how accesses are known: pages, faults, writes, pmu, watch" },
	{ "rows", "ROWS", VIEW_COUNT, 8, 0, PROCESS(rows) },
	{ "count", "COUNT", VIEW_COUNT, 8, VIEW_DASH, .get = count,
	  .what = "faults, samples, accesses; pages and writes do not count" },
	{ "intervals", "INTERVALS", VIEW_COUNT, 9, VIEW_DASH, .get = intervals,
	  .what = "in which anything was touched" },
	{ "interval_bytes", "MEAN", VIEW_BYTES, 9, 0, .get = mean, .what = "touched in an interval" },
	{ "most_bytes", "AT MOST", VIEW_BYTES, 9, 0, .get = most, .what = "touched in one interval" },
	{ "touched_bytes", "EVER", VIEW_BYTES, 9, 0, PROCESS(ever.bytes), .what = "at any time, by any source" },
	{ "written_bytes", "WRITTEN", VIEW_BYTES, 9, VIEW_DASH, PROCESS(ever.written), .get = written,
	  .what = "of EVER, where the source knows of writes" },
	{ "pid", "PID", VIEW_ID, 8, 0, PROCESS(pid) },
	{ "comm", "COMM", VIEW_TEXT, 0, VIEW_EMPTY, PROCESS(pid), .get = view_comm },
	{ 0 },
};

const struct view view_access_processes = {
	.key = "access_processes",
	.title = "Memory that processes touched",
	.note = "by whole pages; a fault is a first touch and no load",
	.what = "the twenty processes that touched the most, by source",
	.columns = process_columns,
	VIEW_BEHIND(struct report, accesses),
	VIEW_ARRAY(struct report_accesses, process, n_processes),
	.least = 1,
	.most = ACCESSES_SHOWN,
};

/* Faults come once a page, however often it is touched. */
GET(once, void, row)
{
	cell->known = r->accesses->by[ACCESS_PAGES];
	cell->n = view_number(c, row);
}

/* --- by file ------------------------------------------------------------------------------------------------ */

GET(used_share, struct report_access_file, f)
{
	view_share(cell, f->used.bytes, f->mapped);
}

GET(path, struct report_access_file, f)
{
	view_path(f->path, f->fid, f->others ? "(other files)" : NULL, cell);
}

#define FILES(member) VIEW_AT(struct report_access_file, member)
static const struct view_column file_columns[] = {
	{ "mapped_bytes", "MAPPED", VIEW_BYTES, 9, 0, FILES(mapped),
	  .what = "from the first byte that was mapped to the last, within the file" },
	{ "used_bytes", "USED", VIEW_BYTES, 9, 0, FILES(used.bytes),
	  .what = "of these: in pages that a process touched" },
	{ "used_share", "SHARE", VIEW_SHARE, 8, .get = used_share },
	{ "once_bytes", "ONCE", VIEW_BYTES, 9, VIEW_DASH, FILES(used.once), .get = once,
	  .what = "of USED: touched in one interval only" },
	{ "written_bytes", "WRITTEN", VIEW_BYTES, 9, VIEW_DASH, FILES(used.written), .get = written,
	  .what = "of USED, where the source knows of writes" },
	{ "others", NULL, VIEW_FLAG, 0, 0, FILES(others), .what = "the sum of all other files" },
	{ "fid", NULL, VIEW_ID, 0, 0, FILES(fid), VIEW_KNOWN(struct report_access_file, fid) },
	{ "path", "FILE", VIEW_TEXT, 0, VIEW_EMPTY, .get = path },
	{ 0 },
};

const struct view view_access_files = {
	.key = "access_files",
	.title = "Mapped files and what was used of them",
	.note = "USED: in pages that were touched",
	.what = "the twenty files with the most bytes mapped, and the others as one",
	.columns = file_columns,
	VIEW_BEHIND(struct report, accesses),
	VIEW_ARRAY(struct report_accesses, file, n_files),
	.least = 1,
	.most = ACCESSES_SHOWN + 1,
};

/* --- by stack ------------------------------------------------------------------------------------------------ */

GET(untouched, struct report_access_site, s)
{
	cell->n = report_access_untouched(s);
}

GET(stack, struct report_access_site, s)
{
	view_stack(s->stack, s->id, s->others, cell);
}

#define SITE(member) VIEW_AT(struct report_access_site, member)
static const struct view_column site_columns[] = {
	{ "untouched_bytes", "NEVER", VIEW_BYTES, 9, VIEW_DASH, .get = untouched,
	  .what = "bytes of blocks in pages that nothing touched while the block was in use" },
	{ "untouched_blocks", "BLOCKS", VIEW_COUNT, 8, VIEW_DASH, SITE(untouched_blocks),
	  .what = "blocks of which nothing was touched" },
	{ "once_bytes", "ONCE", VIEW_BYTES, 9, VIEW_DASH, SITE(once), .get = once,
	  .what = "touched in one interval only" },
	{ "bytes", "OF", VIEW_BYTES, 9, 0, SITE(bytes),
	  .what = "bytes of all blocks that were in use for an interval at least" },
	{ "blocks", "IN", VIEW_COUNT, 8, 0, SITE(blocks), .what = "their number" },
	{ "others", NULL, VIEW_FLAG, 0, 0, SITE(others), .what = "the sum of all other stacks" },
	{ "site", NULL, VIEW_ID, 0, 0, SITE(id), VIEW_KNOWN(struct report_access_site, id),
	  .what = "SITE of sites.out" },
	{ "stack", "STACK", VIEW_TEXT, 0, VIEW_EMPTY, .get = stack, .what = "as in allocs_by_peak" },
	{ 0 },
};

#define SITES(order)                                                   \
	.columns = site_columns, VIEW_BEHIND(struct report, accesses), \
	VIEW_ARRAY(struct report_accesses, site[order], n_sites[order]), .least = 1, .most = ACCESSES_SHOWN + 1

const struct view view_access_untouched = {
	.key = "allocs_untouched",
	.title = "Stacks that allocated the most bytes that were never touched",
	.note = "NEVER: of the bytes OF blocks; ONCE: touched in one interval only",
	.what = "twenty stacks, and the others as one; with pages or faults in access.out",
	SITES(ACCESSES_BY_UNTOUCHED),
};
const struct view view_access_once = {
	.key = "allocs_touched_once",
	.title = "Stacks that allocated the most bytes that were touched once",
	.what = "likewise; with pages in access.out",
	SITES(ACCESSES_BY_ONCE),
};
