/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages that enter and leave the page cache, for files that the target reads or writes, whichever process brings them in or
 * removes them. vfs_rw and io_uring add the pages that calls touch, bio adds those that are written back (cache.bpf.h).
 *
 * A page that a reading thread inserts within the range of its read is a miss. Other pages that it inserts, and pages that
 * come without a call, are read-ahead. Each page is noted as untouched until it is touched. A page of a mapped file may be
 * touched without any event, so it is not noted: it never counts as wasted.
 */
#define dlt_scratch cache_scratch
#include "file.bpf.h"

#include "cache.bpf.h"
#include "rw.bpf.h"

const volatile __u32 sendfile_nr = 0, splice_nr = 0, copy_file_range_nr = 0, io_submit_nr = 0;

/* Set when the trace ends: sums that find no room in a ring now are lost, as no later round sends them. */
volatile __u32 ended;

/* --- pages that are noted as untouched ---------------------------------------------------------- */

/* Returns the way that a new chunk gets, DLT_CACHE_WAYS: all are in use. */
static __always_inline __u64 chunk_begin(struct dlt_cache_chunks *c, const struct dlt_file_id *of, __u64 number)
{
	__u64 way;

	for (way = 0; way < DLT_CACHE_WAYS; way++) {
		if (c->key[way].of.ino && !way_is_free(c, way))
			continue;
		c->key[way].of = *of;
		c->key[way].number = number;
		break;
	}
	return way;
}

/* Nonzero: nothing is left. */
__noinline int fresh_note_step(void)
{
	struct cache_range *r = range_get();
	struct dlt_cache_chunks *c;
	struct dlt_stats *st;
	__u64 number, left, i, way;

	if (!r || r->page >= r->end)
		return 1;
	number = r->page / DLT_CACHE_CHUNK;
	i = r->page & (DLT_CACHE_CHUNK - 1);
	left = r->end - r->page;
	if (left > DLT_CACHE_CHUNK - i)
		left = DLT_CACHE_CHUNK - i;
	r->page += left;
	c = chunks_of(&r->of, number);
	if (!c)
		return 0;
	way = chunk_way(c, &r->of, number);
	if (way == DLT_CACHE_WAYS)
		way = chunk_begin(c, &r->of, number);
	if (way == DLT_CACHE_WAYS) {
		st = stats_of(DLT_cache);
		if (st)
			st->refused += left;
		return 0;
	}
	if (left == DLT_CACHE_CHUNK) {
		chunk_fill(c, way);
		return 0;
	}
	/* a folio of eight pages or more begins at a multiple of eight */
	for (__u32 turn = 0; turn < DLT_CACHE_CHUNK / 8 && left >= 8 && !(i & 7); turn++, i += 8, left -= 8)
		*fresh_eight(c, way, i) = CHUNK_EIGHT;
	for (__u32 turn = 0; turn < DLT_CACHE_CHUNK && left; turn++, i++, left--)
		*fresh_of(c, way, i) = 1;
	return 0;
}

/* Returns whether the chunk of PAGE is there: then it is noted. So it is for most of the pages that come one by one. */
static __always_inline bool fresh_note_one(const struct dlt_file_id *of, __u64 page)
{
	__u64 number = page / DLT_CACHE_CHUNK, way;
	struct dlt_cache_chunks *c = chunks_of(of, number);

	if (!c)
		return true;
	way = chunk_way(c, of, number);
	if (way == DLT_CACHE_WAYS)
		return false;
	*fresh_of(c, way, page & (DLT_CACHE_CHUNK - 1)) = 1;
	return true;
}

static __always_inline void fresh_note(const struct dlt_file_id *of, __u64 first, __u64 end)
{
	struct cache_range *r;

	if (end == first + 1 && fresh_note_one(of, first))
		return;
	r = range_get();
	if (!r)
		return;
	r->of = *of;
	r->page = first;
	r->end = end;
	for (int i = 0; i < CACHE_FOLIO_CHUNKS; i++)
		if (fresh_note_step())
			break;
}

/* --- reads -------------------------------------------------------------------------------------- */

/* SLOT is taken over: pages that its read has inserted, and that no end of a call has counted, were read ahead. */
static __always_inline void read_forget(struct dlt_cache_read *slot)
{
	struct dlt_cache_cell *cell = slot->call_ns ? cache_cell(&slot->of) : NULL;

	if (!cell)
		return;
	__sync_fetch_and_add(&cell->cached, slot->pages);
	__sync_fetch_and_add(&cache_sums(cell)->ahead, slot->pages);
}

/* Returns whether CALL moves bytes between two descriptors. */
static __always_inline bool copies(const struct dlt_call *call)
{
	return call->nr == sendfile_nr || call->nr == splice_nr || call->nr == copy_file_range_nr;
}

/* Returns which of its arguments is the descriptor that CALL reads. */
static __always_inline __u64 read_fd(const struct dlt_call *call)
{
	return call->nr == sendfile_nr ? call->args[1] : call->args[0];
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
	file = file_of_fd(task_current(), read_fd(call));
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
 * What this thread's call has inserted is no longer one run, as some of the pages were there: notes which ones it asks for,
 * and counts those of the run. Where that is unknown it asks for all: what it did not get is found when it ends.
 */
__noinline int read_wants(void)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_cache_read *slot = cache_read_slot(tid);
	struct dlt_call *call = call_find(tid);
	__u32 shift = dlt_cfg.page_shift & 31;
	__u64 len, first, end = ~0ULL;
	__s64 begin;

	if (!slot || !call)
		return 0;
	begin = read_begin(call);
	len = read_len(call);
	first = begin > 0 ? begin >> shift : 0;
	if (begin >= 0 && len < 1ULL << 62)
		end = ((begin + len - 1) >> shift) + 1;
	slot->missed = pages_within(slot->first, slot->top, first, end);
	slot->first = first;
	slot->end = end;
	return 0;
}

