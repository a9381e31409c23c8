/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which thread dirtied a page: noted when the page becomes dirty, looked up when it is written back.
 *
 * A thread has one entry for all pages that it dirties among DLT_DIRTIER_PAGES neighbors. The kernel holds the lock of
 * the file's pages around the hook, so two CPUs never change the entries of one file at once. A look-up holds no lock,
 * but it changes only the bits of dirty pages. If a page becomes dirty at that moment, its bit may be lost: its entry
 * then may be reused early, but never names a wrong thread.
 */
#ifndef BIO_DIRTIER_BPF_H
#define BIO_DIRTIER_BPF_H

#include "bio/bio_look.bpf.h"

#define LOOKUPS 320 /* sets that are looked at for a request: enough for 80 MiB of one file, or for as many files */

/*
 * Found by the number of DLT_DIRTIER_PAGES neighbors; the daemon sets the number of sets. The map can be mapped,
 * although nobody does that: its values then begin at a page, so an entry is one cache line, and a set is four lines
 * side by side.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct dlt_dirtiers);
} bio_dirtiers SEC(".maps");

/* Neighbors lie side by side, so two files may collide over long stretches; a set has room for several. */
static __always_inline struct dlt_dirtiers *dirtiers_of(__u64 ino, __u32 dev, __u64 number)
{
	__u32 i = ((__u32)(ino * 0x9e3779b97f4a7c15ULL >> 32) + dev * 31 + number) & kernel.dirtier_mask;

	return bpf_map_lookup_elem(&bio_dirtiers, &i);
}

static __always_inline bool dirtier_is_of(const struct dlt_dirtier *d, __u64 ino, __u32 dev, __u64 number)
{
	return d->ino == ino && d->number == number && d->dev == dev;
}

/* Returns the bits of an entry's pages from FIRST to before END, which is greater, and DLT_DIRTIER_PAGES at most. */
static __always_inline __u64 page_bits(__u64 first, __u64 end)
{
	return (~0ULL << (first & 63)) & (~0ULL >> ((64 - end) & 63));
}

/* Returns the number of bits that are set in V. */
static __always_inline __u32 bits_count(__u64 v)
{
	v -= v >> 1 & 0x5555555555555555ULL;
	v = (v & 0x3333333333333333ULL) + (v >> 2 & 0x3333333333333333ULL);
	return ((v + (v >> 4)) & 0x0f0f0f0f0f0f0f0fULL) * 0x0101010101010101ULL >> 56;
}

/* Returns an entry to reuse: one whose pages have all been written back, else one whose pages then have no known
 * writer. */
static __always_inline struct dlt_dirtier *dirtier_take(struct dlt_dirtiers *set)
{
	struct dlt_dirtier *d = &set->way[DLT_DIRTIER_WAYS - 1];
	struct dlt_stats *st;

	for (int i = 0; i < DLT_DIRTIER_WAYS; i++)
		if (!set->way[i].dirty)
			return &set->way[i];
	st = stats_of(DLT_bio);
	if (st)
		st->overwritten += bits_count(d->dirty);
	return d;
}

/*
 * The current task makes a folio of INODE, which was clean, dirty. This runs for each such folio on the machine, so it
 * does nothing else.
 */
static __always_inline void dirtier_note(__u64 *ctx, struct inode *inode)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid(), ino = inode->i_ino, index, number, bits, comm[2];
	__u32 tgid = pid_tgid >> 32, tid = (__u32)pid_tgid, dev = inode->i_sb->s_dev, pages;
	struct dlt_dirtier *mine = NULL;
	struct dlt_dirtiers *set;

	if ((inode->i_mode & MODE_FMT) != MODE_REG)
		return;
	index = folio_index(ctx);
	pages = folio_pages(ctx);
	number = index / DLT_DIRTIER_PAGES;
	index &= DLT_DIRTIER_PAGES - 1;
	bits = page_bits(index, index + pages < DLT_DIRTIER_PAGES ? index + pages : DLT_DIRTIER_PAGES);
	set = dirtiers_of(ino, dev, number);
	if (!set)
		return;
	comm_read((char *)comm, task_current());
	for (int i = 0; i < DLT_DIRTIER_WAYS; i++) {
		struct dlt_dirtier *d = &set->way[i];
		const __u64 *name = (const __u64 *)d->comm;

		if (!dirtier_is_of(d, ino, dev, number))
			continue;
		if (d->tid == tid && d->tgid == tgid && name[0] == comm[0] && name[1] == comm[1]) {
			mine = d;
		} else if (d->known & bits) {
			d->known &= ~bits;
			d->dirty &= ~bits;
			d->pages = 0;
		}
	}
	if (dlt_cfg.owned && !target_has(tgid)) {
		if (mine)
			mine->known = mine->dirty = 0;
		return;
	}
	if (!mine) {
		mine = dirtier_take(set);
		mine->known = mine->dirty = 0;
		mine->ino = ino;
		mine->number = number;
		mine->dev = dev;
		mine->tgid = tgid;
		mine->tid = tid;
		__builtin_memcpy(mine->comm, comm, sizeof(comm));
	}
	mine->pages = pages;
	mine->known |= bits;
	mine->dirty |= bits;
}

