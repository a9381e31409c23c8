/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of the page cache, by file and by epoch, of a struct report. */
#include "report/disk/cache.h"
#include "report/show/tables/tables.h"
#include "report/why/why.h"

#define GET(name, type, row) VIEW_GET(name, struct report, r, type, row)

GET(path, struct report_cache_row, v)
{
	view_path(v->path, v->fid, v->fid ? NULL : "(other files)", cell);
}

/* Pages as bytes, in any kind of row. */
GET(bytes, void, v)
{
	cell->n = view_number(c, v) * r->cache->page_bytes;
}

static void hit_share(const uint64_t sum[CACHE_SUMS], struct view_cell *cell)
{
	view_share(cell, sum[CACHE_HIT], sum[CACHE_HIT] + sum[CACHE_MISS]);
}

static void wasted_share(const uint64_t sum[CACHE_SUMS], struct view_cell *cell)
{
	view_share(cell, sum[CACHE_WASTED], sum[CACHE_AHEAD]);
}

GET(file_hit_share, struct report_cache_row, v)
{
	hit_share(v->sum, cell);
}

GET(file_wasted_share, struct report_cache_row, v)
{
	wasted_share(v->sum, cell);
}

#define SUM(n) VIEW_AT(struct report_cache_row, sum[n])
#define PAGES(key, head, n) key, head, VIEW_BYTES, 9, VIEW_DASH, SUM(n), .get = bytes

static const struct view_column columns[] = {
	{ "read_bytes", "READ", VIEW_BYTES, 9, 0, SUM(CACHE_READ), .what = "by calls, through the cache" },
	{ "hit_share", "HITS", VIEW_SHARE, 8, .get = file_hit_share,
	  .what = "of the pages of these calls, those that were in the cache" },
	{ PAGES("hit_bytes", NULL, CACHE_HIT),
	  .what = "pages of calls that were in the cache; as the next ones, in whole pages" },
	{ PAGES("miss_bytes", "MISSED", CACHE_MISS), .what = "pages of calls that were not" },
	{ PAGES("ahead_bytes", "AHEAD", CACHE_AHEAD),
	  .what = "pages that entered without a request: read-ahead, faults of mapped files" },
	{ PAGES("used_bytes", "USED", CACHE_USED), .what = "of AHEAD: pages that a call then used" },
	{ PAGES("wasted_bytes", "WASTED", CACHE_WASTED),
	  .what = "of AHEAD: pages that left before any call used them" },
	{ "wasted_share", "OF AHEAD", VIEW_SHARE, 9, .get = file_wasted_share },
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

/* --- by epoch ----------------------------------------------------------------------------------------------- */

struct cache_epoch {
	const char *name;
	uint64_t begin_ns, end_ns;
	uint64_t sum[CACHE_SUMS];
};

VIEW_ROWS_OF(epochs, struct report, r, void, parent)
{
	const struct why *w = r->why;

	for (uint32_t i = 0; w && w->rules && r->cache && r->cache->present && i < w->n_epochs; i++) {
		const struct why_epoch *e = &w->epoch[i];
		struct cache_epoch *row = view_make(rows, sizeof(*row));

		if (!row)
			return;
		*row = (struct cache_epoch){ .name = e->name, .begin_ns = e->begin_ns, .end_ns = e->end_ns };
		report_cache_within(r->cache, e->begin_ns, e->end_ns, row->sum);
	}
}

GET(epoch_hit_share, struct cache_epoch, e)
{
	hit_share(e->sum, cell);
}

GET(epoch_wasted_share, struct cache_epoch, e)
{
	wasted_share(e->sum, cell);
}

GET(epoch_name, struct cache_epoch, e)
{
	cell->text = e->name;
}

#undef SUM
#define SUM(n) VIEW_AT(struct cache_epoch, sum[n])

static const struct view_column epoch_columns[] = {
	{ "begin_ns", NULL, VIEW_NS, 0, 0, VIEW_AT(struct cache_epoch, begin_ns) },
	{ "end_ns", NULL, VIEW_NS, 0, 0, VIEW_AT(struct cache_epoch, end_ns) },
	{ "read_bytes", "READ", VIEW_BYTES, 9, 0, SUM(CACHE_READ), .what = "by calls, through the cache" },
	{ "hit_share", "HITS", VIEW_SHARE, 8, .get = epoch_hit_share,
	  .what = "of the pages of these calls, those that were in the cache" },
	{ PAGES("hit_bytes", NULL, CACHE_HIT) },
	{ PAGES("miss_bytes", "MISSED", CACHE_MISS) },
	{ PAGES("ahead_bytes", "AHEAD", CACHE_AHEAD) },
	{ PAGES("used_bytes", "USED", CACHE_USED) },
	{ PAGES("wasted_bytes", "WASTED", CACHE_WASTED) },
	{ "wasted_share", "OF AHEAD", VIEW_SHARE, 9, .get = epoch_wasted_share },
	{ PAGES("evicted_bytes", "EVICTED", CACHE_EVICTED) },
	{ "name", "EPOCH", VIEW_TEXT, 0, VIEW_EMPTY | VIEW_KEY, .get = epoch_name },
	{ 0 },
};

const struct view view_cache_epochs = {
	.key = "page_cache_epochs",
	.title = "Page cache by epoch",
	.note = "AHEAD: entered without a request; OF AHEAD: the share that was wasted; an interval that two epochs "
		"share is divided by time",
	.what = "the sums of cache.out by epoch; one for the whole trace if no phase is an epoch",
	.columns = epoch_columns,
	.rows = epochs,
	.shown = 20,
	.most = WHY_EPOCHS_MAX,
};
