/* SPDX-License-Identifier: BSD-2-Clause */
/* What the target's calls do with the page cache: pages that they find there, and those that they bring there
 * themselves. */
#ifndef CACHE_CALL_BPF_H
#define CACHE_CALL_BPF_H

#include "cache/cache_pages.bpf.h"
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
 * Replaces the file at s->data by the inode that has its pages; 0: none has. On overlayfs that is the one below with
 * the data. Where the types of overlayfs are unknown, as on 5.10, it is that of the file that was opened there with
 * this one (ovl_open(), private_data until 6.13). A global function, to which a pointer would be no number: it is
 * verified once.
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
 * This thread's call, which began at CALL_NS, has read the range's inode until before page END: the range gets what it
 * has inserted. Pages that it wanted and did not get were read ahead. A global function, as its caller has little stack
 * left.
 */
__noinline int read_ends(__u64 call_ns, __u64 end)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_cache_read *slot = cache_read_slot(tid);
	struct cache_range *r = range_get();
	struct inode *inode = KCAST(inode, r ? r->at : 0);
	__u64 to;

	if (!slot || !r || slot->call_ns != call_ns || !cache_read_is_of(slot, tid, &r->of))
		return 0;
	slot->call_ns = 0;
	r->inserted = slot->pages;
	r->missed = slot->missed;
	to = slot->top < slot->end ? slot->top : slot->end;
	if (end < slot->first)
		end = slot->first;
	if (to > end) {
		r->missed -= to - end < r->missed ? to - end : r->missed;
		if (!is_mapped(KLOAD(inode, i_mapping)))
			fresh_note(&r->of, end, to);
	}
	return 0;
}

/* --- calls -------------------------------------------------------------------------------------- */

#define TOUCH_WRITE 1

/* See cache_touch(). WHICH: TOUCH_WRITE, O_DIRECT. */
__noinline int cache_touched(__u64 off, __s64 ret, __u64 call_ns, __u32 which)
{
	const __u64 len = ret > 0 ? ret : 0, shift = dlt_cfg.page_shift & 31;
	const __u64 first = off >> shift, end = len ? ((off + len - 1) >> shift) + 1 : 0;
	const bool write = which & TOUCH_WRITE;
	struct cache_range *r = range_get();
	struct dlt_cache_cell *cell;
	struct dlt_cache_sums *sums;
	__u64 pages, fresh, missed;

	/* a read that fails, or bypasses the page cache, may have brought pages there nevertheless */
	if ((!len || which & O_DIRECT) && (write || !call_ns || !cache_has_inserted(call_ns)))
		return 0;
	if (!r)
		return 0;
	r->at = cache_inode(KCAST(file, r->at));
	if (!r->at)
		return 0;
	cache_id(KCAST(inode, r->at), &r->of);
	r->inserted = r->missed = 0;
	if (call_ns && !write)
		read_ends(call_ns, end);
	/* a file that bypasses the page cache, as those of /proc do */
	if (!r->inserted && (!len || !inode_pages(KCAST(inode, r->at))))
		return 0;
	/* on overlayfs with the identity there: to find that of the file below takes too many calls at this depth */
	cell = cache_cell(&r->of) ?: cache_cell_make(&r->of, &r->id);
	if (!cell)
		return 0;
	sums = cache_sums(cell);
	fresh = len ? fresh_take(&r->of, first, end, CACHE_CALL_CHUNKS) : 0;
	__sync_fetch_and_add(&sums->used, fresh);
	if (write)
		return 0;
	pages = len ? end - first : 0;
	missed = call_ns ? r->missed : fresh;
	if (missed > pages)
		missed = pages;
	if (r->inserted)
		__sync_fetch_and_add(&cell->cached, r->inserted);
	if (r->inserted > missed)
		__sync_fetch_and_add(&sums->ahead, r->inserted - missed);
	__sync_fetch_and_add(&sums->read_bytes, len);
	__sync_fetch_and_add(&sums->miss, missed);
	__sync_fetch_and_add(&sums->hit, pages - missed);
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
 * The target has moved LEN bytes at OFF of FILE, which has the identity ID in other rows and was opened with FLAGS.
 * WRITE: it has written them. CALL_NS: when the thread's call began; 0: a request, perhaps carried out by another
 * thread.
 */
static __always_inline void cache_touch(struct file *file, const struct dlt_file_id *id, __u32 flags, __s64 off,
					__s64 len, __u64 call_ns, bool write)
{
	struct cache_range *r;

	if (!dlt_cfg.cache_mask || !file || off < 0)
		return;
	r = range_get();
	if (!r)
		return;
	r->at = (__u64)file;
	r->id = *id;
	cache_touched(off, len, call_ns, (flags & O_DIRECT) | (write ? TOUCH_WRITE : 0));
}

/*
 * Returns how many of the LEN bytes that a call has copied to descriptor FD went through the page cache. MAY_SHARE:
 * none where the two files share blocks now, or a server has copied (copy_file_range(2)), as that leaves no page there.
 * A global function: otherwise the verifier follows what comes after it twice.
 */
__noinline __s64 cached_of_copy(__u32 may_share, __u64 fd, __s64 len)
{
	__u64 at;

	if (!dlt_cfg.cache_mask || !may_share)
		return len;
	at = cache_inode(file_of_fd(task_current(), fd));
	return at && inode_pages(KCAST(inode, at)) ? len : 0;
}

#endif
