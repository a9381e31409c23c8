/* SPDX-License-Identifier: BSD-2-Clause */
/* Who dirtied pages: noted when they become dirty, looked up when they are written back. */
#ifndef BIO_DIRTIER_BPF_H
#define BIO_DIRTIER_BPF_H

#include "bio_look.bpf.h"

#define LOOKUPS 320 /* pages of a request whose dirtier is looked up: 1.25 MiB */

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

#endif
