/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages that enter and leave the page cache, for files that the target reads or writes, whichever process brings them
 * in or removes them. vfs_rw and io_uring add the pages that calls touch (cache_call.bpf.h), bio those that are written
 * back.
 *
 * A page that a reading thread inserts within the range of its read is a miss. Other pages that it inserts, and pages
 * that come without a call, are read-ahead. Each of those is noted as untouched until it is touched. A page of a mapped
 * file may be touched without any event, so it is not noted: it never counts as wasted.
 */
#include "cache/cache_call.bpf.h"
#include "calls/rw.bpf.h"

const volatile __u32 sendfile_nr = 0, splice_nr = 0, copy_file_range_nr = 0, io_submit_nr = 0;

/* Set when the trace ends: sums that find no room in a ring now are lost, as no later round sends them. */
volatile __u32 ended;

/* --- calls that move bytes ---------------------------------------------------------------------- */

/* Returns whether CALL moves bytes between two descriptors. */
static __always_inline bool copies(const struct dlt_call *call)
{
	return call->nr == sendfile_nr || call->nr == splice_nr || call->nr == copy_file_range_nr;
}

/* Returns which of its arguments is the descriptor that CALL reads, or, if it only writes, writes. */
static __always_inline __u64 moved_fd(const struct dlt_call *call)
{
	return call->nr == sendfile_nr ? call->args[1] : call->args[0];
}

/* Returns which of its arguments is the descriptor that CALL, one between two, writes. */
static __always_inline __u64 copied_to_fd(const struct dlt_call *call)
{
	return call->nr == sendfile_nr ? call->args[0] : call->args[2];
}

/* Returns where in its file CALL, a read that has not ended, begins; DLT_NONE: nobody knows. */
static __always_inline __s64 read_begin(const struct dlt_call *call)
{
	__u64 pos_addr = call->nr == sendfile_nr ? call->args[2] : call->args[1];
	struct file *file;
	__s64 pos;

	if (copies(call)) {
		if (pos_addr)
			return bpf_probe_read_user(&pos, sizeof(pos), (void *)pos_addr) ? DLT_NONE : pos;
	} else if (call->shape & DLT_RW_POS && !(call->shape & DLT_RW_RWF && call->args[3] == -1ULL)) {
		return call->args[3];
	}
	/* moved when the call ends */
	file = file_of_fd(task_current(), moved_fd(call));
	return file ? KLOAD(file, f_pos) : DLT_NONE;
}

/* Returns how many bytes CALL wants. */
static __always_inline __u64 read_len(const struct dlt_call *call)
{
	if (copies(call))
		return call->nr == sendfile_nr ? call->args[3] : call->args[4];
	return call->shape & DLT_RW_VEC ? iov_bytes(call->args[1], call->args[2]) : call->args[2];
}

/*
 * Notes the pages of the slot's call, which wants LEN bytes at BEGIN. Where that is unknown they are all pages: what it
 * did not get is found when it ends.
 */
static __always_inline void slot_wants(struct dlt_cache_read *slot, __s64 begin, __u64 len)
{
	__u32 shift = dlt_cfg.page_shift & 31;

	slot->first = begin > 0 ? begin >> shift : 0;
	slot->end = begin >= 0 && len - 1 < 1ULL << 62 ? ((begin + len - 1) >> shift) + 1 : ~0ULL;
}

/* A global function, so that a call without vectors and with a position pays nothing for it. */
__noinline int read_wants(void)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_cache_read *slot = cache_read_slot(tid);
	struct dlt_call *call = call_find(tid);

	if (slot && call)
		slot_wants(slot, read_begin(call), read_len(call));
	return 0;
}

/* --- pages enter -------------------------------------------------------------------------------- */

enum inserter { INSERTS_AHEAD, INSERTS_READ, INSERTS_WRITE };

/* Returns as what CALL inserts pages of the file that it moves bytes of. */
static __always_inline enum inserter inserter_of(const struct dlt_call *call)
{
	if (!call || call->probe != DLT_vfs_rw || call->nr == io_submit_nr)
		return INSERTS_AHEAD;
	return !copies(call) && call->shape & DLT_RW_WRITE ? INSERTS_WRITE : INSERTS_READ;
}

