/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that bring a file's data or size to disk: the record of bpf/calls/sync.bpf.c. */
#ifndef DLT_SYNC_H
#define DLT_SYNC_H

#include "dlt/dlt.h"

/* dlt_callinfo.shape */
enum dlt_sync_shape {
	DLT_SYNC_FD, /* fd (fsync, fdatasync, syncfs) */
	DLT_SYNC_NONE, /* sync */
	DLT_SYNC_RANGE, /* fd, offset, length, flags (sync_file_range) */
	DLT_SYNC_MSYNC, /* address, length, flags */
	DLT_SYNC_TRUNCATE, /* path, length */
	DLT_SYNC_FTRUNCATE, /* fd, length */
	DLT_SYNC_FALLOCATE, /* fd, mode, offset, length */
};

struct dlt_sync {
	struct dlt_hdr hdr;
	struct dlt_file_id id;
	struct dlt_segs segs; /* truncate: 0: path as passed; 2: what it is relative to */
	__s64 ret;
	__s64 fd;
	__s64 offset;
	__s64 len;
	__u32 view; /* truncate: see dlt_file */
	__u32 pad;
};

DLT_ASSERT_SIZE(dlt_sync, 112);

#endif
