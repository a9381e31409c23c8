/* SPDX-License-Identifier: BSD-2-Clause */
/* What the target's calls do with the page cache: pages that they find there, and those that they bring there themselves. */
#ifndef CACHE_CALL_BPF_H
#define CACHE_CALL_BPF_H

#include "cache_pages.bpf.h"
#include "file.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dlt_cache_read);
} dlt_cache_reads SEC(".maps");

/* --- files -------------------------------------------------------------------------------------- */

static __always_inline bool inode_is_file(struct inode *inode)
{
	return (KLOAD(inode, i_mode) & MODE_FMT) == MODE_REG;
}

/*
 * Replaces the file at s->data by the inode that has its pages; 0: none has. On overlayfs that is the one below with the data.
 * Where the types of overlayfs are unknown, as on 5.10, it is that of the file that was opened there with this one
 * (ovl_open(), private_data until 6.13). A global function, to which a pointer would be no number: it is verified once.
 */
__noinline int file_to_inode(void)
{
	struct scratch *s = scratch_get();
	struct file *file = KCAST(file, s ? s->data : 0);
	struct address_space *mapping;
	struct super_block *sb;
	struct inode *inode;
	__u64 at;

	if (!s)
		return 0;
	s->data = 0;
	mapping = KLOAD(file, f_mapping);
	at = (__u64)KLOAD(mapping, host);
	for (int i = 0; i < 2 && at; i++) { /* an overlay may lie on another one */
		inode = KCAST(inode, at);
		if (!inode_is_file(inode))
			return 0;
		sb = KLOAD(inode, i_sb);
		if (KLOAD(sb, s_magic) != OVERLAYFS_SUPER_MAGIC)
			break;
		if (ovl_is_known()) {
			ovl_below(s, at);
			at = s->data;
		} else {
			file = KCAST(file, (__u64)KLOAD(file, private_data));
			at = file ? (__u64)KLOAD(file, f_inode) : 0;
		}
	}
	s->data = at;
	return 0;
}

/* Returns the address of the inode that has the pages of FILE, which may be NULL; 0: none has. */
static __always_inline __u64 cache_inode(struct file *file)
{
	struct scratch *s = scratch_get();

	if (!s || !file)
		return 0;
	s->data = (__u64)file;
	file_to_inode();
	return s->data;
}

/* Returns how many pages of INODE are in the page cache. */
static __always_inline __u64 inode_pages(struct inode *inode)
{
	struct address_space *mapping = KLOAD(inode, i_mapping);

	return KLOAD(mapping, nrpages);
}

static __always_inline bool is_mapped(struct address_space *mapping)
{
	return KLOAD(mapping, i_mmap.rb_root.rb_node) != NULL;
}

/* --- reads in flight ---------------------------------------------------------------------------- */

static __always_inline struct dlt_cache_read *cache_read_slot(__u32 tid)
{
	__u32 i = tid & dlt_cfg.slot_mask & (DLT_CACHE_READS_MAX - 1);

	return bpf_map_lookup_elem(&dlt_cache_reads, &i);
}

/* Returns whether OF is the last file that thread TID has inserted pages of by a call that reads or writes it. */
static __always_inline bool cache_read_is_of(const struct dlt_cache_read *slot, __u32 tid, const struct dlt_file_id *of)
{
	return slot->tid == tid && cache_is_of(&slot->of, of);
}

/* Returns whether this thread's call, which began at CALL_NS, has inserted pages. */
static __always_inline bool cache_has_inserted(__u64 call_ns)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_cache_read *slot = cache_read_slot(tid);

	return slot && slot->tid == tid && slot->call_ns == call_ns;
}

/*
 * This thread's call, which began at CALL_NS, has read INODE, alias OF, until before page END. Returns how many of the pages
 * it has inserted; *ALL_RET: all pages that it has inserted. Those that it asked for and did not get were read ahead.
 */
