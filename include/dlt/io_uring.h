/* SPDX-License-Identifier: BSD-2-Clause */
/* io_uring: what bpf/io_uring/io_uring.bpf.c knows about operations, and about requests in flight. */
#ifndef DLT_IO_URING_H
#define DLT_IO_URING_H

#include "dlt/dlt.h"

#define DLT_URING_OPS 64 /* above every known IORING_OP_* (linux/io_uring.h) */

/* By operation; filled by the daemon from the probes' tables. */
struct dlt_uring_op {
	__u8 probe; /* 0: not traced */
	__u8 func;
	__u8 shape; /* of the equivalent system call */
	__u8 pad;
};

/* dlt_uring_req.flags */
#define DLT_URING_FIXED 1 /* the file is one of the ring's, and has no descriptor */
#define DLT_URING_SKIP 2 /* has a row only if it fails (IOSQE_CQE_SKIP_SUCCESS) */
#define DLT_URING_MULTISHOT 4 /* completes more than once */
#define DLT_URING_SHORT 8 /* its record is in the map of short records */
#define DLT_URING_LONG 16 /* ... of long ones */
#define DLT_URING_BY_USER 32 /* is in the map by user_data */

/* A request from its submission to its completion, as if it were the equivalent system call. */
struct dlt_uring_req {
	struct dlt_call call; /* nr: the operation; an fd of DLT_NONE32: none, see DLT_URING_FIXED */
	__u64 ctx; /* the ring, and */
	__u64 user_data; /* user_data, the program's name for the request */
	__u64 requested; /* of reads and writes */
	char comm[DLT_COMM_LEN];
	__s32 fd; /* as passed */
	__u32 file_slot; /* open and close: the slot plus 1; 0: a descriptor */
	__u32 flags;
	__u32 rec_used; /* size of the record kept for it, bytes */
	__u32 head; /* how many entries of the ring had been fetched, with this one */
	__u32 pad;
};

/* Records with paths, kept while their requests run: most fit into a short one. */
#define DLT_URING_SHORT_BYTES 640
#define DLT_URING_LONG_BYTES 8448 /* the fixed part and two whole paths */

/* Requests in flight by user_data, which may not be unique. */
struct dlt_uring_name {
	__u64 ctx, user_data;
};
struct dlt_uring_named {
	__u64 n; /* in flight */
	__u64 sum; /* sum of their addresses: with one in flight, its address */
	__u64 mixed; /* one has ended, but it is not known which; so none is known until all have ended */
};

/* Facts about this kernel's tracepoints, found by the daemon. */
struct dlt_uring_kernel {
	__u8 start_req; /* number of the argument of io_uring_submit_* that is the request */
	__u8 done_req; /* likewise of io_uring_complete; 0: it has none, requests are known by user_data */
	__u8 done_cqe; /* io_uring_complete(ctx, req, cqe), else (..., user_data, res, flags) */
	__u8 failed_req; /* number of the argument of io_uring_req_failed that is the request */
	__u8 fail_link; /* likewise of io_uring_fail_link, of the request that is canceled */
};

DLT_ASSERT_SIZE(dlt_uring_op, 4);
DLT_ASSERT_SIZE(dlt_uring_req, 160);
DLT_ASSERT_SIZE(dlt_uring_kernel, 5);

#endif
