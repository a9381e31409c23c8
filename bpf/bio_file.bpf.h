/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which file a request is for, and the place in that file. The request's bios name pages, and a page of the page cache names
 * its file and its place there. At issue the pages stay as they are: they are locked (reads) or under write-back (writes),
 * and no requests are merged any more.
 *
 * This looks at the two ends of each bio. If both have the same file, and are as far apart in it as in the bio, the bio is
 * one extent (compared with a look at each page: equal results, at a fortieth of the cost). Otherwise it looks at each
 * vector of the bio, again by its two ends, and only where these disagree at each page.
 *
 * A page may belong to another file than the request: direct I/O into a mapped file, or into shared memory. So a file counts
 * only where the page is being read (not up to date) or written back; for direct I/O only what was noted about its bio when
 * it was queued counts.
 */
#ifndef BIO_FILE_BPF_H
#define BIO_FILE_BPF_H

/* The buffer for names must be its own: other programs may preempt this one, and it may preempt them. */
#define dlt_scratch bio_scratch
/* What it has sent is its own, too: a process that opens the file sends the path that it uses. */
#define dlt_seen bio_seen
#include "file.bpf.h"

#include "cache.bpf.h"
#include "dlt/bio.h"

extern const volatile struct dlt_bio_kernel kernel;

#define LOOKUPS 320 /* pages of a request whose dirtier is looked up: 1.25 MiB */
#define BIOS_OF_REQUEST 1024 /* merged: 4 MiB in pages */
#define VECS_OF_BIO 2048
#define STEPS_AT_ONCE 32
#define PAGE_BYTES (1U << (kernel.page_shift & 31))
#define PAGE_STRUCT bpf_core_type_size(struct page)
#define NOWHERE (~0ULL)

#define MODE_BLK 0060000
#define MODE_LNK 0120000
#define MODE_DIR 0040000

struct bio_extent {
	__u64 inode; /* 0: the file is not known */
	__u64 off;   /* in the file, or in the block device; NOWHERE */
	__u64 sector;
	__u32 bytes, kind;
	__u32 tgid, tid; /* the first writer that is known; 0: none */
};

/* The position of the look at a request. */
struct bio_look {
	__u64 bio;  /* the next bio */
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
	__u32 is_held; /* the block device is in use: by a file system, md, a program that opened it with O_EXCL */
	/* the extent that grows, and the first one; files by their inodes' addresses, which stay during the look */
	__u64 cur_inode, first_inode;
	__u64 cur_end; /* its end in the file or block device, NOWHERE */
	__s64 first_off;
	__u32 cur_kind, first_kind;
	__u32 extents;
	/* the tasks that dirtied its pages */
	__u64 head_index;      /* index of the compound of the last page */
	__u64 cur_index;       /* index of the compound in which the extent begins */
	__u64 cur_off;	       /* begin of the extent */
	__u64 ino, page, from, end_page; /* the pages to look up next */
	__u32 dev;
	__u32 lookups;	       /* that are left */
	__u32 tgid, tid;       /* the first that was found */
	char comm[DLT_COMM_LEN];
	__u32 tgids[DLT_BIO_WRITERS];
	__u32 writers;
	__u32 first_is_known;  /* one of the first extent's is known */
	__u32 unknown; /* bytes for files that are not known */
	__u32 busy;    /* the program that uses this struct was preempted by the one that runs now */
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

static __always_inline struct bio_look *look_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&bio_looks, &zero);
}

/* --- direct I/O: what is noted when a bio is queued --------------------------------------------- */

/* Found by the address of the bio. */
struct bio_direct {
	__u64 bio; /* 0: none */
	__u64 sector;
	__u64 off; /* of that sector, in the file or block device; NOWHERE */
	__u64 inode; /* the inode, which is open until the bio is done; 0: the block device itself */
	__u32 bytes;
	__u32 tgid, tid;
	__u32 pad;
	char comm[DLT_COMM_LEN];
};

#define DIRECT_SLOTS 65536
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DIRECT_SLOTS);
	__type(key, __u32);
	__type(value, struct bio_direct);
} bio_directs SEC(".maps");

