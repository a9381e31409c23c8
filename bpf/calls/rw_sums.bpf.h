/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sums of reads and writes that were short and needed no disk: rw_add.bpf.h adds to them, vfs_rw_sums.bpf.c sends
 * them.
 *
 * Each CPU has places of its own, where nobody else adds: there is no search, and no memory that CPUs share. A key has
 * two places where it may be. Where both are others', and these are in use, the call has a row. One that was not used
 * since another key last wanted it is sent, and its place taken.
 */
#ifndef RW_SUMS_BPF_H
#define RW_SUMS_BPF_H

#include "dlt.bpf.h"

#include "dlt/vfs_rw_sums.h"

/* Of CPU C from element C * DLT_RW_CELLS on. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct dlt_rw_cell);
} dlt_rw_cells SEC(".maps");

static __always_inline struct dlt_rw_cell *rw_cell_at(__u32 i)
{
	return bpf_map_lookup_elem(&dlt_rw_cells, &i);
}

static __always_inline void rw_sums_count(bool sent, __u64 n)
{
	struct dlt_stats *st = stats_of(DLT_vfs_rw_sums);

	if (!st)
		return;
	__sync_fetch_and_add(&st->seen, n);
	__sync_fetch_and_add(sent ? &st->emitted : &st->lost, n);
}

/* Sends what CELL has, whose claim the caller holds, and frees it. Returns false if the ring has no room. */
static __noinline bool rw_cell_send(struct dlt_rw_cell *cell)
{
	void *ring = ring_here();
	struct dlt_vfs_rw_sums *rec = ring ? bpf_ringbuf_reserve(ring, sizeof(*rec), 0) : NULL;

	if (!rec)
		return false;
	rec->hdr.tgid = cell->key.tgid;
	rec->hdr.tid = cell->key.tgid;
	*(__u64 *)rec->hdr.comm = *(__u64 *)cell->comm;
	*(__u64 *)(rec->hdr.comm + 8) = *(__u64 *)(cell->comm + 8);
	rec->hdr.probe = DLT_vfs_rw_sums;
	rec->hdr.func = cell->key.func;
	rec->hdr.size = sizeof(*rec);
	rec->id = cell->key.id;
	__builtin_memcpy(&rec->sum, &cell->sum, sizeof(rec->sum));
	rec->dir = cell->dir;
	rec->pad = 0;
	rec->hdr.ts_ns = bpf_ktime_get_ns(); /* after the reserve, as everywhere */
	rec->hdr.lat_ns = rec->hdr.ts_ns - cell->begin_ns;
	__builtin_memset(&cell->sum, 0, sizeof(cell->sum));
	cell->wanted = 0;
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	rw_sums_count(true, 1);
	return true;
}

#endif
