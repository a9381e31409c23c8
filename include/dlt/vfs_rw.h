/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads and writes: the record of bpf/calls/vfs_rw.bpf.c, and the shapes of its calls. */
#ifndef DLT_VFS_RW_H
#define DLT_VFS_RW_H

#include "dlt/dlt.h"

/* dlt_callinfo.shape: of the calls with one descriptor, bits */
#define DLT_RW_WRITE 1 /* else read */
#define DLT_RW_POS 2 /* the position is an argument */
#define DLT_RW_VEC 4 /* iovec, count */
#define DLT_RW_RWF 8 /* preadv2, pwritev2: flags; position -1 is the file's own */
#define DLT_RW_PRINTS 16 /* a call that programs print with: bpf/calls/printed.bpf.h */
/* of the calls between two */
#define DLT_RW_SENDFILE 0
#define DLT_RW_SPLICE 1
#define DLT_RW_COPY_RANGE 2

#define DLT_IOVS_MAX 1024 /* UIO_MAXIOV, linux/uio.h */
#define DLT_IOCBS_MAX 1024 /* iocbs of one io_submit, events of one io_getevents; more are counted as lost */
#define DLT_IOCB_OPS 9 /* IOCB_CMD_* (linux/aio_abi.h): FUNC is io_submit's own + 1 + the number */

struct dlt_vfs_rw {
	struct dlt_hdr hdr;
	struct dlt_file_id id;
	__s64 returned;
	__u64 requested; /* DLT_NO_SIZE */
	__s64 offset;
	__s64 disk_bytes;
	__s32 fd;
	__u32 f_flags; /* open(2)'s O_* of the file, DLT_RW_NOWAIT from the call */
	__u32 dir; /* enum dlt_rw_dir */
	__u32 pad;
};

enum dlt_rw_dir { DLT_RW_R, DLT_RW_W, DLT_RW_NEITHER /* io_submit's fsync, poll */ };

/* A call between two files is one event with two rows. */
struct dlt_vfs_rw_pair {
	struct dlt_vfs_rw from, to;
};

/* An iocb in flight: the program's name for it is its address. */
struct dlt_aio_key {
	__u64 iocb;
	__u64 ctx; /* aio_context_t */
	__u32 tgid;
	__u32 pad;
};
struct dlt_aio {
	struct dlt_vfs_rw rec; /* except for its result and times */
	__u64 start_ns;
	__u64 early_ns; /* set when its event was reaped before the iocb was noted: then only RES is valid; else 0 */
	__s64 res;
};

DLT_ASSERT_SIZE(dlt_aio_key, 24);

#define DLT_RW_NOWAIT 0x80000000u /* RWF_NOWAIT */

DLT_ASSERT_SIZE(dlt_vfs_rw, 112);
DLT_ASSERT_SIZE(dlt_aio, 136);

#endif