static __always_inline __u64 inserted_here(struct inode *inode, const struct dlt_file_id *of, __u64 call_ns, __u64 end,
					   __u64 *all_ret)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_cache_read *slot = cache_read_slot(tid);
	__u64 to, n;

	*all_ret = 0;
	if (!slot || slot->call_ns != call_ns || !cache_read_is_of(slot, tid, of))
		return 0;
	slot->call_ns = 0;
	*all_ret = slot->pages;
	n = slot->missed;
	to = slot->top < slot->end ? slot->top : slot->end;
	if (end < slot->first)
		end = slot->first;
	if (to > end) {
		n -= to - end < n ? to - end : n;
		if (!is_mapped(KLOAD(inode, i_mapping)))
			fresh_note(of, end, to);
	}
	return n;
}

/* --- calls -------------------------------------------------------------------------------------- */

/* See cache_touch(). LEN 0: none of what it asked for. */
__noinline int cache_touched(__u64 off, __u64 len, __u64 call_ns, __u32 write)
{
	struct cache_range *r = range_get();
	struct file *file = KCAST(file, r ? r->at : 0);
	__u64 at = r ? cache_inode(file) : 0, shift = dlt_cfg.page_shift & 31;
	__u64 first = off >> shift, end = len ? ((off + len - 1) >> shift) + 1 : 0;
	__u64 fresh, pages, missed = 0, all = 0;
	struct inode *inode = KCAST(inode, at);
	struct dlt_cache_cell *cell;
	struct dlt_cache_sums *sums;
	struct dlt_file_id of;

	if (!at || !r)
		return 0;
	cache_id(inode, &of);
	if (call_ns && !write)
		missed = inserted_here(inode, &of, call_ns, end, &all);
	if (!all && (!len || !inode_pages(inode))) /* a file that bypasses the page cache, as those of /proc do */
		return 0;
	/* on overlayfs with the identity there: to find that of the file below takes too many calls at this depth */
	cell = cache_cell(&of) ?: cache_cell_make(&of, &r->id);
	if (!cell)
		return 0;
	sums = cache_sums(cell);
	pages = len ? end - first : 0;
	fresh = len ? fresh_take(&of, first, end, CACHE_CALL_CHUNKS) : 0;
	__sync_fetch_and_add(&sums->used, fresh);
	if (write)
		return 0;
	if (!call_ns)
		missed = fresh;
	if (all)
		__sync_fetch_and_add(&cell->cached, all);
	if (missed > pages)
		missed = pages;
	__sync_fetch_and_add(&sums->read_bytes, len);
	__sync_fetch_and_add(&sums->miss, missed);
	__sync_fetch_and_add(&sums->hit, pages - missed);
	if (all > missed)
		__sync_fetch_and_add(&sums->ahead, all - missed);
	return 0;
}

/* Returns how many of LEN bytes at OFF lie within FILE, which may be NULL. */
static __always_inline __s64 cache_inside(struct file *file, __s64 off, __s64 len)
{
	struct inode *inode;
	__s64 size;

	if (!dlt_cfg.cache_mask || !file)
		return 0;
	inode = KLOAD(file, f_inode);
	size = KLOAD(inode, i_size);
	return off + len > size ? size - off : len;
}

/*
 * The target has moved LEN bytes at OFF of FILE, which has the identity ID in other rows and was opened with FLAGS. WRITE:
 * it has written them. CALL_NS: when the thread's call began; 0: a request, perhaps carried out by another thread.
 */
static __always_inline void cache_touch(struct file *file, const struct dlt_file_id *id, __u32 flags, __s64 off, __s64 len,
					__u64 call_ns, bool write)
{
	struct cache_range *r;

	if (!dlt_cfg.cache_mask || !file || off < 0)
		return;
	/* a read that fails, or bypasses the page cache, may have brought pages there nevertheless */
	if ((len <= 0 || flags & O_DIRECT) && (write || !call_ns || !cache_has_inserted(call_ns)))
		return;
	r = range_get();
	if (!r)
		return;
	r->at = (__u64)file;
	r->id = *id;
	cache_touched(off, len > 0 ? len : 0, call_ns, write);
}

/*
 * Returns whether a copy by copy_file_range(2) to FILE may have gone through the page cache: those that share blocks, or
 * are carried out by a server, leave no page of it there.
 */
static __always_inline bool cache_has_pages(struct file *file)
{
	__u64 at = dlt_cfg.cache_mask ? cache_inode(file) : 0;

	return at && inode_pages(KCAST(inode, at));
}

#endif
