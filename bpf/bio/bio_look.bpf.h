/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the look at a request's bios is, and what it has found so far: kept for each CPU, as stacks are small. */
#ifndef BIO_LOOK_BPF_H
#define BIO_LOOK_BPF_H

#include "cache/cache.bpf.h"
#include "dlt/bio.h"
#include "file.bpf.h"

extern const volatile struct dlt_bio_kernel kernel;

#define PAGE_BYTES (1U << (kernel.page_shift & 31))
#define PAGE_STRUCT bpf_core_type_size(struct page)
#define NOWHERE (~0ULL)

struct bio_extent {
	__u64 inode; /* 0: the file is not known */
	__u64 off; /* in the file, or in the block device; NOWHERE */
	__u64 sector;
	__u32 bytes, kind;
	__u32 tgid, tid; /* the first writer that is known; 0: none */
};

/* The position of the look at a request. */
struct bio_look {
	__u64 bio; /* the next bio */
	__u64 vecs; /* from here on, of the present bio: struct bio_vec[] */
	__u64 sector;
	__u64 origin; /* the bio that was queued: not this one if this one was split off it */
	__u32 at, done, size; /* vector, its bytes that are done, the rest of the bio in bytes */
	__u32 last, last_len; /* its last vector, and how many bytes of that belong to it; 0: all */
	__u32 op;
	__u32 opf_meta;
	__u32 kind;
	/* of the last page: its mapping, and that mapping's inode, 0: none */
	__u64 mapping, inode;
	__u64 start; /* first sector of the partition, if INODE is a block device */
	__u32 is_file, is_block;
	__u32 is_below; /* a disk above has the request's first bio in flight */
	__u32 is_held; /* the block device is in use: by a file system, md, a program that opened it with O_EXCL */
	/* the extent that grows, and the first one; files by their inodes' addresses, which stay during the look */
	__u64 cur_inode, first_inode;
	__u64 cur_end; /* its end in the file or block device, NOWHERE */
	__s64 first_off;
	__u32 cur_kind, first_kind;
	__u32 extents;
	/* the tasks that dirtied its pages */
	__u64 head_index; /* index of the compound of the last page */
	__u64 cur_index; /* index of the compound in which the extent begins */
	__u64 cur_off; /* begin of the extent */
	__u64 ino, page, from, end_page; /* the pages to look up next */
	__u32 dev;
	__u32 lookups; /* that are left */
	__u32 tgid, tid; /* the first that was found */
	char comm[DLT_COMM_LEN];
	__u32 tgids[DLT_BIO_WRITERS];
	__u32 writers;
	__u32 first_is_known; /* one of the first extent's is known */
	__u32 unknown; /* bytes for files that are not known */
	__u32 busy; /* the program that uses this struct was preempted by the one that runs now */
	struct dlt_file_id id; /* for inode_note() */
	/* for bio_map: the extents; the first sector and the bytes of those without room; the next one to send */
	struct bio_extent map[DLT_BIO_EXTENTS];
	struct bio_extent rest, next;
	__u64 cur_sector;
	__u32 cur_bytes;
	__u32 cur_tgid, cur_tid;
	char disk[DLT_DISK_LEN];
	__u64 private, end_now; /* of the bio */
	/* kept from one bio to the next: most bios are ended by the same function */
	__u64 end;
	__u64 end_kind;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bio_look);
} bio_looks SEC(".maps");

/* Returns what the columns show for an extent of KIND; it is none where kinds are not known. */
static __always_inline __u32 look_kind(const struct bio_look *l, __u32 kind)
{
	return l->is_below && kind ? DLT_BIO_BELOW : kind;
}

static __always_inline struct bio_look *look_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&bio_looks, &zero);
}

#endif
