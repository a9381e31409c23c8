/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that make, remove or rename names: the record of bpf/create_del.bpf.c. */
#ifndef DLT_CREATE_DEL_H
#define DLT_CREATE_DEL_H

#include "dlt/dlt.h"

/* dlt_callinfo.shape: the order of the arguments; the BPF side has the table. */
enum dlt_cd_shape {
	DLT_CD_MKDIR,	  /* path, mode */
	DLT_CD_MKDIRAT,	  /* dirfd, path, mode */
	DLT_CD_UNLINK,	  /* path (rmdir too) */
	DLT_CD_UNLINKAT,  /* dirfd, path, flags */
	DLT_CD_RENAME,	  /* path, path (link too) */
	DLT_CD_RENAMEAT,  /* dirfd, path, dirfd, path, flags (linkat, renameat2 too) */
	DLT_CD_SYMLINK,	  /* text, path */
	DLT_CD_SYMLINKAT, /* text, dirfd, path */
	DLT_CD_MKNOD,	  /* path, mode */
	DLT_CD_MKNODAT,	  /* dirfd, path, mode */
	DLT_CD_SHAPES,
};
#define DLT_CD_NO_FLAGS 0x80 /* renameat: as DLT_CD_RENAMEAT, without the last argument */

struct dlt_create_del {
	struct dlt_hdr hdr;
	struct dlt_file_id id;
	/* 0, 1: path and path2 as passed; 2, 3: what they are relative to, walked */
	struct dlt_segs segs;
	__s64 ret;
	__s64 mode;
	__s64 flags;
};

DLT_ASSERT_SIZE(dlt_create_del, 96);

#endif
