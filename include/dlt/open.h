/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens: the record of bpf/calls/open.bpf.c. */
#ifndef DLT_OPEN_H
#define DLT_OPEN_H

#include "dlt/dlt.h"

/* dlt_callinfo.shape: where flags and mode are */
#define DLT_OPEN_PLAIN 0 /* path, flags, mode */
#define DLT_OPEN_AT 1 /* dirfd, path, flags, mode */
#define DLT_OPEN_CREAT 2 /* path, mode */
#define DLT_OPEN_HOW 3 /* dirfd, path, struct open_how, size */

#define DLT_OPEN_SNAPSHOT 4 /* FUNC of a file that was open at the join */

struct dlt_open {
	struct dlt_hdr hdr;
	struct dlt_file file; /* ino 0: the open failed */
	struct dlt_segs segs; /* 0: path as passed; 1: path walked; 2: created: what 0 is relative to */
	__s64 ret;
	__s64 flags;
	__s64 mode;
	__s64 vfs_lat_ns;
	__u32 created; /* this call made the file: a row of create_del too */
	__u32 pad;
};

DLT_ASSERT_SIZE(dlt_open, 168);

#endif
