/* SPDX-License-Identifier: BSD-2-Clause */
/* Extents of a request: pieces of one file each, without a gap. Bytes that follow one another are added to the last. */
#ifndef BIO_EXTENT_BPF_H
#define BIO_EXTENT_BPF_H

#include "bio/bio_dirtier.bpf.h"
#include "bio/bio_page.bpf.h"

/* Returns the kind of L's present bytes, which lie at OFF of L->inode; NOWHERE: in an unknown file. */
static __always_inline __u32 kind_of(const struct bio_look *l, __u64 off)
{
	if (l->kind == DLT_BIO_METADATA && l->inode && l->is_file)
		return DLT_BIO_DATA; /* by buffer heads */
	if (l->kind == DLT_BIO_DATA && l->inode && !l->is_file && !l->is_block)
		return DLT_BIO_METADATA; /* f2fs: pages of a folder */
	if ((l->kind == DLT_BIO_DATA || l->kind == DLT_BIO_UNKNOWN) && l->opf_meta)
		return DLT_BIO_METADATA; /* btrfs: these are pages of its own inode, which looks like a file's */
	if (l->kind == DLT_BIO_METADATA && l->is_block && !l->is_held && !l->opf_meta)
		return DLT_BIO_DATA; /* it has no file system: a program reads or writes the device itself */
	/* a block's own place is its place in the device: a write to another place is a copy */
	if (l->kind == DLT_BIO_METADATA && l->op == DLT_BIO_WRITE && l->inode && l->is_block && off != NOWHERE &&
	    l->start != NOWHERE && off >> 9 != l->sector - l->start)
		return DLT_BIO_JOURNAL;
	return l->kind;
}

/* The extent that L has just ended is written back: adds its pages to the file's sum. */
__noinline int extent_written(void)
{
	struct bio_look *l = look_get();
	struct dlt_cache_cell *cell;
	struct dlt_file_id of;

	if (!l)
		return 0;
	cache_id(KCAST(inode, l->cur_inode), &of);
	cell = cache_cell(&of);
	if (cell)
		__sync_fetch_and_add(&cache_sums(cell)->written,
				     ((l->cur_end + PAGE_BYTES - 1) >> (kernel.page_shift & 31)) -
					     (l->cur_off >> (kernel.page_shift & 31)));
	return 0;
}

/* Returns extent I. The asm keeps clang from omitting the mask: the verifier does not see that I is small enough. */
static __always_inline struct bio_extent *extent_at(struct bio_look *l, __u32 i)
{
	asm volatile("" : "+r"(i));
	return &l->map[i & (DLT_BIO_EXTENTS - 1)];
}

static __always_inline void extent_map(struct bio_look *l)
{
	__u32 i = l->extents - 1;
	struct bio_extent *e;

	if (i >= DLT_BIO_EXTENTS) {
		if (i == DLT_BIO_EXTENTS)
			l->rest =
				(struct bio_extent){ .off = NOWHERE, .sector = l->cur_sector, .kind = DLT_BIO_UNKNOWN };
		l->rest.bytes += l->cur_bytes;
		return;
	}
	e = extent_at(l, i);
	e->kind = l->cur_kind;
	e->sector = l->cur_sector;
	e->bytes = l->cur_bytes;
	e->inode = l->cur_inode;
	e->off = l->cur_off;
	e->tgid = l->cur_tgid;
	e->tid = l->cur_tid;
}

/* The extent of L has ended: looks up which tasks dirtied its pages. */
static __always_inline void extent_written_by(struct bio_look *l)
{
	if (dlt_cfg.cache_mask && l->op == DLT_BIO_WRITE && l->cur_inode && l->cur_kind == DLT_BIO_DATA && !l->is_below)
		extent_written();
	if (!kernel.dirtier_mask || l->op != DLT_BIO_WRITE || !l->cur_inode || l->cur_kind == DLT_BIO_DIRECT)
		return;
	writers_look();
	if (l->extents == 1)
		l->first_is_known = l->writers;
}

static __always_inline void extent_end(struct bio_look *l)
{
	extent_written_by(l);
	if (traces(DLT_bio_map))
		extent_map(l);
}

/*
 * Adds the next LEN bytes of the bio, which lie at OFF of INODE, or of a block device where that is 0; NOWHERE: the
 * file is not known.
 */
static __always_inline void extent_add(struct bio_look *l, __u32 kind, __u64 inode, __u64 off, __u32 len)
{
	bool follows = l->extents && l->cur_kind == kind && l->cur_inode == inode && l->cur_end == off;

	if (l->extents && !follows)
		extent_end(l);
	l->cur_end = off == NOWHERE ? NOWHERE : off + len;
	l->cur_bytes = follows ? l->cur_bytes + len : len;
	if (off == NOWHERE && (kind <= DLT_BIO_DIRECT || kind >= DLT_BIO_BELOW))
		l->unknown += len;
	if (follows)
		return;
	l->cur_kind = kind;
	l->cur_inode = inode;
	l->cur_off = off;
	l->cur_index = l->head_index;
	l->cur_sector = l->sector;
	l->cur_tgid = l->cur_tid = 0;
	if (!l->extents) {
		l->first_kind = kind;
		l->first_inode = inode;
		l->first_off = off == NOWHERE ? DLT_NONE : (__s64)off;
	}
	l->extents++;
}

/* As above, for pages that were looked at. */
static __always_inline void pages_add(struct bio_look *l, __u64 off, __u32 len)
{
	__u32 kind = kind_of(l, off);
	bool of_file = off != NOWHERE && l->is_file && kind != DLT_BIO_METADATA;
	bool of_device = off != NOWHERE && l->is_block && kind == DLT_BIO_DATA;

	extent_add(l, kind, of_file ? l->inode : 0, of_file || of_device ? off : NOWHERE, len);
}

#endif
