/* SPDX-License-Identifier: BSD-2-Clause */
/* Disk requests: the record of bpf/bio/bio.bpf.c, and what the kernel side keeps until a request is complete. */
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

/* dlt_bio.flags: bits of dltraced, since those of REQ_* differ between kernels */
#define DLT_BIO_SYNC 1
#define DLT_BIO_META 2
#define DLT_BIO_FUA 4
#define DLT_BIO_PREFLUSH 8
#define DLT_BIO_RAHEAD 16
#define DLT_BIO_SELF 32 /* queued by dltraced */
#define DLT_BIO_BIO 64 /* the disk takes bios, not requests */

#define DLT_DISK_LEN 32 /* the kernel's DISK_NAME_LEN */

/* dlt_bio.kind: what a request is for, by the function that ends its first bio */
enum {
	DLT_BIO_KIND_NONE, /* it has no data, or the functions' addresses are not known */
	DLT_BIO_DATA, /* a file's pages: read, read ahead, written back */
	DLT_BIO_DIRECT, /* direct I/O */
	DLT_BIO_METADATA,
	DLT_BIO_JOURNAL,
	DLT_BIO_SWAP,
	DLT_BIO_SUPER,
	DLT_BIO_BELOW, /* of an upper disk: dm, md, nvme multipath */
	DLT_BIO_UNKNOWN,
};

struct dlt_bio {
	struct dlt_hdr hdr; /* pid, tid and name are the submitter's; lat_ns from the queueing */
	__s64 sector; /* DLT_NONE: it has no place on the disk (a flush) */
	__s64 qlat_ns; /* queued to issued */
	__s64 status; /* 0, -errno, DLT_UNKNOWN */
	__s64 flags;
	__s64 done_tgid; /* DLT_UNKNOWN */
	__u32 bytes;
	__u32 type;
	char done_comm[DLT_COMM_LEN];
	char disk[DLT_DISK_LEN];
	struct dlt_file_id id; /* of its first extent, like the rest */
	__s64 file_off; /* DLT_NONE */
	__s64 extents; /* DLT_NONE: no data */
	__s64 writer_tgid; /* who dirtied the first page whose writer is known; DLT_NONE, like the next two */
	__s64 writer_tid;
	__s64 writers; /* different processes among them, up to DLT_BIO_WRITERS */
	char writer_comm[DLT_COMM_LEN];
	__u32 kind;
	__u32 pad;
};
#define DLT_BIO_WRITERS 8

/* An extent of a request that has several: a piece of one file, without a gap. Times are those of its issue. */
struct dlt_bio_map {
	struct dlt_hdr hdr;
	struct dlt_file_id id;
	__s64 sector;
	__s64 file_off; /* DLT_NONE */
	__s64 writer_tgid; /* who dirtied the first page whose writer is known; DLT_NONE */
	__s64 writer_tid;
	__u32 bytes;
	__u32 kind;
	char disk[DLT_DISK_LEN];
};
#define DLT_BIO_EXTENTS 16 /* of a request, with a row each; all further ones share a row */

/* The record of a request that is in flight, and what its completion needs. */
struct dlt_bio_flight {
	struct dlt_bio rec;
	__u64 queued_ns;
	__u64 issued_ns; /* 0: the driver does not have it (not yet, or no longer) */
	__u32 done_bytes;
	__u32 given; /* the driver has had it: it will be a row */
};

#define DLT_BIO_STATUSES 32

/* The pages, among DLT_DIRTIER_PAGES neighbors of a file, that a thread dirtied while they were clean; a bit for each.
 */
#define DLT_DIRTIER_PAGES 64
struct dlt_dirtier {
	__u64 ino; /* 0: free */
	__u64 number; /* of the first page / DLT_DIRTIER_PAGES */
	__u64 known; /* no other thread has dirtied them since */
	__u64 dirty; /* of these, the pages that have not been written back */
	__u32 dev;
	__u32 pages; /* of the folio that was dirtied last: if it has more than an entry, it begins here */
	__u32 tgid, tid;
	char comm[DLT_COMM_LEN];
};
#define DLT_DIRTIER_WAYS 4
struct dlt_dirtiers {
	struct dlt_dirtier way[DLT_DIRTIER_WAYS];
};
#define DLT_DIRTIERS_MIN (1 << 14)
#define DLT_DIRTIERS_MAX (1 << 17)

/* A function that ends bios. */
struct dlt_bio_end {
	__u64 addr;
	__u64 kind; /* DLT_BIO_..., and DLT_BIO_END_... */
};
#define DLT_BIO_END_KIND 0xff
#define DLT_BIO_END_HEAD 0x100 /* that of buffer heads, each of which has its own function for its end */
#define DLT_BIO_END_WAITED                                                                        \
	0x200 /* of any bio that its thread waits for, as for direct I/O on a block device itself \
	       */
#define DLT_BIO_ENDS 56
#define DLT_BIO_RAW_ENDS 5

/* Facts about this kernel's tracepoints, found by the daemon; constants of the object. */
struct dlt_bio_kernel {
	__u8 has_io_start; /* else a request is queued at block_getrq */
	__u8 queue_before_rq; /* block_rq_*(q, rq) */
	__u8 queue_before_bio; /* block_bio_queue(q, bio), block_getrq(q, bio, ...) */
	__u8 status_is_errno; /* in block_rq_complete */
	__s16 status_errno[DLT_BIO_STATUSES]; /* -errno by blk_status_t */
	__u32 n_ends;
	__u32 page_shift;
	__u32 dirtier_mask; /* number of struct dlt_dirtiers, less 1; 0: this kernel does not show who dirties */
	__u32 pad;
	__u64 end_chained; /* bio_chain_endio(), 0: not known */
	__u64 end_direct; /* iomap_dio_bio_end_io() */
	__u64 end_raw[DLT_BIO_RAW_ENDS]; /* of direct I/O on a block device itself, the rest 0 */
	struct dlt_bio_end ends[DLT_BIO_ENDS];
};

DLT_ASSERT_SIZE(dlt_bio, 224);
DLT_ASSERT_SIZE(dlt_bio_map, 136);
DLT_ASSERT_SIZE(dlt_dirtier, 64);
DLT_ASSERT_SIZE(dlt_bio_flight, 248);
DLT_ASSERT_SIZE(dlt_bio_kernel, 4 + 2 * DLT_BIO_STATUSES + 36 + 8 * DLT_BIO_RAW_ENDS + 16 * DLT_BIO_ENDS);

#endif