static __always_inline struct bio_direct *direct_slot(__u64 bio)
{
	__u32 i = (bio * 0x9e3779b97f4a7c15ULL >> 40) & (DIRECT_SLOTS - 1);

	return bpf_map_lookup_elem(&bio_directs, &i);
}

/* 7.2 adds a bio's bytes to those of the call only after it has been queued: at the hook, the first bio finds 0. */
__u32 direct_counts_later;

/* --- pages -------------------------------------------------------------------------------------- */

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
	l->is_file = fmt == MODE_REG || fmt == MODE_LNK || fmt == MODE_DIR;
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

/* --- which task dirtied pages ------------------------------------------------------------------- */

/* Found by the number of a page; the daemon sets their number. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dlt_dirtier);
} bio_dirtiers SEC(".maps");

/* A page has two slots. In the first, neighbors lie side by side, so two files may collide there over long stretches. */
static __always_inline struct dlt_dirtier *dirtier_slot(__u64 ino, __u32 dev, __u64 index, bool second)
{
	__u32 hash = (__u32)((ino * 0x9e3779b97f4a7c15ULL >> 32) + dev * 31 + index), i;

	i = (second ? hash * 0x9e3779b1 >> 7 : hash) & kernel.dirtier_mask;
	return bpf_map_lookup_elem(&bio_dirtiers, &i);
}

static __always_inline bool dirtier_is_of(const struct dlt_dirtier *d, __u64 ino, __u32 dev, __u64 index)
{
	return d->ino == ino && d->index == index && d->dev == dev;
}

/* Returns the slot of the page, NULL: none. */
static __always_inline struct dlt_dirtier *dirtier_find(__u64 ino, __u32 dev, __u64 index)
{
	struct dlt_dirtier *d = dirtier_slot(ino, dev, index, false);

	if (d && dirtier_is_of(d, ino, dev, index))
		return d;
	d = dirtier_slot(ino, dev, index, true);
	return d && dirtier_is_of(d, ino, dev, index) ? d : NULL;
}

/* Returns a slot for the page, which has none. *LOST_RET: the slot forgets another page, which has not been written back. */
static __always_inline struct dlt_dirtier *dirtier_free(__u64 ino, __u32 dev, __u64 index, bool *lost_ret)
{
	struct dlt_dirtier *first = dirtier_slot(ino, dev, index, false), *second;

	*lost_ret = false;
	if (!first || !first->ino || first->looked)
		return first;
	second = dirtier_slot(ino, dev, index, true);
	*lost_ret = second && second->ino && !second->looked;
	return second;
}

/*
 * The current task makes FOLIO of INODE, which was clean, dirty. This runs for each such folio on the machine, so it does
 * nothing else.
 */
static __always_inline void dirtier_note(__u64 folio, struct inode *inode)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid(), ino = inode->i_ino, index;
	__u32 dev = inode->i_sb->s_dev;
	struct dlt_dirtier *d;
	struct dlt_stats *st;
	bool lost = false;

	if ((inode->i_mode & MODE_FMT) != MODE_REG)
		return;
	index = head_index(folio);
	/*
	 * mostly the first slot is enough: the second is anywhere in memory, and to look there, too, was 80 % of the cost.
	 * If the second has the page from an earlier time, the first is found before it.
	 */
	d = dirtier_slot(ino, dev, index, false);
	if (!d || !(dirtier_is_of(d, ino, dev, index) || (!dlt_cfg.owned && (!d->ino || d->looked))))
		d = dirtier_find(ino, dev, index);
	if (dlt_cfg.owned && !target_has(pid_tgid >> 32)) {
		if (d)
			d->ino = 0;
		return;
	}
	if (!d)
		d = dirtier_free(ino, dev, index, &lost);
	if (!d)
		return;
	if (lost) {
		st = stats_of(DLT_bio);
		if (st)
			st->overwritten++;
	}
	d->ino = ino;
	d->index = index;
	d->dev = dev;
	d->pages = head_pages(folio);
	d->tgid = pid_tgid >> 32;
	d->tid = (__u32)pid_tgid;
	d->looked = 0;
	comm_read(d->comm, task_current());
}

