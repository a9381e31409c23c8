/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page cache by file: sums that several probes add to. cache.bpf.c counts pages that enter and leave, vfs_rw and
 * io_uring those that calls touch, bio those that are written back. A file has a cell from the target's first read, or from
 * the first insertion, on. It is found by the inode, as the page cache is: below overlayfs that of the file with the data.
 */
#ifndef CACHE_BPF_H
#define CACHE_BPF_H

#include "dlt.bpf.h"
#include "dlt/cache.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct dlt_file_id);
	__type(value, struct dlt_cache_cell);
} dlt_cache_cells SEC(".maps");

/* Found by the number of a chunk. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dlt_cache_chunks);
} dlt_cache_chunks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dlt_cache_read);
} dlt_cache_reads SEC(".maps");

static __always_inline void cache_id(struct inode *inode, struct dlt_file_id *id)
{
	struct super_block *sb = KLOAD(inode, i_sb);

	id->ino = inode_ino(inode);
	id->dev = KLOAD(sb, s_dev);
	id->gen = KLOAD(inode, i_generation);
}

static __always_inline bool cache_is_of(const struct dlt_file_id *a, const struct dlt_file_id *b)
{
	return a->ino == b->ino && a->dev == b->dev && a->gen == b->gen;
}

static __always_inline struct dlt_cache_cell *cache_cell(const struct dlt_file_id *of)
{
	return bpf_map_lookup_elem(&dlt_cache_cells, of);
}

/* Arguments of global functions beside numbers, as on 5.10 these take only numbers. */
struct cache_range {
	struct dlt_file_id of;
	__u64 page, end; /* the next pages of a range, and its end: the walks proceed by chunks */
	__u64 fresh;	 /* fresh pages among those that are done */
	/* a file or an inode, and its identity in other rows; a pointer in memory is a number to the verifier */
	__u64 at;
	struct dlt_file_id id;
	struct dlt_cache_cell cell; /* a new cell, which would take half of a stack */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cache_range);
} cache_ranges SEC(".maps");

static __always_inline struct cache_range *range_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&cache_ranges, &zero);
}

/* Returns the sums of CELL that are added to at present. */
static __always_inline struct dlt_cache_sums *cache_sums(struct dlt_cache_cell *cell)
{
	struct dlt_shared *sh = shared();

	return &cell->sums[sh ? sh->cache_turn & (DLT_CACHE_TURNS - 1) : 0];
}

/* Makes the cell of OF, which other rows call ID. Returns NULL where there is no room: that counts as lost. */
static __always_inline struct dlt_cache_cell *cache_cell_make(const struct dlt_file_id *of, const struct dlt_file_id *id)
{
	struct cache_range *r = range_get();
	struct dlt_shared *sh = shared();
	struct dlt_cache_cell *made;
	struct dlt_stats *st;

	if (!r || !sh)
		return NULL;
	r->cell.id = *id;
	if (!bpf_map_update_elem(&dlt_cache_cells, of, &r->cell, BPF_NOEXIST)) /* otherwise another thread may have done so */
		__sync_fetch_and_add(&sh->cache_cells, 1);
	made = bpf_map_lookup_elem(&dlt_cache_cells, of);
	if (!made) {
		st = stats_of(DLT_cache);
		if (st)
			st->seen++;
		count_lost_room(DLT_cache);
	}
	return made;
}

/* --- untouched pages ---------------------------------------------------------------------------- */

/* Neighbors lie side by side, so two files may collide over long stretches; an element has room for several. */
static __always_inline struct dlt_cache_chunks *chunks_of(const struct dlt_file_id *of, __u64 number)
{
	__u32 i = ((__u32)(of->ino * 0x9e3779b97f4a7c15ULL >> 32) + of->dev * 31 + of->gen + number) & dlt_cfg.cache_mask;

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
 * Returns the byte of page I of the way's chunk. The asm keeps clang from omitting the mask: the verifier does not see that
 * the sum is small enough.
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
		return 0;
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
	return 0;
}

#define CHUNKS_AT_ONCE 32
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

#define CACHE_CALL_CHUNKS 8192 /* of the longest read, 2 GiB, with pages of 4 KiB */
#define CACHE_FOLIO_CHUNKS 32  /* of the largest folio */

/* --- calls -------------------------------------------------------------------------------------- */

static __always_inline struct dlt_cache_read *cache_read_slot(__u32 tid)
{
	__u32 i = tid & dlt_cfg.slot_mask & (DLT_CACHE_READS_MAX - 1);

	return bpf_map_lookup_elem(&dlt_cache_reads, &i);
}

/* Returns whether OF is the last file that thread TID has inserted pages of. */
static __always_inline bool cache_read_is_of(const struct dlt_cache_read *slot, __u32 tid, const struct dlt_file_id *of)
{
	return slot->tid == tid && cache_is_of(&slot->of, of);
}