/* This thread's CALL has inserted pages of OF, which has a cell. */
static __always_inline void read_inserts(struct dlt_cache_read *slot, const struct dlt_call *call, const struct dlt_file_id *of,
					 __u64 first, __u64 end)
{
	if (slot->call_ns != call->start_ns || !cache_read_is_of(slot, call->tid, of)) {
		read_forget(slot);
		slot->tid = call->tid;
		slot->call_ns = call->start_ns;
		slot->of = *of;
		slot->pages = slot->end = 0;
		slot->first = slot->top = first;
	}
	if (first != slot->top && !slot->end)
		read_wants();
	if (slot->end)
		slot->missed += pages_within(first, end, slot->first, slot->end);
	slot->pages += end - first;
	slot->top = end;
}

/* --- pages enter -------------------------------------------------------------------------------- */

enum inserter { INSERTS_AHEAD, INSERTS_READ, INSERTS_WRITE };

/* Returns which kind of call makes this thread insert pages. */
static __always_inline enum inserter inserter_of(const struct dlt_call *call)
{
	if (!call || call->probe != DLT_vfs_rw || call->nr == io_submit_nr)
		return INSERTS_AHEAD;
	return !copies(call) && call->shape & DLT_RW_WRITE ? INSERTS_WRITE : INSERTS_READ;
}

/* Returns whether MAPPING is that of the file which this thread's CALL, one between two descriptors, writes to. */
static __noinline bool is_copied_to(const struct dlt_call *call, const struct address_space *mapping)
{
	struct file *file = file_of_fd(task_current(), call->nr == sendfile_nr ? call->args[0] : call->args[2]);

	return file && KLOAD(file, f_mapping) == mapping;
}

/*
 * Makes a cell for the inode of the range, which is a file of the target. Its name is sent once. An inode without any name
 * gets none, since no process can open it: btrfs keeps metadata in an inode that looks like a file's.
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

/* Returns the cell of INODE, whose identity is OF; makes one if there is none and the current process is in the target. */
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

static __always_inline bool is_mapped(struct address_space *mapping)
{
	return KLOAD(mapping, i_mmap.rb_root.rb_node) != NULL;
}

static __always_inline struct address_space *mapping_of(__u64 *ctx)
{
	return KCAST(address_space, folio_mapping(ctx));
}

static __always_inline struct inode *file_of_mapping(struct address_space *mapping)
{
	__u64 host = mapping ? (__u64)KLOAD(mapping, host) : 0;
	struct inode *inode = KCAST(inode, host);

	return host && (KLOAD(inode, i_mode) & MODE_FMT) == MODE_REG ? inode : NULL;
}

/* Counts pages that a read has not inserted, into OF's cell. Returns whether there is one. */
static __always_inline bool counts_at_once(struct inode *inode, const struct dlt_file_id *of, enum inserter by, __u64 pages)
{
	struct dlt_cache_cell *cell = cell_of(inode, of);

	if (!cell)
		return false;
	__sync_fetch_and_add(&cell->cached, pages);
	if (by == INSERTS_AHEAD)
		__sync_fetch_and_add(&cache_sums(cell)->ahead, pages);
	return true;
}

/*
 * Makes sure that OF, of which this thread's CALL inserts pages, has a cell. While no file is forgotten, a thread that goes
 * on with a file needs no look-up: the end of its call has one. Returns whether there is a cell.
 */
static __always_inline bool read_has_cell(struct dlt_cache_read *slot, const struct dlt_call *call, struct inode *inode,
					  const struct dlt_file_id *of)
{
	struct dlt_shared *sh = shared();
	__u32 forgets;

	if (!sh)
		return false;
	forgets = *(volatile __u32 *)&sh->cache_forgets; /* before the look-up: what is forgotten after it counts again */
	if (slot->forgets == forgets && cache_read_is_of(slot, call->tid, of))
		return true;
	if (!cell_of(inode, of))
		return false;
	slot->forgets = forgets;
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
	slot = by == INSERTS_READ && call ? cache_read_slot(call->tid) : NULL;
	if (slot && copies(call) && is_copied_to(call, mapping)) {
		by = INSERTS_WRITE;
		slot = NULL;
	}
	if (!slot) {
		if (!counts_at_once(inode, &of, by, end - first) || by == INSERTS_WRITE)
			return 0;
	} else {
		if (!read_has_cell(slot, call, inode, &of))
			return 0;
		read_inserts(slot, call, &of, first, end);
	}
	if (!is_mapped(mapping))
		fresh_note(&of, first, end);
	return 0;
}

/* --- pages leave -------------------------------------------------------------------------------- */

SEC("tp_btf/mm_filemap_delete_from_page_cache")
int HELD_PROG(cache_delete)
{
	struct address_space *mapping = mapping_of(ctx);
	struct inode *inode = file_of_mapping(mapping);
	struct dlt_cache_cell *cell;
	struct dlt_cache_sums *sums;
	struct dlt_file_id of;
	__u64 first, pages, fresh;

	if (!inode)
		return 0;
	cache_id(inode, &of);
	cell = cache_cell(&of);
	if (!cell)
		return 0;
	first = folio_index(ctx);
	pages = folio_pages(ctx);
	fresh = fresh_take(&of, first, first + pages, CACHE_FOLIO_CHUNKS);
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
 * The daemon runs it. The arguments are the file, the begin of the interval, its end (0: now), and a bit for each turn whose
 * sums are sent.
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
 * The daemon runs it, when cells are scarce. The arguments are a file, all of whose sums had been sent, and whether its cell
 * goes although pages of it are cached: then nobody counts them when they leave.
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