static __always_inline void writer_add(struct bio_look *l, __u32 tgid, __u32 tid, const char *comm)
{
	if (!l->writers) {
		l->tgid = tgid;
		l->tid = tid;
		__builtin_memcpy(l->comm, comm, DLT_COMM_LEN);
	}
	for (__u32 i = 0; i < DLT_BIO_WRITERS; i++) {
		if (i >= l->writers) {
			l->tgids[i] = tgid;
			l->writers = i + 1;
			return;
		}
		if (l->tgids[i] == tgid)
			return;
	}
}

static __always_inline void extent_writer(struct bio_look *l, __u32 tgid, __u32 tid)
{
	if (l->cur_tgid)
		return;
	l->cur_tgid = tgid;
	l->cur_tid = tid;
}

/* Looks up the next of L's pages. Nonzero: there is none. */
__noinline int writer_step(void)
{
	struct bio_look *l = look_get();
	struct dlt_dirtier *d;

	if (!l || l->page >= l->end_page || !l->lookups)
		return 1;
	l->lookups--;
	d = dirtier_find(l->ino, l->dev, l->page);
	if (d) {
		d->looked = 1;
		/* the extent may begin after the end of the pages dirtied before it */
		if (l->page + d->pages > l->from) {
			writer_add(l, d->tgid, d->tid, d->comm);
			extent_writer(l, d->tgid, d->tid);
		}
		l->page += d->pages;
	} else {
		l->page++;
	}
	if (l->page < l->from)
		l->page = l->from;
	return 0;
}

/* Looks up the writers of the extent that L has just ended. */
__noinline int writers_look(void)
{
	struct bio_look *l = look_get();
	struct super_block *sb;
	struct inode *inode;

	if (!l)
		return 0;
	inode = KCAST(inode, l->cur_inode);
	sb = KLOAD(inode, i_sb);
	l->ino = inode_ino(inode);
	l->dev = KLOAD(sb, s_dev);
	l->page = l->cur_index; /* in a compound, the first page was noted */
	l->from = l->cur_off >> (kernel.page_shift & 31);
	l->end_page = (l->cur_end + PAGE_BYTES - 1) >> (kernel.page_shift & 31);
	for (int i = 0; i < LOOKUPS; i++)
		if (writer_step())
			break;
	return 0;
}

/* --- extents ------------------------------------------------------------------------------------ */