/* Returns how many pages of those from FIRST to before END are among those from A to before B. */
static __always_inline __u64 pages_within(__u64 first, __u64 end, __u64 a, __u64 b)
{
	first = first > a ? first : a;
	end = end < b ? end : b;
	return end > first ? end - first : 0;
}

/*
 * This thread's call, which began at CALL_NS, has read the pages from FIRST to before END. Returns how many of them it has
 * inserted; *ALL_RET: all pages that it has inserted.
 */
static __always_inline __u64 inserted_here(const struct dlt_file_id *of, __u64 call_ns, __u64 first, __u64 end, __u64 *all_ret)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_cache_read *slot = cache_read_slot(tid);
	__u64 to, n;

	*all_ret = 0;
	if (!slot || slot->call_ns != call_ns || !cache_read_is_of(slot, tid, of))
		return 0;
	if (slot->end) {
		n = slot->missed;
		to = slot->top < slot->end ? slot->top : slot->end;
		if (to > end) /* it got less than it had asked for: the pages that follow were read ahead */
			n -= to - end < n ? to - end : n;
	} else {
		n = pages_within(slot->first, slot->top, first, end);
	}
	*all_ret = slot->pages;
	slot->call_ns = 0;
	return n;
}

/* See cache_touch(). */
__noinline int cache_touched(__u64 off, __u64 len, __u64 call_ns, __u32 write)
{
	struct cache_range *r = range_get();
	struct file *file = KCAST(file, r ? r->at : 0);
	__u64 mapping = (__u64)KLOAD(file, f_mapping), front = (__u64)KLOAD(file, f_inode);
	__u64 host = load_u64(mapping + bpf_core_field_offset(struct address_space, host));
	__u64 first, end, fresh, pages, missed = 0, all = 0;
	struct inode *inode = KCAST(inode, host);
	struct dlt_cache_cell *cell;
	struct dlt_cache_sums *sums;
	struct dlt_file_id of;

	if (!host || !r)
		return 0;
	if ((KLOAD(inode, i_mode) & MODE_FMT) != MODE_REG)
		return 0;
	cache_id(inode, &of);
	cell = cache_cell(&of);
	if (!cell && host == front) /* the file was cached before its first cell; on overlayfs the inode below has another
				     * identity */
		cell = cache_cell_make(&of, &r->id);
	if (!cell)
		return 0;
	sums = cache_sums(cell);
	first = off >> (dlt_cfg.page_shift & 31);
	end = ((off + len - 1) >> (dlt_cfg.page_shift & 31)) + 1;
	pages = end - first;
	fresh = fresh_take(&of, first, end, CACHE_CALL_CHUNKS);
	if (write) {
		__sync_fetch_and_add(&sums->used, fresh);
		return 0;
	}
	if (call_ns)
		missed = inserted_here(&of, call_ns, first, end, &all);
	else
		missed = fresh;
	if (all)
		__sync_fetch_and_add(&cell->cached, all);
	if (missed > pages)
		missed = pages;
	__sync_fetch_and_add(&sums->read_bytes, len);
	__sync_fetch_and_add(&sums->miss, missed);
	__sync_fetch_and_add(&sums->hit, pages - missed);
	if (all > missed)
		__sync_fetch_and_add(&sums->ahead, all - missed);
	if (!call_ns)
		__sync_fetch_and_add(&sums->used, fresh);
	else if (fresh > missed)
		__sync_fetch_and_add(&sums->used, fresh - missed);
	return 0;
}

/* Returns how many of LEN bytes at OFF lie within FILE, which may be NULL. */
static __always_inline __s64 cache_inside(struct file *file, __s64 off, __s64 len)
{
	struct inode *inode;
	__s64 size;

	if (!dlt_cfg.cache_mask || !file)
		return 0;
	inode = KLOAD(file, f_inode);
	size = KLOAD(inode, i_size);
	return off + len > size ? size - off : len;
}

/*
 * The target has moved LEN bytes at OFF of FILE, which has the identity ID in other rows and was opened with FLAGS. WRITE:
 * it has written them. CALL_NS: when the thread's call began; 0: a request, perhaps carried out by another thread.
 */
static __always_inline void cache_touch(struct file *file, const struct dlt_file_id *id, __u32 flags, __s64 off, __s64 len,
					__u64 call_ns, bool write)
{
	struct cache_range *r;

	if (!dlt_cfg.cache_mask || !file || len <= 0 || off < 0 || flags & O_DIRECT)
		return;
	r = range_get();
	if (!r)
		return;
	r->at = (__u64)file;
	r->id = *id;
	cache_touched(off, len, call_ns, write);
}

#endif