/* Returns whether the descriptor FD of this thread is a file whose pages the inode at AT has. */
static __noinline bool fd_is_of(__u64 fd, __u64 at)
{
	return cache_inode(file_of_fd(task_current(), fd)) == at;
}

/* Pages that the slot's read has inserted, and that no end of a call has counted, were read ahead. */
static __always_inline void read_forget(struct dlt_cache_read *slot)
{
	struct dlt_cache_cell *cell = slot->call_ns ? cache_cell(&slot->of) : NULL;

	if (!cell)
		return;
	__sync_fetch_and_add(&cell->cached, slot->pages);
	__sync_fetch_and_add(&cache_sums(cell)->ahead, slot->pages);
}

/*
 * As what this thread's CALL inserts pages of INODE, alias OF. BY: if that is the file that it moves bytes of. A call
 * may also fault in pages of a mapped file, from which or into which it copies; that is looked at where the file is
 * another one than the last time. Then SLOT is taken over.
 */
static __always_inline enum inserter slot_inserter(struct dlt_cache_read *slot, const struct dlt_call *call,
						   enum inserter by, struct inode *inode, const struct dlt_file_id *of)
{
	const bool is_copy = copies(call);

	if (cache_read_is_of(slot, call->tid, of) && (!is_copy || slot->call_ns == call->start_ns))
		return by;
	if (!fd_is_of(moved_fd(call), (__u64)inode))
		return is_copy && fd_is_of(copied_to_fd(call), (__u64)inode) ? INSERTS_WRITE : INSERTS_AHEAD;
	read_forget(slot);
	slot->tid = call->tid;
	slot->of = *of;
	slot->call_ns = 0;
	slot->looked_up = 0;
	return by;
}

/*
 * Makes a cell for the inode of the range, which is a file of the target. Its name is sent once. An inode without any
 * name gets none, since no process can open it: btrfs keeps metadata in an inode that looks like a file's.
 */
__noinline int cell_begin(void)
{
	struct cache_range *r = range_get();
	struct inode *inode = KCAST(inode, r ? r->at : 0);
	struct file_where w = { inode, NULL, 0, NULL };
	struct dlt_call none = {};

	if (!r)
		return 0;
	w.dentry = KCAST(dentry, inode_dentry(inode));
	if (!w.dentry)
		return 0;
	w.mnt = inode_mount(inode);
	if (where_is_new(&w, &r->id) && w.mnt)
		where_emit(task_current(), &w, &none, (__u32)bpf_get_current_pid_tgid());
	cache_id(inode, &r->of);
	cache_cell_make(&r->of, &r->id);
	return 0;
}

/* Returns the cell of INODE, whose identity is OF; makes one if there is none and the current process is in the target.
 */
static __always_inline struct dlt_cache_cell *cell_of(struct inode *inode, const struct dlt_file_id *of)
{
	struct dlt_cache_cell *cell = cache_cell(of);
	struct cache_range *r;

	if (cell || !target_has(bpf_get_current_pid_tgid() >> 32))
		return cell;
	r = range_get();
	if (!r)
		return NULL;
	r->at = (__u64)inode;
	cell_begin();
	return cache_cell(of);
}

/*
 * Makes sure that the slot's file has a cell. While no file is forgotten, a thread that goes on with a file needs no
 * look-up: the end of its call has one. Returns whether there is a cell.
 */
static __always_inline bool slot_has_cell(struct dlt_cache_read *slot, struct inode *inode,
					  const struct dlt_file_id *of)
{
	struct dlt_shared *sh = shared();
	__u32 now;

	if (!sh)
		return false;
	now = *(volatile __u32 *)&sh->cache_forgets +
	      1; /* before the look-up: what is forgotten after it counts again */
	if (slot->looked_up == now)
		return true;
	if (!cell_of(inode, of))
		return false;
	slot->looked_up = now;
	return true;
}

/* This thread's CALL, a read, has inserted pages of the slot's file. Returns the first one that it does not want. */
static __always_inline __u64 read_inserts(struct dlt_cache_read *slot, const struct dlt_call *call, __u64 first,
					  __u64 end)
{
	__u64 from, to;

	if (slot->call_ns != call->start_ns) {
		read_forget(slot);
		slot->call_ns = call->start_ns;
		slot->pages = slot->missed = slot->top = 0;
		if (call->shape == DLT_RW_POS && !copies(call)) /* pread(2) */
			slot_wants(slot, call->args[3], call->args[2]);
		else
			read_wants();
	}
	from = slot->first > first ? slot->first : first;
	to = slot->end < end ? slot->end : end;
	slot->missed += to > from ? to - from : 0;
	slot->pages += end - first;
	if (slot->top < end)
		slot->top = end;
	return to > first ? to : first;
}