/* Returns the kind of L's present bytes, which lie at OFF of L->inode; NOWHERE: in an unknown file. */
static __always_inline __u32 kind_of(const struct bio_look *l, __u64 off)
{
	if (l->kind == DLT_BIO_METADATA && l->inode && l->is_file)
		return DLT_BIO_DATA; /* by buffer heads */
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
		__sync_fetch_and_add(&cell->sums.written, ((l->cur_end + PAGE_BYTES - 1) >> (kernel.page_shift & 31)) -
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
			l->rest = (struct bio_extent){ .off = NOWHERE, .sector = l->cur_sector, .kind = DLT_BIO_UNKNOWN };
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
	if (dlt_cfg.cache_mask && l->op == DLT_BIO_WRITE && l->cur_inode && l->cur_kind == DLT_BIO_DATA)
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
	if (dlt_cfg.bio_map)
		extent_map(l);
}

/*
 * Adds the next LEN bytes of the bio, which lie at OFF of INODE, or of a block device where that is 0; NOWHERE: the file is
 * not known.
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

/* --- a bio -------------------------------------------------------------------------------------- */

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

/*
 * If the bytes from FROM of the vector A to before TO of the vector B, LEN in all, are one extent, adds it and returns true.
 */
static __always_inline bool ends_agree(struct bio_look *l, const struct bio_vec *a, __u32 from, const struct bio_vec *b,
				       __u32 to, __u32 len)
{
	__u64 page, inode, off, last;
	__u32 in;

	page = vec_page(b, to - 1, &in);
	last = page_place(page, in);
	inode = last == NOWHERE ? 0 : l->inode;
	page = vec_page(a, from, &in);
	off = page_place(page, in);
	if ((off == NOWHERE ? 0 : l->inode) != inode || (inode && last - off != len - 1))
		return false;
	pages_add(l, off, len);
	return true;
}

/* Adds the next piece of a bio whose ends disagree. Nonzero: there is none. */
__noinline int vec_step(void)
{
	struct bio_look *l = look_get();
	struct bio_vec vec = {};
	__u32 len, in;
	__u64 page;

	if (!l || !l->size)
		return 1;
	vec_read(l, l->at, &vec);
	if (vec.bv_len <= l->done)
		return 1;
	len = vec.bv_len - l->done;
	if (len > l->size)
		len = l->size;
	if (!ends_agree(l, &vec, l->done, &vec, l->done + len, len)) {
		page = vec_page(&vec, l->done, &in);
		if (len > PAGE_BYTES - in)
			len = PAGE_BYTES - in;
		pages_add(l, page_place(page, in), len);
	}
	l->size -= len;
	l->sector += len >> 9;
	l->done += len;
	if (l->done >= vec.bv_len) {
		l->done = 0;
		l->at++;
	}
	return 0;
}

__noinline int vec_steps(void)
{
	for (int i = 0; i < STEPS_AT_ONCE; i++)
		if (vec_step())
			return 1;
	return 0;
}

/* Adds the whole bio if its two ends agree, and returns whether they do. */
static __always_inline bool bio_by_ends(struct bio_look *l)
{
	struct bio_vec a = {}, b = {};
	__u32 to;

	if (l->last < l->at || l->last > VECS_OF_BIO)
		return false;
	vec_read(l, l->at, &a);
	vec_read(l, l->last, &b);
	to = l->last_len ?: l->last == l->at ? l->done + l->size : b.bv_len;
	return to && to <= b.bv_len && ends_agree(l, &a, l->done, &b, to, l->size);
}

static __always_inline void direct_add(struct bio_look *l)
{
	struct bio_direct *d = direct_slot(l->origin);
	__u64 ahead = d ? (l->sector - d->sector) * 512 : 0;

	/* the slot belongs to another bio, or to an earlier one with this address */
	if (!d || d->bio != l->origin || l->sector < d->sector || ahead + l->size > d->bytes) {
		extent_add(l, l->kind, 0, NOWHERE, l->size);
		return;
	}
	extent_add(l, l->kind, d->inode, d->off == NOWHERE ? NOWHERE : d->off + ahead, l->size);
	if (l->op == DLT_BIO_WRITE) {
		writer_add(l, d->tgid, d->tid, d->comm);
		extent_writer(l, d->tgid, d->tid);
	}
}

/* Returns what the function at END ends: the kind, and DLT_BIO_END_*. */
__noinline __u64 end_find(__u64 end)
{
	__u32 i;

	for (i = 0; i < DLT_BIO_ENDS && i < kernel.n_ends; i++)
		if (kernel.ends[i].addr == end)
			return kernel.ends[i].kind;
	return kernel.n_ends ? DLT_BIO_UNKNOWN : DLT_BIO_KIND_NONE;
}

/* In the bio of a buffer head: the journal has its own function for these. 7.2 has it in the bio. */
struct buffer_head___v7_1 {
	void *b_end_io;
} __attribute__((preserve_access_index));

static __always_inline __u32 head_kind(__u64 head)
{
	__u64 end = 0;

	if (bpf_core_field_exists(struct buffer_head___v7_1, b_end_io))
		end = load_u64(head + bpf_core_field_offset(struct buffer_head___v7_1, b_end_io));
	return end && end_find(end) == DLT_BIO_JOURNAL ? DLT_BIO_JOURNAL : DLT_BIO_METADATA;
}

/*
 * For a bio that its thread waits for: in direct I/O on a block device the buffer is the program's own memory; except for
 * pages on their way to swap space.
 */
static __always_inline __u32 waited_kind(const struct bio_look *l)
{
	struct bio_vec vec = {};
	__u64 head, flags;
	__u32 in;

	vec_read(l, l->at, &vec);
	head = page_head(vec_page(&vec, l->done, &in));
	if ((head_mapping(head) & 3) != 1) /* PAGE_MAPPING_ANON, linux/page-flags.h */
		return DLT_BIO_UNKNOWN;
	flags = load_u64(head);
	return l->op == DLT_BIO_WRITE && PAGE_HAS(flags, swapcache) && PAGE_HAS(flags, writeback) ? DLT_BIO_SWAP : DLT_BIO_DIRECT;
}

/*
 * Sets LOOK->kind, by the function that ends the bio. A function of its own: values from memory are plain numbers to the
 * verifier.
 */
__noinline int end_look(void)
{
	struct bio_look *l = look_get();

	if (!l)
		return 0;
	if (l->end_now != l->end) {
		l->end = l->end_now;
		l->end_kind = end_find(l->end);
	}
	l->kind = (__u32)l->end_kind & DLT_BIO_END_KIND;
	if (l->end_kind & DLT_BIO_END_HEAD && l->origin == l->bio)
		l->kind = head_kind(l->private);
	else if (l->end_kind & DLT_BIO_END_WAITED)
		l->kind = waited_kind(l);
	return 0;
}

/*
 * A piece split off the front of a bio has the bio's vectors, but no count of its own: it ends where the bio, its private
 * data, begins now.
 */
static __always_inline __u64 bio_split(struct bio_look *l, __u64 end, __u64 private)
{
	struct bio *parent = KCAST(bio, private);

	if (!kernel.end_chained || end != kernel.end_chained || !private)
		return end;
	l->origin = private;
	if ((__u64)KLOAD(parent, bi_io_vec) == l->vecs && bio_sector(parent) == l->sector + (l->size >> 9)) {
		l->last = KLOAD(parent, bi_iter.bi_idx);
		l->last_len = KLOAD(parent, bi_iter.bi_bvec_done);
		if (!l->last_len)
			l->last--;
	}
	return (__u64)KLOAD(parent, bi_end_io);
}

/* Looks at the next bio of the request. Nonzero: there is none. */
__noinline int bio_step(void)
{
	struct bio_look *l = look_get();
	struct bio *bio;

	if (!l || !l->bio)
		return 1;
	bio = KCAST(bio, l->bio);
	l->origin = l->bio;
	l->vecs = (__u64)KLOAD(bio, bi_io_vec);
	l->sector = bio_sector(bio);
	l->size = KLOAD(bio, bi_iter.bi_size);
	l->at = KLOAD(bio, bi_iter.bi_idx);
	l->done = KLOAD(bio, bi_iter.bi_bvec_done);
	l->last = KLOAD(bio, bi_vcnt) - 1;
	l->last_len = 0;
	l->private = (__u64)KLOAD(bio, bi_private);
	l->end_now = bio_split(l, (__u64)KLOAD(bio, bi_end_io), (__u64)KLOAD(bio, bi_private));
	end_look();
	if (l->kind == DLT_BIO_DIRECT)
		direct_add(l);
	else if (!bio_by_ends(l))
		for (int i = 0; i < VECS_OF_BIO / STEPS_AT_ONCE; i++)
			if (vec_steps())
				break;
	l->bio = (__u64)KLOAD(bio, bi_next);
	return 0;
}

__noinline int bio_steps(void)
{
	for (int i = 0; i < STEPS_AT_ONCE; i++)
		if (bio_step())
			return 1;
	return 0;
}

/* --- the identity of a file --------------------------------------------------------------------- */

/* Sets LOOK->id to the file of the inode at ADDR, and sends its name once: that of the open file at OPEN; 0: any name. */
__noinline int inode_note(__u64 addr, __u64 open)
{
	struct bio_look *l = look_get();
	struct inode *inode = KCAST(inode, addr);
	struct file *file = KCAST(file, open);
	struct file_where w = { inode, NULL, 0, NULL };
	struct task_struct *task = task_current();
	struct dlt_call none = {};

	if (!l || !where_is_new(&w, &l->id))
		return 0;
	if (open) {
		/*
		 * a loop device's thread, which uses the file, has not opened it, and its root may be in another mount
		 * namespace
		 */
		if (!(KLOAD(task, flags) & PF_KTHREAD))
			w.file = file;
		w.dentry = KLOAD(file, f_path.dentry);
		w.mnt = (__u64)KLOAD(file, f_path.mnt);
	} else {
		w.dentry = KCAST(dentry, inode_dentry(inode));
		w.mnt = inode_mount(inode);
	}
	if (w.dentry && w.mnt)
		where_emit(task, &w, &none, (__u32)bpf_get_current_pid_tgid());
	return 0;
}

static __always_inline void fileless_count(void)
{
	struct dlt_stats *st = stats_of(DLT_bio);

	if (st)
		st->fileless++;
}

/* --- the extents of a request that has several -------------------------------------------------- */

/* Makes the request's extent I the next to send. Nonzero: there is none. */
__noinline int map_next(__u32 i)
{
	struct bio_look *l = look_get();

	if (!l || i >= l->extents || i > DLT_BIO_EXTENTS)
		return 1;
	l->next = i < DLT_BIO_EXTENTS ? *extent_at(l, i) : l->rest;
	/* pages that another user dirtied: see file_look() */
	if (dlt_cfg.owned && l->op == DLT_BIO_WRITE && l->next.kind != DLT_BIO_DIRECT && !l->next.tgid) {
		l->next.inode = 0;
		l->next.off = NOWHERE;
	}
	return 0;
}

__noinline int map_send(void)
{
	struct bio_look *l = look_get();
	struct dlt_stats *st = stats_of(DLT_bio_map);
	struct dlt_bio_map *rec;

	if (!l || !st)
		return 0;
	st->seen++;
	rec = rec_reserve(DLT_bio_map, sizeof(*rec), false);
	if (!rec)
		return 0;
	__builtin_memset(rec, 0, sizeof(*rec));
	rec->hdr.probe = DLT_bio_map;
	rec->hdr.size = sizeof(*rec);
	rec->sector = l->next.sector;
	rec->bytes = l->next.bytes;
	rec->kind = l->next.kind;
	rec->writer_tgid = rec->writer_tid = DLT_NONE;
	rec->file_off = l->next.off == NOWHERE ? DLT_NONE : (__s64)l->next.off;
	if (l->next.inode)
		rec->id = l->id;
	if (l->next.tgid) {
		rec->writer_tgid = l->next.tgid;
		rec->writer_tid = l->next.tid;
	}
	__builtin_memcpy(rec->disk, l->disk, sizeof(rec->disk));
	rec->hdr.ts_ns = bpf_ktime_get_ns();
	rec_submit(rec, DLT_bio_map);
	return 0;
}

/* Sends a record for each extent, with the names of their files. The memory of REC may then be another record's. */
static __always_inline void map_emit(struct bio_look *l, const struct dlt_bio *rec)
{
	__builtin_memcpy(l->disk, rec->disk, sizeof(l->disk));
	for (__u32 i = 0; i <= DLT_BIO_EXTENTS; i++) {
		if (map_next(i))
			break;
		if (l->next.inode)
			inode_note(l->next.inode, 0);
		map_send();
	}
}

static __always_inline void file_unknown(struct dlt_bio *rec)
{
	rec->file_off = rec->extents = DLT_NONE;
	rec->writer_tgid = rec->writer_tid = rec->writers = DLT_NONE;
}

/*
 * Fills REC, of a request, or of a bio on a disk without requests; the first bio is at BIO. A trace with an owner gets only
 * the files of its target's requests, and in write-back only those whose pages its target dirtied.
 */
static __always_inline void file_look(struct dlt_bio *rec, __u64 bio)
{
	struct bio_look *l = look_get();
	bool own = !dlt_cfg.owned || rec->hdr.tgid;

	file_unknown(rec);
	if (!l || l->busy || !bio || rec->type > DLT_BIO_WRITE || (!own && rec->type != DLT_BIO_WRITE))
		return;
	l->busy = 1;
	l->bio = bio;
	l->op = rec->type;
	l->opf_meta = rec->flags & DLT_BIO_META;
	l->mapping = l->inode = 0;
	l->is_file = l->is_block = 0;
	l->extents = l->unknown = l->writers = l->first_is_known = 0;
	l->lookups = LOOKUPS;
	for (int i = 0; i < BIOS_OF_REQUEST / STEPS_AT_ONCE; i++)
		if (bio_steps())
			break;
	if (l->extents)
		extent_end(l);
	if (l->writers) {
		rec->writer_tgid = l->tgid;
		rec->writer_tid = l->tid;
		rec->writers = l->writers;
		__builtin_memcpy(rec->writer_comm, l->comm, DLT_COMM_LEN);
		if (!own) /* another user's process queued what the target wrote */
			__builtin_memset(rec->hdr.comm, 0, DLT_COMM_LEN);
	}
	if (dlt_cfg.owned && rec->type == DLT_BIO_WRITE && l->first_kind != DLT_BIO_DIRECT && !l->first_is_known) {
		l->first_inode = 0; /* pages that another user dirtied */
		l->first_off = DLT_NONE;
	}
	if (l->extents) {
		rec->kind = l->first_kind;
		rec->extents = l->extents;
		rec->file_off = l->first_off;
	}
	if (l->unknown && own)
		fileless_count();
	if (l->extents && l->first_inode) {
		inode_note(l->first_inode, 0);
		rec->id = l->id;
	}
	if (dlt_cfg.bio_map && l->extents > 1 && (own || l->writers))
		map_emit(l, rec);
	l->busy = 0;
}

/* --- direct I/O --------------------------------------------------------------------------------- */

/* Fills D for the bio at ADDR, which the current task has just queued. */
static __always_inline void direct_put(struct bio_direct *d, __u64 addr)
{
	struct bio *bio = KCAST(bio, addr);

	d->bio = addr;
	d->sector = bio_sector(bio);
	d->bytes = KLOAD(bio, bi_iter.bi_size);
	d->tgid = bpf_get_current_pid_tgid() >> 32;
	d->tid = (__u32)bpf_get_current_pid_tgid();
	comm_read(d->comm, task_current());
}

/*
 * Notes the file, and the place in it, of LOOK->bio, which iomap's direct I/O has just queued. Runs in the submitter's
 * context.
 */
__noinline int direct_note(void)
{
	struct bio_look *l = look_get();
	__u64 addr = l ? l->bio : 0;
	struct bio_direct *d = direct_slot(addr);
	struct bio *bio = KCAST(bio, addr);
	struct iomap_dio *dio;
	struct inode *inode;
	struct kiocb *iocb;
	struct file *file;
	__u64 behind;

	if (!d || !addr || (dlt_cfg.owned && !target_has(bpf_get_current_pid_tgid() >> 32)))
		return 0;
	dio = (struct iomap_dio *)KLOAD(bio, bi_private);
	iocb = BPF_CORE_READ(dio, iocb);
	file = BPF_CORE_READ(iocb, ki_filp);
	inode = BPF_CORE_READ(file, f_inode);
	if (!inode)
		return 0;
	direct_put(d, addr);
	behind = BPF_CORE_READ(dio, size);
	if (!behind)
		direct_counts_later = 1;
	d->off = BPF_CORE_READ(iocb, ki_pos) + behind - (direct_counts_later ? 0 : d->bytes);
	d->inode = (__u64)inode;
	inode_note((__u64)inode, (__u64)file);
	return 0;
}

/* As above, for a bio that may be direct I/O on a block device itself, and does not name the open file. */
__noinline int raw_note(void)
{
	struct bio_look *l = look_get();
	__u64 addr = l ? l->bio : 0, start;
	struct bio_direct *d = direct_slot(addr);

	if (!d || !addr || (dlt_cfg.owned && !target_has(bpf_get_current_pid_tgid() >> 32)))
		return 0;
	direct_put(d, addr);
	start = bio_opened_at(addr);
	d->off = start == NOWHERE ? NOWHERE : (d->sector - start) * 512;
	d->inode = 0;
	return 0;
}

static __always_inline bool end_is_raw(__u64 end)
{
	for (int i = 0; i < DLT_BIO_RAW_ENDS; i++)
		if (end == kernel.end_raw[i])
			return true;
	return false;
}

static __always_inline void direct_queued(struct bio *bio)
{
	__u64 end = (__u64)bio->bi_end_io;
	struct bio_look *l = look_get();

	if (!end || (end != kernel.end_direct && !end_is_raw(end)) || !l || l->busy)
		return;
	l->busy = 1;
	l->bio = (__u64)bio; /* read from memory it is a number to the verifier, as arguments of global functions must be */
	if (end == kernel.end_direct)
		direct_note();
	else
		raw_note();
	l->busy = 0;
}

#endif
