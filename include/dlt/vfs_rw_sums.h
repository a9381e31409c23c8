/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums of short reads and writes: what bpf/calls/rw_sums.bpf.h adds up, and the record of it. */
#ifndef DLT_VFS_RW_SUMS_H
#define DLT_VFS_RW_SUMS_H

#include "dlt/dlt.h"
#include "dlt/vfs_rw.h"

#define DLT_RW_BRIEF_MAX_NS 1000000000 /* a call as long as this has a row, whatever the option says */
#define DLT_RW_BUCKETS 30 /* bucket N: from 2^N ns to less than 2^(N + 1); the last one holds 1 s */

/* What is added up together, on one CPU. */
struct dlt_rw_key {
	struct dlt_file_id id;
	__u32 tgid;
	__u32 func; /* index in the table of calls of vfs_rw */
};

struct dlt_rw_sum {
	__u64 count;
	__u64 bytes;
	__u64 ns;
	__u64 max_ns;
	__u64 empty; /* calls that moved no bytes */
	__u32 bucket[DLT_RW_BUCKETS]; /* calls by their latency */
};

/*
 * A sum on its CPU, where alone programs add to it. It belongs to one key until another one needs the place: see
 * bpf/calls/rw_sums.bpf.h. COUNT 0: the place is free.
 */
struct dlt_rw_cell {
	struct dlt_rw_key key;
	__u64 claims; /* how many programs are at it: at most one goes on */
	struct dlt_rw_sum sum;
	__u64 wanted; /* COUNT when another key last found no place */
	__u64 begin_ns; /* CLOCK_MONOTONIC, when its first call began */
	char comm[DLT_COMM_LEN]; /* of the thread that made it */
	__u32 dir; /* enum dlt_rw_dir */
	__u32 pad;
	__u64 spare[3]; /* what each call needs lies in one line of memory */
};
#define DLT_RW_CELLS 512 /* of a CPU: 128 KiB */
#define DLT_RW_CELL_CPUS 1024 /* calls on later ones all have rows */

/* hdr.lat_ns: the time from the first call's begin on. */
struct dlt_vfs_rw_sums {
	struct dlt_hdr hdr;
	struct dlt_file_id id;
	struct dlt_rw_sum sum;
	__u32 dir;
	__u32 pad;
};

DLT_ASSERT_SIZE(dlt_rw_key, 24);
DLT_ASSERT_SIZE(dlt_rw_sum, 160);
DLT_ASSERT_SIZE(dlt_rw_cell, 256);
DLT_ASSERT_SIZE(dlt_vfs_rw_sums, 232);

#endif
