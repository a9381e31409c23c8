/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages that were read ahead and that nothing has touched yet, by file and chunk. */
#ifndef CACHE_PAGES_BPF_H
#define CACHE_PAGES_BPF_H

#include "cache/cache.bpf.h"

#define CACHE_CALL_CHUNKS 4096 /* of the longest read, 2 GiB, with pages of 4 KiB */
#define CACHE_FOLIO_CHUNKS 16 /* of the largest folio */

/* Found by the number of a chunk. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dlt_cache_chunks);
} dlt_cache_chunks SEC(".maps");

/* Neighbors lie side by side, so two files may collide over long stretches; an element has room for several. */
static __always_inline struct dlt_cache_chunks *chunks_of(const struct dlt_file_id *of, __u64 number)
{
	__u32 i =
		((__u32)(of->ino * 0x9e3779b97f4a7c15ULL >> 32) + of->dev * 31 + of->gen + number) & dlt_cfg.cache_mask;

	return bpf_map_lookup_elem(&dlt_cache_chunks, &i);
}

/* Returns the way that the chunk is in, DLT_CACHE_WAYS: none. */
static __always_inline __u64 chunk_way(const struct dlt_cache_chunks *c, const struct dlt_file_id *of, __u64 number)
{
	__u64 way;

	for (way = 0; way < DLT_CACHE_WAYS; way++)
		if (c->key[way].number == number && cache_is_of(&c->key[way].of, of))
			break;
	return way;
}

/* Returns whether no page of the way is untouched. */
static __always_inline bool way_is_free(const struct dlt_cache_chunks *c, __u64 way)
{
	const __u64 *eight = (const __u64 *)&c->fresh[way * DLT_CACHE_CHUNK];
	__u64 any = 0;

	for (int i = 0; i < DLT_CACHE_CHUNK / 8; i++)
		any |= eight[i];
	return !any;
}

/*
 * Returns the byte of page I of the way's chunk. The asm keeps clang from omitting the mask: the verifier does not see
 * that the sum is small enough.
 */
static __always_inline __u8 *fresh_of(struct dlt_cache_chunks *c, __u64 way, __u64 i)
{
	__u64 at = way * DLT_CACHE_CHUNK + i;

	asm volatile("" : "+r"(at));
	return &c->fresh[at & (sizeof(c->fresh) - 1)];
}

/* Returns 1 if nothing has touched page I of the way's chunk so far, else 0. Now something has. */
static __always_inline __u32 fresh_drop(struct dlt_cache_chunks *c, __u64 way, __u64 i)
{
	__u8 *fresh = fresh_of(c, way, i);
	__u32 untouched = *fresh;

	*fresh = 0;
	return untouched;
}

/* Returns the bytes of eight pages, of which I is the first and a multiple of eight. */
#define CHUNK_EIGHT 0x0101010101010101ULL
static __always_inline __u64 *fresh_eight(struct dlt_cache_chunks *c, __u64 way, __u64 i)
{
	__u64 at = way * DLT_CACHE_CHUNK + i;

	asm volatile("" : "+r"(at));
	return (__u64 *)&c->fresh[at & (sizeof(c->fresh) - 8)];
}

/* Notes that nothing has touched any page of the way's chunk. */
static __always_inline void chunk_fill(struct dlt_cache_chunks *c, __u64 way)
{
	__u64 at = way * DLT_CACHE_CHUNK, *eight;

	asm volatile("" : "+r"(at));
	eight = (__u64 *)&c->fresh[at & (sizeof(c->fresh) - DLT_CACHE_CHUNK)];
	for (int i = 0; i < DLT_CACHE_CHUNK / 8; i++)
		eight[i] = CHUNK_EIGHT;
}

/* --- they come ---------------------------------------------------------------------------------- */

/* Returns the way that a new chunk gets, DLT_CACHE_WAYS: all are in use. */
static __always_inline __u64 chunk_begin(struct dlt_cache_chunks *c, const struct dlt_file_id *of, __u64 number)
{
	__u64 way;

	for (way = 0; way < DLT_CACHE_WAYS; way++) {
		if (c->key[way].of.ino && !way_is_free(c, way))
			continue;
		c->key[way].of = *of;
		c->key[way].number = number;
		break;
	}
	return way;
}

/* Returns the way of the chunk, which begins now if it was in none; DLT_CACHE_WAYS: there is no room. */
static __always_inline __u64 chunk_way_or_begin(struct dlt_cache_chunks *c, const struct dlt_file_id *of, __u64 number)
{
	__u64 way = chunk_way(c, of, number);

	return way == DLT_CACHE_WAYS ? chunk_begin(c, of, number) : way;
}

