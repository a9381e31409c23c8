/* SPDX-License-Identifier: BSD-2-Clause */
/* Disk requests: the record of bpf/bio.bpf.c, and what the kernel side keeps until a request is complete. */
#ifndef DLT_BIO_H
#define DLT_BIO_H

#include "dlt/dlt.h"

/* dlt_bio.type: T */
enum {
	DLT_BIO_READ,
	DLT_BIO_WRITE,
	DLT_BIO_DISCARD,
	DLT_BIO_FLUSH,
	DLT_BIO_ZERO,
	DLT_BIO_OTHER,
};

/* dlt_bio.flags: our own bits, since those of REQ_* move between kernels */
#define DLT_BIO_SYNC 1
#define DLT_BIO_META 2
#define DLT_BIO_FUA 4
#define DLT_BIO_PREFLUSH 8
#define DLT_BIO_RAHEAD 16
#define DLT_BIO_SELF 32 /* queued by dltraced */
#define DLT_BIO_BIO 64	/* the disk takes bios, not requests */

#define DLT_DISK_LEN 32 /* the kernel's DISK_NAME_LEN */

struct dlt_bio {
	struct dlt_hdr hdr; /* pid, tid and name are the submitter's; lat_ns from the queueing */
	__s64 sector;	    /* DLT_NONE: it has no place on the disk (a flush) */
	__s64 qlat_ns;	    /* queued to issued */
	__s64 status;	    /* 0, -errno, DLT_UNKNOWN */
	__s64 flags;
	__s64 done_tgid; /* DLT_UNKNOWN */
	__u32 bytes;
	__u32 type;
	char done_comm[DLT_COMM_LEN];
	char disk[DLT_DISK_LEN];
};

/* The record of a request that is in flight, and what its completion needs. */
struct dlt_bio_flight {
	struct dlt_bio rec;
	__u64 queued_ns;
	__u64 issued_ns; /* 0: the driver does not have it (yet, or any more) */
	__u32 done_bytes;
	__u32 given; /* the driver has had it: it will be a row */
};

#define DLT_BIO_STATUSES 32

/* What the daemon found out about this kernel's tracepoints; constants of the object. */
struct dlt_bio_kernel {
	__u8 has_io_start;     /* else a request is queued at block_getrq */
	__u8 queue_before_rq;  /* block_rq_*(q, rq) */
	__u8 queue_before_bio; /* block_bio_queue(q, bio), block_getrq(q, bio, ...) */
	__u8 status_is_errno;  /* in block_rq_complete */
	__s16 status_errno[DLT_BIO_STATUSES]; /* -errno by blk_status_t */
};

DLT_ASSERT_SIZE(dlt_bio, 144);
DLT_ASSERT_SIZE(dlt_bio_flight, 168);
DLT_ASSERT_SIZE(dlt_bio_kernel, 4 + 2 * DLT_BIO_STATUSES);

#endif