/* Adds a process to the writers of the pages. A global function: verified once, not at each turn of the loops. */
__noinline int writer_count(__u32 tgid)
{
	struct bio_look *l = look_get();

	for (__u32 i = 0; l && i < DLT_BIO_WRITERS; i++) {
		if (i >= l->writers) {
			l->tgids[i] = tgid;
			l->writers = i + 1;
			return 0;
		}
		if (l->tgids[i] == tgid)
			return 0;
	}
	return 0;
}

static __always_inline void writer_add(struct bio_look *l, __u32 tgid, __u32 tid, const char *comm)
{
	if (!l->writers) {
		l->tgid = tgid;
		l->tid = tid;
		__builtin_memcpy(l->comm, comm, DLT_COMM_LEN);
	}
	writer_count(tgid);
}

static __always_inline void extent_writer(struct bio_look *l, __u32 tgid, __u32 tid)
{
	if (l->cur_tgid)
		return;
	l->cur_tgid = tgid;
	l->cur_tid = tid;
}

/* Returns the pages of RANGE that the thread of D dirtied; none if D is not about the pages that have NUMBER. */
static __always_inline __u64 dirtier_bits(const struct bio_look *l, const struct dlt_dirtier *d, __u64 number,
					  __u64 range)
{
	return dirtier_is_of(d, l->ino, l->dev, number) ? d->known & range : 0;
}

/* Looks up the writers of L's next pages, as far as one set has them. Nonzero: no pages are left. */
__noinline int writer_step(void)
{
	struct bio_look *l = look_get();
	struct dlt_dirtier *first = NULL;
	__u64 number, next, range, bits, low, first_low = 0;
	struct dlt_dirtiers *set;
	bool alone = false;

	if (!l || l->page >= l->end_page || !l->lookups)
		return 1;
	l->lookups--;
	number = l->page / DLT_DIRTIER_PAGES;
	next = (number + 1) * DLT_DIRTIER_PAGES;
	set = dirtiers_of(l->ino, l->dev, number);
	if (!set)
		return 1;
	range = page_bits(l->page & (DLT_DIRTIER_PAGES - 1),
			  (l->end_page < next ? l->end_page - 1 : next - 1) % DLT_DIRTIER_PAGES + 1);
	for (int i = 0; i < DLT_DIRTIER_WAYS; i++) {
		struct dlt_dirtier *d = &set->way[i];

		bits = dirtier_bits(l, d, number, range);
		if (!bits)
			continue;
		d->dirty &= ~range;
		if (d->pages > DLT_DIRTIER_PAGES)
			next = number * DLT_DIRTIER_PAGES + d->pages;
		low = bits & -bits;
		if (!first || low < first_low) {
			first = d;
			first_low = low;
		}
		alone = bits == range;
		if (alone)
			break; /* the other entries, each a cache line of its own, have none of the pages */
	}
	/* the extent may begin after the end of the pages dirtied before it */
	if (first && next > l->from) {
		writer_add(l, first->tgid, first->tid, first->comm);
		extent_writer(l, first->tgid, first->tid);
		for (int i = 0; !alone && i < DLT_DIRTIER_WAYS; i++)
			if (dirtier_bits(l, &set->way[i], number, range))
				writer_count(set->way[i].tgid);
	}
	l->page = next > l->from ? next : l->from;
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
	l->from = l->cur_off >> (kernel.page_shift & 31);
	/* a folio larger than an entry's pages is noted where it begins */
	l->page = l->cur_index / DLT_DIRTIER_PAGES == l->from / DLT_DIRTIER_PAGES ? l->from : l->cur_index;
	l->end_page = (l->cur_end + PAGE_BYTES - 1) >> (kernel.page_shift & 31);
#pragma clang loop unroll_count(8) /* no frame is left for batches, and the verifier counts each turn */
	for (int i = 0; i < LOOKUPS; i++)
		if (writer_step())
			break;
	return 0;
}

#endif
