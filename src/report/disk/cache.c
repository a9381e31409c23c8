/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/disk/cache.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "report/scan/lookup.h"
#include "report/scan/part.h"
#include "stats/top.h"

/* An instant that was cut: the end of an epoch and the begin of the next have one cut, and a program notes the time
 * first. */
#define CUT_BEFORE_NS (200 * NSEC_PER_MSEC)
#define CUT_AFTER_NS (10 * NSEC_PER_MSEC)
#define PAGE_BYTES 4096 /* where the manifest has no size of pages */

static int part_new(struct report *r, const struct report_options *o)
{
	struct report_cache *c = r->cache = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	table_init(&c->files, sizeof(struct report_cache_row), CACHE_FILES_MAX);
	return 0;
}

static void part_free(struct report *r)
{
	struct report_cache *c = r->cache;

	if (!c)
		return;
	for (unsigned int i = 0; i < c->n; i++)
		free(c->row[i].path);
	table_free(&c->files);
	free(c->span);
	free(c);
}

/* --- by time ---------------------------------------------------------------------------------------- */

/* Makes one of each two. */
static void spans_halve(struct report_cache *cache)
{
	uint32_t n = cache->n_spans / 2;

	for (uint32_t i = 0; i < n; i++) {
		struct report_cache_span *a = &cache->span[i];
		const struct report_cache_span *first = &cache->span[2UL * i], *second = first + 1;

		for (unsigned int k = 0; k < CACHE_SUMS; k++)
			a->sum[k] = first->sum[k] + second->sum[k];
		a->begin_ns = first->begin_ns;
		a->end_ns = second->end_ns;
		a->cut = second->cut;
	}
	if (cache->n_spans % 2)
		cache->span[n++] = cache->span[cache->n_spans - 1];
	cache->n_spans = n;
}

/*
 * Returns the interval of a row for the SPAN_NS before UNTIL_NS; NULL: no memory. CUT: it ends where an epoch begins or
 * ends. Rows that are sent together begin at the same instant, or earlier, where a ring had no room for the row before.
 */
static struct report_cache_span *span_at(struct report_cache *cache, uint64_t until_ns, uint64_t span_ns, bool cut)
{
	struct report_cache_span *last = cache->n_spans ? &cache->span[cache->n_spans - 1] : NULL;
	const uint64_t from_ns = until_ns - MIN(span_ns, until_ns);

	if (last && (from_ns < last->end_ns || until_ns <= last->end_ns)) {
		last->end_ns = MAX(last->end_ns, until_ns);
		last->cut |= cut;
		return last;
	}
	if (cache->n_spans == CACHE_SPANS_MAX)
		spans_halve(cache);
	if (cache->n_spans == cache->spans_room) {
		const uint32_t room = MAX(2 * cache->spans_room, 64);
		struct report_cache_span *more = reallocarray(cache->span, room, sizeof(*more));

		if (!more)
			return NULL;
		cache->span = more;
		cache->spans_room = room;
	}
	last = &cache->span[cache->n_spans++];
	*last = (struct report_cache_span){ .begin_ns = from_ns, .end_ns = until_ns, .cut = cut };
	return last;
}

/* Returns the first interval that ends after NS. They are in order. */
static uint32_t first_after(const struct report_cache *cache, uint64_t ns)
{
	uint32_t from = 0, to = cache->n_spans;

	while (from < to) {
		const uint32_t mid = from + (to - from) / 2;

		if (cache->span[mid].end_ns > ns)
			to = mid;
		else
			from = mid + 1;
	}
	return from;
}

/* Returns the nearest cut, if there is one near AT_NS, else AT_NS. */
static uint64_t cut_near(const struct report_cache *cache, uint64_t at_ns)
{
	const uint64_t from_ns = at_ns - MIN(at_ns, CUT_BEFORE_NS + 1);
	uint64_t best_ns = at_ns, best = UINT64_MAX;

	for (uint32_t i = first_after(cache, from_ns);
	     i < cache->n_spans && cache->span[i].end_ns <= at_ns + CUT_AFTER_NS; i++) {
		const uint64_t cut_ns = cache->span[i].end_ns, off = cut_ns > at_ns ? cut_ns - at_ns : at_ns - cut_ns;

		if (!cache->span[i].cut || off >= best)
			continue;
		best_ns = cut_ns;
		best = off;
	}
	return best_ns;
}

