/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page cache by file: sums that several probes add to. cache.bpf.c counts pages that enter and leave, vfs_rw and
 * io_uring those that calls touch, bio those that are written back. A file has a cell from the target's first read, or
 * from the first insertion, on. It is found by the inode, as the page cache is: below overlayfs that of the file with
 * the data.
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
	__u64 fresh; /* fresh pages among those that are done */
	__u64 inserted; /* pages that the call which ends has inserted, */
	__u64 missed; /* and those of them that it has read */
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
static __always_inline struct dlt_cache_cell *cache_cell_make(const struct dlt_file_id *of,
							      const struct dlt_file_id *id)
{
	struct cache_range *r = range_get();
	struct dlt_shared *sh = shared();
	struct dlt_cache_cell *made;
	struct dlt_stats *st;

	if (!r || !sh)
		return NULL;
	r->cell.id = *id;
	if (!bpf_map_update_elem(&dlt_cache_cells, of, &r->cell,
				 BPF_NOEXIST)) /* otherwise another thread may have done so */
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

#endif
