/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of the page cache by file, of a struct report. */
#include "report/scan/cache.h"
#include "report/show/tables.h"

#define GET(name, type, row) VIEW_GET(name, struct report, r, type, row)

GET(path, struct report_cache_row, v)
{
	cell->text = v->path;
	if (!v->fid)
		snprintf(cell->shown, sizeof(cell->shown), "(other files)");
	else if (!v->path)
		snprintf(cell->shown, sizeof(cell->shown), "FID %llu", (unsigned long long)v->fid);
}

/* Pages as bytes. */
GET(bytes, struct report_cache_row, v)
{
	cell->n = view_number(c, v) * r->cache->page_bytes;
}

GET(hit_share, struct report_cache_row, v)
{
	view_share(cell, v->sum[CACHE_HIT], v->sum[CACHE_HIT] + v->sum[CACHE_MISS]);
}

GET(wasted_share, struct report_cache_row, v)
{
	view_share(cell, v->sum[CACHE_WASTED], v->sum[CACHE_AHEAD]);
}

#define SUM(n) VIEW_AT(struct report_cache_row, sum[n])
#define PAGES(key, head, n) key, head, VIEW_BYTES, 9, VIEW_DASH, SUM(n), .get = bytes

static const struct view_column columns[] = {
	{ "read_bytes", "READ", VIEW_BYTES, 9, 0, SUM(CACHE_READ), .what = "by calls, through the cache" },
	{ "hit_share", "HITS", VIEW_SHARE, 8, .get = hit_share, .what = "of the pages of these calls, those that were in the cache" },
	{ PAGES("hit_bytes", NULL, CACHE_HIT), .what = "pages of calls that were in the cache; as the next ones, in whole pages" },
	{ PAGES("miss_bytes", "MISSED", CACHE_MISS), .what = "pages of calls that were not" },
	{ PAGES("ahead_bytes", "AHEAD", CACHE_AHEAD), .what = "pages that entered without a request: read-ahead, faults of mapped files" },
	{ PAGES("used_bytes", "USED", CACHE_USED), .what = "of AHEAD: pages that a call then used" },
	{ PAGES("wasted_bytes", "WASTED", CACHE_WASTED), .what = "of AHEAD: pages that left before any call used them" },
	{ "wasted_share", "OF AHEAD", VIEW_SHARE, 9, .get = wasted_share },
	{ PAGES("evicted_bytes", "EVICTED", CACHE_EVICTED), .what = "pages that left, for any reason" },
	{ "again_bytes", "AGAIN", VIEW_BYTES, 9, VIEW_DASH, VIEW_AT(struct report_cache_row, again), .get = bytes,
	  .what = "pages that entered beyond the file's size: at least a second time" },
	{ PAGES("dirtied_bytes", NULL, CACHE_DIRTIED) },
	{ PAGES("written_bytes", NULL, CACHE_WRITTEN), .what = "written back; 0 without bio" },
	{ "fid", NULL, VIEW_ID, 0, 0, VIEW_AT(struct report_cache_row, fid), VIEW_KNOWN(struct report_cache_row, fid) },
	{ "path", "FILE", VIEW_TEXT, 0, VIEW_EMPTY, .get = path },
	{ 0 },
};

const struct view view_cache = {
	.key = "page_cache",
	.title = "Page cache by file",
	.note = "AHEAD: entered without a request; OF AHEAD: the share that was wasted; AGAIN: entered a second time",
	.what = "twenty of the files of cache.out, by what entered the cache, and the others as one",
	.columns = columns,
	VIEW_BEHIND(struct report, cache),
	VIEW_ARRAY(struct report_cache, row, n),
};