void report_cache_within(const struct report_cache *cache, uint64_t begin_ns, uint64_t end_ns, uint64_t sum[CACHE_SUMS])
{
	begin_ns = cut_near(cache, begin_ns);
	end_ns = cut_near(cache, end_ns);
	for (uint32_t i = first_after(cache, begin_ns); i < cache->n_spans && cache->span[i].begin_ns < end_ns; i++) {
		const struct report_cache_span *at = &cache->span[i];
		const uint64_t from_ns = MAX(at->begin_ns, begin_ns), to_ns = MIN(at->end_ns, end_ns);

		if (from_ns >= to_ns)
			continue;
		for (unsigned int k = 0; k < CACHE_SUMS; k++)
			sum[k] += (uint64_t)((double)at->sum[k] * (double)(to_ns - from_ns) /
						     (double)(at->end_ns - at->begin_ns) +
					     0.5);
	}
}

/* --- by file ---------------------------------------------------------------------------------------- */

static bool take(struct scan *scan, void *own)
{
	static const enum column columns[CACHE_SUMS] = {
		[CACHE_READ] = COL_READ,     [CACHE_HIT] = COL_HIT,         [CACHE_MISS] = COL_MISS,
		[CACHE_AHEAD] = COL_AHEAD,   [CACHE_USED] = COL_USED,       [CACHE_EVICTED] = COL_EVICTED,
		[CACHE_WASTED] = COL_WASTED, [CACHE_DIRTIED] = COL_DIRTIED, [CACHE_WRITTEN] = COL_WRITTEN,
	};
	struct report_cache *cache = own;
	struct report_cache_row *file;
	struct report_cache_span *span;
	uint64_t fid, at_ns, until_ns;

	if (!scan_u64(scan, COL_FID, &fid))
		return false;
	file = table_get(&cache->files, fid);
	at_ns = until_ns = scan_number(scan, COL_TIMESTAMP);
	scan_u64(scan, COL_UNTIL_NS, &until_ns);
	span = span_at(cache, until_ns, scan_number(scan, COL_SPAN_NS), until_ns < at_ns);
	for (unsigned int i = 0; i < CACHE_SUMS; i++) {
		const uint64_t n = scan_number(scan, columns[i]);

		cache->all.sum[i] += n;
		if (file)
			file->sum[i] += n;
		if (span)
			span->sum[i] += n;
	}
	return true;
}

/* Returns how many pages came in again, beyond the file's size; 0 where the size is not known. */
static uint64_t again(const struct report *r, uint64_t fid, const struct report_cache_row *row)
{
	const struct report_file *f = table_find(&r->files, fid);
	const uint64_t page = r->cache->page_bytes, pages = f ? f->size / page + (f->size % page != 0) : 0,
		       in = report_cache_in(row);

	return pages && in > pages ? in - pages : 0;
}

static void part_read(struct report *r)
{
	struct scan_taker taker = { .take = take, .own = r->cache };

	r->cache->page_bytes = r->manifest.page_bytes ? r->manifest.page_bytes : PAGE_BYTES;
	r->cache->present = scan_walk(r->folder, "cache", &taker)->error == 0;
}

static void part_end(struct report *report)
{
	struct report_cache *cache = report->cache;
	struct report_cache_row rest;

	for (uint32_t i = 0; i < cache->files.n; i++) {
		struct report_cache_row *row = table_at(&cache->files, i), *at;

		row->fid = table_key_at(&cache->files, i);
		row->again = again(report, row->fid, row);
		cache->all.again += row->again;
		at = TOP_PLACE(cache->row, cache->n, CACHE_SHOWN, e, report_cache_in(e), report_cache_in(row));
		if (at)
			*at = *row;
	}
	rest = cache->all;
	for (unsigned int i = 0; i < cache->n; i++) {
		for (unsigned int k = 0; k < CACHE_SUMS; k++)
			rest.sum[k] -= cache->row[i].sum[k];
		rest.again -= cache->row[i].again;
		cache->row[i].path = report_path_of(report, cache->row[i].fid, NULL, 0);
	}
	if (cache->files.n > cache->n || cache->files.n == CACHE_FILES_MAX)
		cache->row[cache->n++] = rest;
}

const struct report_part report_cache_part = {
	.new = part_new,
	.read = part_read,
	.end = part_end,
	.free = part_free,
};