static __always_inline struct address_space *mapping_of(__u64 *ctx)
{
	return KCAST(address_space, folio_mapping(ctx));
}

static __always_inline struct inode *file_of_mapping(struct address_space *mapping)
{
	__u64 host = mapping ? (__u64)KLOAD(mapping, host) : 0;
	struct inode *inode = KCAST(inode, host);

	return host && inode_is_file(inode) ? inode : NULL;
}

/* Counts pages that a read has not inserted, into OF's cell. Returns whether there is one. */
static __always_inline bool counts_at_once(struct inode *inode, const struct dlt_file_id *of, enum inserter by,
					   __u64 pages)
{
	struct dlt_cache_cell *cell = cell_of(inode, of);

	if (!cell)
		return false;
	__sync_fetch_and_add(&cell->cached, pages);
	if (by == INSERTS_AHEAD)
		__sync_fetch_and_add(&cache_sums(cell)->ahead, pages);
	return true;
}

SEC("tp_btf/mm_filemap_add_to_page_cache")
int HELD_PROG(cache_add)
{
	struct address_space *mapping = mapping_of(ctx);
	struct inode *inode = file_of_mapping(mapping);
	struct dlt_cache_read *slot;
	struct dlt_call *call;
	struct dlt_file_id of;
	enum inserter by;
	__u64 first, end;

	if (!inode)
		return 0;
	call = call_find((__u32)bpf_get_current_pid_tgid());
	by = inserter_of(call);
	cache_id(inode, &of);
	first = folio_index(ctx);
	end = first + folio_pages(ctx);
	slot = by != INSERTS_AHEAD && call ? cache_read_slot(call->tid) : NULL;
	if (slot && call)
		by = slot_inserter(slot, call, by, inode, &of);
	if (by == INSERTS_READ && slot && call) {
		if (!slot_has_cell(slot, inode, &of))
			return 0;
		first = read_inserts(slot, call, first, end);
	} else if (!counts_at_once(inode, &of, by, end - first) || by == INSERTS_WRITE) {
		return 0;
	}
	if (first < end && !is_mapped(mapping))
		fresh_note(&of, first, end);
	return 0;
}

/* --- pages leave -------------------------------------------------------------------------------- */

SEC("tp_btf/mm_filemap_delete_from_page_cache")
int HELD_PROG(cache_delete)
{
	struct address_space *mapping = mapping_of(ctx);
	struct inode *inode = file_of_mapping(mapping);
	struct dlt_shared *sh = shared();
	struct dlt_cache_cell *cell;
	struct dlt_cache_sums *sums;
	struct dlt_file_id of;
	__u64 first, pages, fresh;

	if (!inode)
		return 0;
	cache_id(inode, &of);
	cell = cache_cell(&of);
	if (!cell && (!sh || !sh->cache_forgets))
		return 0;
	first = folio_index(ctx);
	pages = folio_pages(ctx);
	fresh = fresh_take(&of, first, first + pages,
			   CACHE_FOLIO_CHUNKS); /* a forgotten file's pages, too, make room */
	if (!cell)
		return 0;
	__sync_fetch_and_add(&cell->cached, -pages);
	sums = cache_sums(cell);
	__sync_fetch_and_add(&sums->evicted, pages);
	if (fresh && !is_mapped(mapping))
		__sync_fetch_and_add(&sums->wasted, fresh);
	return 0;
}

/* --- pages become dirty ------------------------------------------------------------------------- */

static __always_inline void dirtied(__u64 *ctx, struct address_space *mapping)
{
	struct inode *inode = mapping ? mapping->host : NULL;
	struct dlt_cache_cell *cell;
	struct dlt_file_id of;

	if (!inode || (inode->i_mode & MODE_FMT) != MODE_REG)
		return;
	cache_id(inode, &of);
	cell = cell_of(inode, &of);
	if (cell)
		__sync_fetch_and_add(&cache_sums(cell)->dirtied, folio_pages(ctx));
}

