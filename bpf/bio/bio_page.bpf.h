/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The place of a page in its file, or in its block device.
 *
 * A page may belong to another file than the request: direct I/O into a mapped file, or into shared memory. So a file
 * counts only where the page is being read (not up to date) or written back; for direct I/O only what was noted about
 * its bio when it was queued counts.
 */
#ifndef BIO_PAGE_BPF_H
#define BIO_PAGE_BPF_H

#include "bio/bio_look.bpf.h"

/* Returns the first sector of the block device whose inode is at ADDR; its page cache's index begins there. */
struct bdev_inode___dlt {
	struct block_device bdev;
	struct inode vfs_inode;
} __attribute__((preserve_access_index));
struct hd_struct___v5_10 {
	__u64 start_sect;
} __attribute__((preserve_access_index));
struct block_device___v5_10 {
	struct hd_struct___v5_10 *bd_part;
} __attribute__((preserve_access_index));

static __always_inline __u64 bdev_start(__u64 addr)
{
	struct block_device___dlt *bdev;
	struct block_device___v5_10 *old;

	if (!bpf_core_field_exists(struct bdev_inode___dlt, vfs_inode))
		return NOWHERE;
	bdev = (void *)(addr - bpf_core_field_offset(struct bdev_inode___dlt, vfs_inode));
	old = (void *)bdev;
	if (bpf_core_field_exists(bdev->bd_start_sect))
		return BPF_CORE_READ(bdev, bd_start_sect);
	if (bpf_core_field_exists(old->bd_part))
		return BPF_CORE_READ(old, bd_part, start_sect);
	return NOWHERE;
}

/* Whether the block device whose inode is at ADDR is in use. True where that cannot be read. */
static __always_inline bool bdev_inode_is_held(__u64 addr)
{
	if (!bpf_core_field_exists(struct bdev_inode___dlt, vfs_inode))
		return true;
	return bdev_is_held(addr - bpf_core_field_offset(struct bdev_inode___dlt, vfs_inode));
}

/* Makes L->inode, id and the rest those of MAPPING, which a page of the request has. */
static __always_inline void mapping_note(struct bio_look *l, __u64 mapping)
{
	struct inode *inode;
	__u32 fmt;

	if (mapping == l->mapping)
		return;
	l->mapping = mapping;
	l->inode = 0;
	l->is_file = l->is_block = 0;
	if (!mapping || mapping & 3) /* anonymous, movable: linux/page-flags.h */
		return;
	l->inode = load_u64(mapping + bpf_core_field_offset(struct address_space, host));
	/* otherwise it is not a page of the page cache, and the word means something else */
	if (l->inode + bpf_core_field_offset(struct inode, i_data) != mapping) {
		l->inode = 0;
		return;
	}
	inode = KCAST(inode, l->inode);
	fmt = KLOAD(inode, i_mode) & MODE_FMT;
	l->is_file = fmt == MODE_REG || fmt == MODE_LNK;
	l->is_block = fmt == MODE_BLK;
	if (l->is_block) {
		l->start = bdev_start(l->inode);
		l->is_held = bdev_inode_is_held(l->inode);
	}
}

/* Returns the place in L->inode of byte IN of the page at PAGE; NOWHERE if the page cannot be the request's. */
__noinline __u64 page_place(__u64 page, __u32 in)
{
	struct bio_look *l = look_get();
	__u64 head, flags, index;

	if (!l)
		return NOWHERE;
	head = page_head(page);
	mapping_note(l, head_mapping(head));
	if (!l->inode)
		return NOWHERE;
	if (!l->is_block) { /* jbd2 writes its pages without the flag */
		flags = load_u64(head);
		if (l->op == DLT_BIO_WRITE ? !PAGE_HAS(flags, writeback) : PAGE_HAS(flags, uptodate))
			return NOWHERE;
	}
	l->head_index = head_index(head);
	index = l->head_index + (page - head) / PAGE_STRUCT;
	return (index << (kernel.page_shift & 31)) + in;
}

/* Returns the page that has byte IN of VEC, and in *IN_RET its place there. */
static __always_inline __u64 vec_page(const struct bio_vec *vec, __u32 in, __u32 *in_ret)
{
	__u32 at = vec->bv_offset + in;

	*in_ret = at & (PAGE_BYTES - 1);
	return (__u64)vec->bv_page + (__u64)(at >> (kernel.page_shift & 31)) * PAGE_STRUCT;
}

static __always_inline void vec_read(const struct bio_look *l, __u32 i, struct bio_vec *vec)
{
	bpf_probe_read_kernel(vec, sizeof(*vec), (void *)(l->vecs + (__u64)i * sizeof(*vec)));
}

#endif
