/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls about files' metadata: the record of a call and the sums of bpf/calls/meta.bpf.c, which
 * bpf/calls/meta_sums.bpf.c sends.
 */
#ifndef DLT_META_H
#define DLT_META_H

#include "dlt/dlt.h"

#define DLT_META_LONG_NS 1000000 /* a call of that time and more has a row; a shorter one only where all have */
#define DLT_META_CELLS 32768 /* sums; a Python process that imports has some hundred */

/* dlt_call.shape: where the call has its path and its descriptor */
#define DLT_META_FD 0 /* the first argument is a descriptor */
#define DLT_META_PATH 1 /* a path */
#define DLT_META_AT 2 /* a folder's descriptor, and the second a path; without one, the file of the descriptor */
#define DLT_META_CHDIR 3 /* a path, that of the working directory once it has succeeded */
#define DLT_META_SHAPE 3 /* mask of these */
#define DLT_META_IOCTL 4 /* the second argument is a request of ioctl(2), */
#define DLT_META_FCNTL 8 /* or a command of fcntl(2) */

/*
 * dlt_meta_key.request: a request of ioctl(2), or a command of fcntl(2) above its 32 bits, as both begin at 0.
 */
#define DLT_META_NO_REQUEST ((__u64)DLT_NONE)
#define DLT_META_REQUEST(request) ((__u32)(request) ? (__u32)(request) : 1ULL << 62)
#define DLT_META_COMMAND(command) ((__u64)(__u32)(command) << 32)

/* What is summed up together. */
struct dlt_meta_key {
	__u64 folder; /* a hash of its path as passed, or of its inode; 0: none */
	__u64 request;
	__u32 tgid;
	__u32 func; /* index in the probe's table of calls */
};

/* A call; sent for DLT_meta_sums, the name of its key's folder: segments 0 and 2 are its path. */
struct dlt_meta {
	struct dlt_hdr hdr;
	struct dlt_meta_key key;
	struct dlt_file_id id; /* of the descriptor's file */
	__s64 ret;
	__s64 fd;
	struct dlt_segs segs; /* 0: path as passed, 2: the folder that it is relative to */
	__u64 pad;
};

/* dlt_hdr.func of the records for DLT_meta_sums */
enum dlt_meta_record {
	DLT_META_SUMS, /* struct dlt_meta_sums */
	DLT_META_NAME, /* struct dlt_meta */
	DLT_META_FORGET, /* struct dlt_meta_sums without sums: the last record of its key */
};

/* What has been added for a key since its last record; lat_ns in the header is that interval. */
struct dlt_meta_sums {
	struct dlt_hdr hdr;
	struct dlt_meta_key key;
	__u64 count;
	__u64 failed;
	__u64 ns;
	__u64 max_ns;
	__s64 error; /* errno of the last one that failed, DLT_NONE */
	struct dlt_segs segs; /* 0: the folder; filled in by the daemon */
};

/* Sums since the trace began, and what of them and of their near ones has been sent, which only its program writes. */
struct dlt_meta_cell {
	__u64 count;
	__u64 failed;
	__u64 ns;
	__u64 max_ns;
	__u64 sent_count;
	__u64 sent_failed;
	__u64 sent_ns;
	__u64 sent_at_ns; /* CLOCK_MONOTONIC; before the first time, when the cell was made */
	char comm[DLT_COMM_LEN]; /* of the thread that made it */
	__u32 error; /* errno of the last one that failed */
	__u32 named; /* the daemon has the folder's name */
};

/*
 * What one CPU has added besides to the sums of a key, by calls that succeeded: no search, and no line of memory that
 * other CPUs write to. A key whose place is another's has its cell alone.
 */
struct dlt_meta_near {
	__u64 tag; /* of the key (bpf/calls/meta.bpf.h); 0: none */
	__u64 claims; /* how often it was asked for; 0: it is free */
	__u64 count;
	__u64 ns;
	__u64 max_ns;
	__u64 spare[3]; /* a line of memory each */
};
#define DLT_META_NEAR 512 /* of a CPU: 32 KiB */
#define DLT_META_NEAR_CPUS 1024 /* later ones have none */

DLT_ASSERT_SIZE(dlt_meta_near, 64);
DLT_ASSERT_SIZE(dlt_meta_key, 24);
DLT_ASSERT_SIZE(dlt_meta, 120);
DLT_ASSERT_SIZE(dlt_meta_sums, 120);
DLT_ASSERT_SIZE(dlt_meta_cell, 88);

#endif