SEC("tp_btf/writeback_dirty_folio")
int HELD_PROG(cache_dirty_folio)
{
	dirtied(ctx, (void *)ctx[1]);
	return 0;
}

/* The same tracepoint until 5.16. */
SEC("tp_btf/writeback_dirty_page")
int HELD_PROG(cache_dirty_page)
{
	dirtied(ctx, (void *)ctx[1]);
	return 0;
}

/* --- sums are sent ------------------------------------------------------------------------------ */

/* Adds the sums to REC, and subtracts them: hooks may add meanwhile. */
static __always_inline void sums_take(struct dlt_cache *rec, struct dlt_cache_sums *sums)
{
	const struct dlt_cache_sums now = *(volatile struct dlt_cache_sums *)sums;

#define TAKE(sum) rec->sum += now.sum, __sync_fetch_and_add(&sums->sum, -now.sum)
	TAKE(read_bytes);
	TAKE(hit);
	TAKE(miss);
	TAKE(ahead);
	TAKE(used);
	TAKE(evicted);
	TAKE(wasted);
	TAKE(dirtied);
	TAKE(written);
#undef TAKE
}

/*
 * The daemon runs it. The arguments are the file, the begin of the interval, its end (0: now), and a bit for each turn
 * whose sums are sent.
 */
SEC("raw_tp")
int cache_send(__u64 *ctx)
{
	struct dlt_file_id of = { .ino = ctx[0], .dev = ctx[1], .gen = ctx[1] >> 32 };
	struct dlt_cache_cell *cell = cache_cell(&of);
	struct dlt_stats *st = stats_of(DLT_cache);
	__u64 begin_ns = ctx[2], until_ns = ctx[3], turns = ctx[4];
	struct dlt_shared *sh = shared();
	struct dlt_cache *rec;
	void *ring = ring_here();

	if (!cell || !st || !sh || !ring)
		return 0;
	if (cell->owed_ns) { /* then those of the other turn are owed, too */
		begin_ns = cell->owed_ns;
		turns = (1 << DLT_CACHE_TURNS) - 1;
	}
	rec = bpf_ringbuf_reserve(ring, sizeof(*rec), 0);
	if (!rec) {
		cell->owed_ns = begin_ns;
		if (ended) {
			st->seen++;
			st->lost++;
		}
		return 0;
	}
	st->seen++;
	st->emitted++;
	__builtin_memset(rec, 0, sizeof(*rec));
	rec->hdr.probe = DLT_cache;
	rec->hdr.size = sizeof(*rec);
	rec->hdr.ts_ns = bpf_ktime_get_ns(); /* after the reserve, as everywhere */
	rec->until_ns = until_ns ? until_ns : rec->hdr.ts_ns;
	rec->hdr.lat_ns = rec->until_ns - begin_ns;
	rec->id = cell->id;
	for (int t = 0; t < DLT_CACHE_TURNS; t++)
		if (turns >> t & 1)
			sums_take(rec, &cell->sums[t]);
	if (!sh->writes_shown)
		rec->written = DLT_NONE;
	cell->owed_ns = 0;
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return 0;
}

/*
 * The daemon runs it, when cells are scarce. The arguments are a file, all of whose sums had been sent, and whether its
 * cell goes although pages of it are cached: then nobody counts them when they leave.
 */
SEC("raw_tp")
int cache_forget(__u64 *ctx)
{
	struct dlt_file_id of = { .ino = ctx[0], .dev = ctx[1], .gen = ctx[1] >> 32 };
	struct dlt_cache_cell *cell = cache_cell(&of);
	struct dlt_stats *st = stats_of(DLT_cache);
	struct dlt_shared *sh = shared();
	const volatile __u64 *sums;
	bool cached;

	if (!cell || !st || !sh)
		return 0;
	cached = cell->cached > 0;
	if (cached && !ctx[2])
		return 0;
	sums = (const volatile __u64 *)cell->sums;
	for (__u32 i = 0; i < sizeof(cell->sums) / 8; i++)
		if (sums[i])
			return 0;
	if (bpf_map_delete_elem(&dlt_cache_cells, &of))
		return 0;
	__sync_fetch_and_add(&sh->cache_cells, -1);
	__sync_fetch_and_add(&sh->cache_forgets, 1);
	st->overwritten += cached;
	return 0;
}
