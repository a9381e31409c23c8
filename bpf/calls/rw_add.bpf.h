/* SPDX-License-Identifier: BSD-2-Clause */
/* Adds short reads and writes that needed no disk to the sums of rw_sums.bpf.h. */
#ifndef RW_ADD_BPF_H
#define RW_ADD_BPF_H

#include "calls/rw.bpf.h"
#include "calls/rw_sums.bpf.h"

#define O_DSYNC 010000 /* asm-generic/fcntl.h; O_SYNC has this bit, too */

/*
 * Claims CELL, unless a program has been interrupted at it: by one that runs on this CPU meanwhile, or, for a moment,
 * by the one that sends. Where programs interrupt each other, of those that ask at once at most one sees that it is the
 * first; version 2 of the instructions has no compare and swap.
 */
static __always_inline bool rw_cell_claim(volatile struct dlt_rw_cell *cell)
{
	if (dlt_cfg.hold) {
		if (cell->claims)
			return false;
		cell->claims = 1;
		return true;
	}
	__sync_fetch_and_add(&cell->claims, 1);
	if (cell->claims == 1)
		return true;
	__sync_fetch_and_add(&cell->claims, -1);
	return false;
}

static __always_inline void rw_cell_release(volatile struct dlt_rw_cell *cell)
{
	barrier(); /* what has been added is there before */
	if (dlt_cfg.hold)
		cell->claims = 0;
	else
		__sync_fetch_and_add(&cell->claims, -1);
}

static __always_inline bool rw_cell_is_of(const struct dlt_rw_cell *cell, const struct dlt_rw_key *key)
{
	const __u64 *a = (const __u64 *)&cell->key, *b = (const __u64 *)key;

	return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

/* Makes CELL, which is claimed, the one of KEY. Returns false where it stays another's. */
static __noinline bool rw_cell_take(struct dlt_rw_cell *cell, const struct dlt_rw_key *key)
{
	struct dlt_shared *sh = shared();

	if (!sh || !sh->rw_sums)
		return false; /* nobody would send it */
	if (cell->sum.count) {
		if (cell->wanted != cell->sum.count) { /* it has been used since: rather a row than to and fro */
			cell->wanted = cell->sum.count;
			return false;
		}
		if (!rw_cell_send(cell))
			return false;
	}
	cell->key = *key;
	return true;
}

/* The base-2 logarithm of NS, which is not 0. */
static __always_inline __u32 log2_of(__u32 ns)
{
	__u32 log = 0;

	for (__u32 half = 16; half; half /= 2)
		if (ns >> half) {
			ns >>= half;
			log += half;
		}
	return log;
}

/* Adds a call of NS to the cell at I, if that is KEY's or can become it. Returns whether it did. */
static __always_inline bool rw_cell_add(struct dlt_rw_cell *cell, const struct dlt_rw_key *key,
					const struct dlt_call *call, __u32 ns, long ret)
{
	__u32 bucket = log2_of(ns | 1);

	if (!rw_cell_claim(cell))
		return false;
	if ((!rw_cell_is_of(cell, key) || !cell->sum.count) && !rw_cell_take(cell, key)) {
		rw_cell_release(cell);
		return false;
	}
	if (!cell->sum.count) {
		cell->begin_ns = call->start_ns;
		cell->dir = call->shape & DLT_RW_WRITE ? DLT_RW_W : DLT_RW_R;
		comm_read(cell->comm, task_current());
	}
	cell->sum.count++;
	cell->sum.bytes += ret;
	cell->sum.ns += ns;
	if (cell->sum.max_ns < ns)
		cell->sum.max_ns = ns;
	if (!ret)
		cell->sum.empty++;
	if (bucket < DLT_RW_BUCKETS)
		cell->sum.bucket[bucket]++;
	rw_cell_release(cell);
	return true;
}

/* Adds a call that ends now, after NS, on the file ID. Returns whether it did; else it has a row. */
static __noinline bool rw_add(const struct dlt_call *call, const struct dlt_file_id *id, __u32 ns, long ret)
{
	const struct dlt_rw_key key = { .id = *id, .tgid = call->tgid, .func = call->func };
	const __u64 hash = (id->ino ^ (__u64)call->tgid << 32 ^ (__u64)call->func << 24 ^ id->gen ^ id->dev) *
			   0x9e3779b97f4a7c15ULL;
	const __u32 cpu = bpf_get_smp_processor_id(), at = cpu * DLT_RW_CELLS + (hash >> 32) % DLT_RW_CELLS;
	struct dlt_rw_cell *cell = rw_cell_at(at), *other = rw_cell_at(at ^ 1);
	struct dlt_stats *st = stats_of(DLT_vfs_rw);

	if (!cell || !other || !st)
		return false;
	/* its own; else a free one; else the first */
	if (!rw_cell_is_of(cell, &key) && (rw_cell_is_of(other, &key) || (cell->sum.count && !other->sum.count)))
		cell = other;
	if (!rw_cell_add(cell, &key, call, ns, ret))
		return false;
	st->brief++;
	return true;
}

/*
 * Returns whether a call that has moved RET bytes of FILE, which may be NULL, needs no row, as it is in a sum: it was
 * short, has succeeded, and needed no disk. What goes through pipes, sockets and devices is messages, which have their
 * rows. FLAGS: the call's own besides the file's.
 */
static __always_inline bool rw_summed(const struct dlt_call *call, struct file *file, const struct side *side,
				      __u32 flags, __s64 disk_bytes, long ret)
{
	struct inode *inode;
	__u64 ns;

	if (!dlt_cfg.brief_ns || ret < 0 || disk_bytes || !file || (side->f_flags | flags) & (O_DIRECT | O_DSYNC))
		return false;
	inode = KLOAD(file, f_inode);
	if ((KLOAD(inode, i_mode) & MODE_FMT) != MODE_REG)
		return false;
	ns = bpf_ktime_get_ns() - call->start_ns;
	return ns < dlt_cfg.brief_ns && rw_add(call, &side->id, ns, ret);
}

#endif
