/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/scan/cache.h"

#include <stdlib.h>

#include "base/util.h"
#include "report/scan/lookup.h"
#include "stats/top.h"

#define PAGE_BYTES 4096 /* where the manifest has no size of pages */

struct report_cache *report_cache_new(void)
{
	struct report_cache *c = calloc(1, sizeof(*c));

	if (c)
		table_init(&c->files, sizeof(struct report_cache_row), CACHE_FILES_MAX);
	return c;
}

void report_cache_free(struct report_cache *c)
{
	if (!c)
		return;
	for (unsigned int i = 0; i < c->n; i++)
		free(c->row[i].path);
	table_free(&c->files);
	free(c);
}

static bool take(struct scan *s, void *own)
{
	static const enum column columns[CACHE_SUMS] = {
		[CACHE_READ] = COL_READ, [CACHE_HIT] = COL_HIT, [CACHE_MISS] = COL_MISS, [CACHE_AHEAD] = COL_AHEAD,
		[CACHE_USED] = COL_USED, [CACHE_EVICTED] = COL_EVICTED, [CACHE_WASTED] = COL_WASTED,
		[CACHE_DIRTIED] = COL_DIRTIED, [CACHE_WRITTEN] = COL_WRITTEN,
	};
	struct report_cache *c = own;
	struct report_cache_row *file;
	uint64_t fid;

	if (!scan_u64(s, COL_FID, &fid))
		return false;
	file = table_get(&c->files, fid);
	for (unsigned int i = 0; i < CACHE_SUMS; i++) {
		const uint64_t n = scan_number(s, columns[i]);

		c->all.sum[i] += n;
		if (file)
			file->sum[i] += n;
	}
	return true;
}

/* Returns how many pages came in again, beyond the file's size; 0 where the size is not known. */
static uint64_t again(const struct report *r, uint64_t fid, const struct report_cache_row *row)
{
	const struct report_file *f = table_find(&r->files, fid);
	const uint64_t page = r->cache->page_bytes, pages = f ? f->size / page + (f->size % page != 0) : 0, in = report_cache_in(row);

	return pages && in > pages ? in - pages : 0;
}

void report_cache_read(struct report *r)
{
	struct scan_taker taker = { .take = take, .own = r->cache };

	r->cache->page_bytes = r->manifest.page_bytes ? r->manifest.page_bytes : PAGE_BYTES;
	r->cache->present = scan_walk(r->folder, "cache", &taker)->error == 0;
}

void report_cache_end(struct report *r)
{
	struct report_cache *c = r->cache;
	struct report_cache_row rest;

	for (uint32_t i = 0; i < c->files.n; i++) {
		struct report_cache_row *row = table_at(&c->files, i), *at;

		row->fid = table_key_at(&c->files, i);
		row->again = again(r, row->fid, row);
		c->all.again += row->again;
		at = TOP_PLACE(c->row, c->n, CACHE_SHOWN, e, report_cache_in(e), report_cache_in(row));
		if (at)
			*at = *row;
	}
	rest = c->all;
	for (unsigned int i = 0; i < c->n; i++) {
		for (unsigned int k = 0; k < CACHE_SUMS; k++)
			rest.sum[k] -= c->row[i].sum[k];
		rest.again -= c->row[i].again;
		c->row[i].path = report_path_of(r, c->row[i].fid, NULL, 0);
	}
	if (c->files.n > c->n || c->files.n == CACHE_FILES_MAX)
		c->row[c->n++] = rest;
}