/* Notes that nothing has touched LEFT pages of the way's chunk, from page I on. */
static __always_inline void way_note(struct dlt_cache_chunks *c, __u64 way, __u64 i, __u64 left)
{
	if (left == DLT_CACHE_CHUNK) {
		chunk_fill(c, way);
		return;
	}
	/* a folio of eight pages or more begins at a multiple of eight */
	for (__u32 turn = 0; turn < DLT_CACHE_CHUNK / 8 && left >= 8 && !(i & 7); turn++, i += 8, left -= 8)
		*fresh_eight(c, way, i) = CHUNK_EIGHT;
	for (__u32 turn = 0; turn < DLT_CACHE_CHUNK && left; turn++, i++, left--)
		*fresh_of(c, way, i) = 1;
}

/* Nonzero: nothing is left. */
__noinline int fresh_note_step(void)
{
	struct cache_range *r = range_get();
	struct dlt_cache_chunks *c;
	struct dlt_stats *st;
	__u64 number, left, i, way;

	if (!r || r->page >= r->end)
		return 1;
	number = r->page / DLT_CACHE_CHUNK;
	i = r->page & (DLT_CACHE_CHUNK - 1);
	left = r->end - r->page;
	if (left > DLT_CACHE_CHUNK - i)
		left = DLT_CACHE_CHUNK - i;
	r->page += left;
	c = chunks_of(&r->of, number);
	if (!c)
		return 1;
	way = chunk_way_or_begin(c, &r->of, number);
	if (way < DLT_CACHE_WAYS) {
		way_note(c, way, i, left);
	} else {
		st = stats_of(DLT_cache);
		if (st)
			st->refused += left;
	}
	return r->page >= r->end;
}

/* Returns whether the pages are those of one chunk, whole or a single one, and are noted: so are most that come. */
static __always_inline bool fresh_note_one(const struct dlt_file_id *of, __u64 page, __u64 pages)
{
	__u64 number = page / DLT_CACHE_CHUNK, i = page & (DLT_CACHE_CHUNK - 1), way;
	struct dlt_cache_chunks *c;

	if (pages != 1 && (pages != DLT_CACHE_CHUNK || i))
		return false;
	c = chunks_of(of, number);
	if (!c)
		return false;
	way = chunk_way_or_begin(c, of, number);
	if (way == DLT_CACHE_WAYS)
		return false;
	if (pages == 1)
		*fresh_of(c, way, i) = 1;
	else
		chunk_fill(c, way);
	return true;
}

static __always_inline void fresh_note(const struct dlt_file_id *of, __u64 first, __u64 end)
{
	struct cache_range *r;

	if (fresh_note_one(of, first, end - first))
		return;
	r = range_get();
	if (!r)
		return;
	r->of = *of;
	r->page = first;
	r->end = end;
	for (int i = 0; i < CACHE_FOLIO_CHUNKS; i++)
		if (fresh_note_step())
			break;
}

/* --- they are touched, or leave ----------------------------------------------------------------- */

/* Nonzero: nothing is left. */
__noinline int fresh_take_step(void)
{
	struct cache_range *r = range_get();
	struct dlt_cache_chunks *c;
	__u64 number, page, left, i, way;
	__u32 n = 0;

	if (!r || r->page >= r->end)
		return 1;
	page = r->page;
	number = page / DLT_CACHE_CHUNK;
	i = page & (DLT_CACHE_CHUNK - 1);
	left = r->end - page;
	if (left > DLT_CACHE_CHUNK - i)
		left = DLT_CACHE_CHUNK - i;
	c = chunks_of(&r->of, number);
	r->page += left;
	way = c ? chunk_way(c, &r->of, number) : DLT_CACHE_WAYS;
	if (!c || way == DLT_CACHE_WAYS)
		return r->page >= r->end;
	for (__u32 turn = 0; turn < 7 && left && i & 7; turn++, i++, left--)
		n += fresh_drop(c, way, i);
	for (__u32 turn = 0; turn < DLT_CACHE_CHUNK / 8 && left >= 8; turn++, i += 8, left -= 8) {
		__u64 *eight = fresh_eight(c, way, i);

		n += *eight * CHUNK_EIGHT >> 56; /* the sum of its bytes */
		*eight = 0;
	}
	for (__u32 turn = 0; turn < 7 && left; turn++, i++, left--)
		n += fresh_drop(c, way, i);
	r->fresh += n;
	return r->page >= r->end;
}

#define CHUNKS_AT_ONCE 16
__noinline int fresh_take_steps(void)
{
	for (int i = 0; i < CHUNKS_AT_ONCE; i++)
		if (fresh_take_step())
			return 1;
	return 0;
}

/* Returns how many of the pages from FIRST to before END were untouched until now. CHUNKS: a constant, the limit. */
static __always_inline __u64 fresh_take(const struct dlt_file_id *of, __u64 first, __u64 end, __u32 chunks)
{
	struct cache_range *r = range_get();

	if (!r)
		return 0;
	r->of = *of;
	r->page = first;
	r->end = end;
	r->fresh = 0;
	for (__u32 i = 0; i < chunks / CHUNKS_AT_ONCE; i++)
		if (fresh_take_steps())
			break;
	return r->fresh;
}

#endif
