/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that make, remove or rename names: the record of bpf/calls/create_del.bpf.c. */
#ifndef DLT_CREATE_DEL_H
#define DLT_CREATE_DEL_H

#include "dlt/dlt.h"

/* dlt_callinfo.shape: the order of the arguments; the BPF side has the table. */
enum dlt_cd_shape {
	DLT_CD_MKDIR, /* path, mode */
	DLT_CD_MKDIRAT, /* dirfd, path, mode */
	DLT_CD_UNLINK, /* path (also rmdir) */
	DLT_CD_UNLINKAT, /* dirfd, path, flags */
	DLT_CD_RENAME, /* path, path (also link) */
	DLT_CD_RENAMEAT, /* dirfd, path, dirfd, path, flags (also linkat, renameat2) */
	DLT_CD_SYMLINK, /* text, path */
	DLT_CD_SYMLINKAT, /* text, dirfd, path */
	DLT_CD_MKNOD, /* path, mode */
	DLT_CD_MKNODAT, /* dirfd, path, mode */
	DLT_CD_SHAPES,
};
#define DLT_CD_NO_FLAGS 0x80 /* renameat: like DLT_CD_RENAMEAT, without the last argument */

struct dlt_create_del {
	struct dlt_hdr hdr;
	struct dlt_file_id id;
	/* 0, 1: path and path2 as passed; 2, 3: the folders that they are relative to, walked */
	struct dlt_segs segs;
	__s64 ret;
	__s64 mode;
	__s64 flags;
	__u32 view; /* see dlt_file */
	__u32 named; /* enum dlt_cd_named */
};

/* Whether there was a record of the files that the kernel found by the paths; in a row, what its FID is known by. */
enum dlt_cd_named {
	DLT_CD_NAMED_NONE, /* the function is not hooked, or the call did not reach it */
	DLT_CD_NAMED_SENT,
	DLT_CD_NAMED_LOST, /* there was no room for it */
	DLT_CD_NAMED_PATH, /* of a row: none, and the file is that last known by the path as passed */
};

/*
 * The files of the names of a call in flight, by the dentries that the kernel had looked up: links are followed, and
 * the calling process does not matter. Sent during the call, with TIMESTAMP - LAT_NS as its start.
 */
#define DLT_CD_FUNC_NAMED 0xffff /* dlt_hdr.func, with the number of no call */
struct dlt_cd_names {
	struct dlt_hdr hdr;
	struct {
		struct dlt_file_id id; /* ino 0: no file has the name */
		__u32 mode; /* i_mode */
		__u32 links; /* i_nlink */
		__u32 flags; /* DLT_PATH_* of the path */
		__u32 pad;
	} file[2]; /* of the first and the second path */
	struct dlt_segs segs; /* 0, 1: the paths, walked */
};

DLT_ASSERT_SIZE(dlt_create_del, 104);
DLT_ASSERT_SIZE(dlt_cd_names, 120);

#endif
