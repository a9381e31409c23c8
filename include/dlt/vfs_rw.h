/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads and writes: the record of bpf/vfs_rw.bpf.c, and the shapes of its calls. */
#ifndef DLT_VFS_RW_H
#define DLT_VFS_RW_H

#include "dlt/dlt.h"

/* dlt_callinfo.shape */
#define DLT_RW_WRITE 1	/* else read */
#define DLT_RW_POS 2	/* the position is an argument */
#define DLT_RW_VEC 4	/* iovec, count */
#define DLT_RW_RWF 8	/* preadv2, pwritev2: position -1 is the file's own */

struct dlt_vfs_rw {
	struct dlt_hdr hdr;
	struct dlt_file_id id;
	__s64 returned;
	__u64 requested;
	__s64 offset;
	__s64 disk_bytes;
	__s32 fd;
	__u32 f_flags; /* open(2)'s O_* of the file; RWF_* of the call are folded in */
	__u32 write;
	__u32 pad;
};

DLT_ASSERT_SIZE(dlt_vfs_rw, 112);

#endif
