/* SPDX-License-Identifier: BSD-2-Clause */
/* The page cache by file: the record of bpf/cache/cache.bpf.c, and the sums that it, vfs_rw and bio add up. */
#ifndef DLT_CACHE_H
#define DLT_CACHE_H

#include "dlt/dlt.h"

/* In pages, except READ_BYTES: 2^32 pages are 16 TiB between two records. */
struct dlt_cache_sums {
	__u64 read_bytes; /* by calls of the target, through the cache */
	__u32 hit;
	__u32 miss;
	__u32 ahead;
	__u32 used;
	__u32 evicted;
	__u32 wasted;
	__u32 dirtied;
	__u32 written;
};

/* The sums for a file since its last record; lat_ns in the header is that interval, which ends at UNTIL_NS. */
struct dlt_cache {
	struct dlt_hdr hdr;
	struct dlt_file_id id;
	__u64 until_ns; /* CLOCK_MONOTONIC */
	__u64 read_bytes;
	__u64 hit;
	__u64 miss;
	__u64 ahead;
	__u64 used;
	__u64 evicted;
	__u64 wasted;
	__u64 dirtied;
	__s64 written; /* DLT_NONE: bio does not show the files of requests */
};

/*
 * A file's sums, by the inode: what has not been sent, as the sender subtracts what it sends. There are two, used in
 * turn (dlt_shared.cache_turn): where an epoch begins or ends, the other one is added to from then on, so that the
 * sender, who comes later, still finds what was before.
 */
#define DLT_CACHE_TURNS 2
struct dlt_cache_cell {
	__s64 cached; /* pages that have entered and not left */
	struct dlt_cache_sums sums[DLT_CACHE_TURNS];
	struct dlt_file_id id; /* its identity in other rows */
	__u64 owed_ns; /* CLOCK_MONOTONIC: begin of the first interval for which the ring had no room; 0: none */
};
#define DLT_CACHE_CELLS 57344 /* with their buckets 10.6 MiB */

/*
 * Pages of a file that were read ahead and that nothing has touched: a byte for each, as the CPUs that change
 * neighbors share no lock, and older kernels have no atomic operations on bits. The pages are those of a chunk,
 * which may be in any of the ways of one element.
 */
#define DLT_CACHE_CHUNK 128 /* a folio of read-ahead is often as large, and aligned */
#define DLT_CACHE_WAYS 4
struct dlt_cache_key {
	struct dlt_file_id of; /* the inode's; ino 0: free */
	__u64 number; /* of its first page / DLT_CACHE_CHUNK */
	__u64 unused; /* two keys are a cache line of 64 bytes */
};
struct dlt_cache_chunks {
	struct dlt_cache_key key[DLT_CACHE_WAYS];
	__u8 fresh[DLT_CACHE_WAYS * DLT_CACHE_CHUNK]; /* those of each way follow one another */
};
#define DLT_CACHE_CHUNKS_MIN (1U << 12) /* chunks */
#define DLT_CACHE_CHUNKS_MAX (1U << 15)

/*
 * The pages that a thread's read has inserted so far: a cell's sums have them when the call ends. Threads whose numbers
 * have the same remainder share a slot, as those of calls do (dlt_cfg.slot_mask): the earlier read then has no misses.
 */
#define DLT_CACHE_READS_MAX 32768
struct dlt_cache_read {
	__u32 tid; /* 0: none */
	__u32 looked_up; /* dlt_shared.cache_forgets + 1 before the file's cell was looked up; 0: it was not */
	__u64 call_ns; /* start of the call that it belongs to; 0: its pages have been counted */
	struct dlt_file_id of;
	__u64 first, end; /* pages that the call wants */
	__u64 top; /* the page behind the last one that it has inserted */
	__u32 pages; /* that it has inserted, */
	__u32 missed; /* those of them that it wants */
};

DLT_ASSERT_SIZE(dlt_cache, 144);
DLT_ASSERT_SIZE(dlt_cache_chunks, DLT_CACHE_WAYS * 160);
DLT_ASSERT_SIZE(dlt_cache_read, 64);

#endif
