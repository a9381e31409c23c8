/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Disk requests of the whole machine: noted when they are queued, counted when the driver gets them,
 * written when their last byte is done. Disks that take no requests are traced by their bios.
 *
 * A queued request may still be merged with others, returned by the driver, completed in parts or completed
 * twice: see the handlers. Until it is done, its address identifies it.
 */
#include "dlt.bpf.h"

#include "dlt/bio.h"

const volatile struct dlt_bio_kernel kernel = {};

#include "bio_file.bpf.h"

/* By address of the request or bio. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, struct dlt_bio_flight);
} in_flight SEC(".maps");

/* Without block_io_start: a request's entry until it is issued, by address of its bio. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, __u64);
	__type(value, struct dlt_bio_flight);
} queued SEC(".maps");

__u64 bios_in_flight;

#define MERGED_BIOS 1024 /* of one request: 4 MiB in pages */
#define BIOS_AT_ONCE 32
#define FRONT_MERGES 16

/*
 * The asm keeps clang from making one load with a computed offset, which the verifier does not accept as
 * context access.
 */
#define SECOND_IF(cond, ctx)                                                                       \
	({                                                                                         \
		__u64 v_;                                                                          \
		if (cond) {                                                                        \
			v_ = (ctx)[1];                                                             \
			asm volatile("" : "+r"(v_));                                               \
		} else {                                                                           \
			v_ = (ctx)[0];                                                             \
		}                                                                                  \
		(void *)v_;                                                                        \
	})

/* Cast although typed: see task_current(). */
#define REQUEST(p) KCAST(request, p)
#define BIO(p) KCAST(bio, p)

/* --- an entry --------------------------------------------------------------------------------- */

static __always_inline bool disk_wanted(struct gendisk *disk)
{
	__u32 dev, i;

	if (!dlt_cfg.n_disks)
		return true;
	dev = disk->major << 20 | disk->first_minor; /* no disk (a bare SCSI device): reads as 0 */
	for (i = 0; i < DLT_MAX_DISKS && i < dlt_cfg.n_disks; i++)
		if (dlt_cfg.disks[i] == dev)
			return true;
	return false;
}

/*
 * REQ_OP_* 0 to 9 (include/linux/blk_types.h) have stood for the same operations since 4.12. Only 7 has
 * changed: WRITE_SAME until 5.17, ZONE_APPEND since 6.0, both of them writes.
 */
const volatile __u8 op_types[16] = {
	DLT_BIO_READ,  DLT_BIO_WRITE,	DLT_BIO_FLUSH, DLT_BIO_DISCARD,
	DLT_BIO_OTHER, DLT_BIO_DISCARD, DLT_BIO_OTHER, DLT_BIO_WRITE,
	DLT_BIO_OTHER, DLT_BIO_ZERO,	DLT_BIO_OTHER, DLT_BIO_OTHER,
	DLT_BIO_OTHER, DLT_BIO_OTHER,	DLT_BIO_OTHER, DLT_BIO_OTHER,
};

static __always_inline __u32 type_of(__u32 opf, __u32 bytes)
{
	__u32 op = opf & 0xff, type;

	type = op < sizeof(op_types) ? op_types[op] : DLT_BIO_OTHER;
	/* a bio requests a flush by an empty write */
	return type == DLT_BIO_WRITE && !bytes ? DLT_BIO_FLUSH : type;
}

#define FLAG(opf, name)                                                                            \
	((opf) >> bpf_core_enum_value(enum req_flag_bits, __REQ_##name) & 1 ? DLT_BIO_##name : 0)

/* IO is all zero on entry. */
static __always_inline void io_note(struct dlt_bio_flight *io, __u32 opf, __u32 bytes)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct dlt_bio *rec = &io->rec;

	rec->hdr.tgid = pid_tgid >> 32;
	rec->hdr.tid = (__u32)pid_tgid;
	comm_read(rec->hdr.comm, task_current());
	rec->hdr.probe = DLT_bio;
	rec->hdr.size = sizeof(*rec);
	rec->type = type_of(opf, bytes);
	rec->flags = FLAG(opf, SYNC) | FLAG(opf, META) | FLAG(opf, FUA) | FLAG(opf, PREFLUSH) |
		     FLAG(opf, RAHEAD) | (rec->hdr.tgid == dlt_cfg.self_tgid ? DLT_BIO_SELF : 0);
	rec->bytes = bytes;
	io->queued_ns = bpf_ktime_get_ns();
	if (dlt_cfg.owned && !target_has(rec->hdr.tgid)) /* it belongs to no task: see foreign() */
		rec->hdr.tgid = rec->hdr.tid = 0;
}

/* Requests are the machine's. A trace with an owner only counts those of other users. */
static __always_inline bool foreign(const struct dlt_bio_flight *io)
{
	struct dlt_stats *st = stats_of(DLT_bio);

	/* an owner's trace notes only the writers of its target */
	if (!dlt_cfg.owned || io->rec.hdr.tgid || io->rec.writers > 0)
		return false;
	if (st)
		st->foreign++;
	return true;
}

static __always_inline void io_place(struct dlt_bio_flight *io, struct gendisk *disk, __u64 sector)
{
	bpf_core_read(io->rec.disk, sizeof(io->rec.disk), &disk->disk_name);
	if (io->rec.type == DLT_BIO_FLUSH || sector == ~0ULL) /* -1: passthrough */
		io->rec.sector = DLT_NONE;
	else
		io->rec.sector = sector;
}

static __always_inline bool stopping(void)
{
	struct dlt_shared *sh = shared();

	return !sh || sh->stopping;
}

/* Count an entry that is to become a row, unless the trace is stopping. */
static __always_inline bool io_seen(void)
{
	struct dlt_stats *stats = stats_of(DLT_bio);

	if (!stats || stopping())
		return false;
	stats->seen++;
	return true;
}

/* Counts a stale entry that was to become a row: the kernel skipped the program at its end (recursion, policy). */
static __always_inline long io_put(__u64 key, const struct dlt_bio_flight *io)
{
	struct dlt_bio_flight *old = bpf_map_lookup_elem(&in_flight, &key);

	if (old && old->given)
		count_lost_unseen(DLT_bio);
	return bpf_map_update_elem(&in_flight, &key, io, BPF_ANY);
}

static __noinline int io_emit(struct dlt_bio_flight *io)
{
	struct dlt_bio *rec;

	if (foreign(io))
		return 0;
	rec = rec_reserve(DLT_bio, sizeof(*rec), true);
	if (!rec)
		return 0;
	__builtin_memcpy(rec, &io->rec, sizeof(*rec));
	rec->done_tgid = bpf_get_current_pid_tgid() >> 32;
	if (dlt_cfg.owned && !target_has(rec->done_tgid)) {
		rec->done_tgid = DLT_NONE;
		__builtin_memset(rec->done_comm, 0, DLT_COMM_LEN);
	} else {
		comm_read(rec->done_comm, task_current());
	}
	rec->hdr.ts_ns = bpf_ktime_get_ns();
	rec->hdr.lat_ns = rec->hdr.ts_ns - io->queued_ns;
	if (rec->flags & DLT_BIO_BIO)
		rec->qlat_ns = DLT_NONE;
	else /* returned by the driver and ended without another try: all of it was waiting */
		rec->qlat_ns = io->issued_ns ? io->issued_ns - io->queued_ns : rec->hdr.lat_ns;
	rec_submit(rec, DLT_bio);
	return 0;
}

static __always_inline __s64 errno_of(__u8 status)
{
	return kernel.status_errno[status < DLT_BIO_STATUSES ? status : DLT_BIO_STATUSES - 1];
}

/* --- without block_io_start ------------------------------------------------------------------- */

/* Returns the entry of RQ, and in *KEY the bio by which it is found; a front merge puts other bios before that one. */
static __always_inline struct dlt_bio_flight *queued_find(struct request *rq, __u64 *key)
{
	struct bio *bio = rq->bio;
	struct dlt_bio_flight *io;
	int i;

	for (i = 0; i < FRONT_MERGES && bio; i++, bio = bio->bi_next) {
		*key = (__u64)bio;
		io = bpf_map_lookup_elem(&queued, key);
		if (io)
			return io;
	}
	return NULL;
}

/* Forgets RQ, which has ended: the address of its bio may soon belong to another request. */
static __always_inline void queued_drop(struct request *rq)
{
	__u64 key;

	if (!kernel.has_io_start && queued_find(rq, &key))
		bpf_map_delete_elem(&queued, &key);
}

/* --- the ends: attached first, so that no entry is made whose end would be missed --------------- */

static __always_inline void bio_finish(__u64 key, __s64 status)
{
	struct dlt_bio_flight *io = bpf_map_lookup_elem(&in_flight, &key);

	if (!io || !(io->rec.flags & DLT_BIO_BIO))
		return;
	io->rec.status = status;
	io_emit(io);
	bpf_map_delete_elem(&in_flight, &key);
	__sync_fetch_and_add(&bios_in_flight, -1);
}

/* Global functions, here and below: the verifier checks each once, not at every step of the walks. */
__noinline int carried_bio(__u64 key, __s64 status)
{
	bio_finish(key, status);
	return 0;
}

/* Returns the bytes of the BIOS_AT_ONCE bios from BIO on. */
__noinline __u64 bios_bytes(__u64 bio)
{
	__u64 bytes = 0;

	for (int i = 0; i < BIOS_AT_ONCE && bio; i++) {
		bytes += BPF_CORE_READ((struct bio *)bio, bi_iter.bi_size);
		bio = (__u64)BPF_CORE_READ((struct bio *)bio, bi_next);
	}
	return bytes;
}

/* Completes as many bios, up to BYTES. Returns the bio after them, 0 after the last. */
__noinline __u64 carried_some(__u64 bio, __s64 status, __u32 bytes)
{
	for (int i = 0; i < BIOS_AT_ONCE && bio; i++) {
		__u32 size = BPF_CORE_READ((struct bio *)bio, bi_iter.bi_size);

		if (bytes < size)
			return 0;
		bytes -= size;
		carried_bio(bio, status);
		bio = (__u64)BPF_CORE_READ((struct bio *)bio, bi_next);
	}
	return bio;
}

/*
 * nvme multipath and md's simple levels pass the very same bio on to a disk below. block_bio_complete does
 * not fire for it then; the request that carries the bio does (blk_update_request, BIO_TRACE_COMPLETION).
 * BIO is the request's first, BYTES the number of bytes completed now.
 */
__noinline int carried_bios(__u64 bio, __s64 status, __u32 bytes)
{
	for (int i = 0; i < MERGED_BIOS / BIOS_AT_ONCE && bio; i++) {
		__u64 there = bios_bytes(bio);

		bio = carried_some(bio, status, bytes);
		bytes -= there;
	}
	return 0;
}

/* Called before the request changes: __data_len is what is still missing, NR_BYTES what completes now. */
SEC("tp_btf/block_rq_complete")
int HELD_PROG(bio_complete)
{
	struct request *rq = REQUEST(ctx[0]);
	__s64 status = kernel.status_is_errno ? (__s32)ctx[1] : errno_of((__u8)ctx[1]);
	__u32 nr_bytes = (__u32)ctx[2];
	struct dlt_bio_flight *io;
	__u64 key = (__u64)rq, first;

	/* with an end_io the bios are done later: in a flush sequence, at the second completion */
	if (bios_in_flight && !rq->end_io && !bpf_core_read(&first, sizeof(first), &rq->bio))
		carried_bios(first, status, nr_bytes);
	io = bpf_map_lookup_elem(&in_flight, &key);
	if (!io || !io->given) {
		/* ended by the block layer alone: empty flushes, second completions */
		if (io && !io->issued_ns && nr_bytes && !status && io_seen())
			count_lost_unseen(DLT_bio); /* 0: the program at its issue did not run */
		bpf_map_delete_elem(&in_flight, &key);
		queued_drop(rq);
		return 0;
	}
	if (!io->rec.status)
		io->rec.status = status;
	io->done_bytes += nr_bytes;
	if (nr_bytes < rq->__data_len)
		return 0;
	io_emit(io);
	if (rq->end_io && io->rec.type == DLT_BIO_WRITE &&
	    io->rec.flags & (DLT_BIO_FUA | DLT_BIO_PREFLUSH))
		io->given = 0; /* a flush after it may look up its submitter: see flush_origin */
	else
		bpf_map_delete_elem(&in_flight, &key);
	return 0;
}

SEC("tp_btf/block_bio_complete")
int HELD_PROG(bio_end, struct request_queue *q, struct bio *bio)
{
	if (bios_in_flight)
		bio_finish((__u64)bio, errno_of(bio->bi_status));
	return 0;
}

/* Merged into a neighbor, whose row will include its bytes. */
SEC("tp_btf/block_rq_merge")
int HELD_PROG(bio_merge)
{
	struct request *rq = REQUEST(SECOND_IF(kernel.queue_before_rq, ctx));
	struct dlt_stats *stats = stats_of(DLT_bio);
	struct dlt_bio_flight *io;
	__u64 key = (__u64)rq;

	io = bpf_map_lookup_elem(&in_flight, &key);
	if (io && io->given && stats) /* only the sum over the CPUs counts */
		stats->seen--;
	bpf_map_delete_elem(&in_flight, &key);
	queued_drop(rq);
	return 0;
}

/* Returned by the driver: it will be issued again, merged, or failed. */
SEC("tp_btf/block_rq_requeue")
int HELD_PROG(bio_requeue)
{
	__u64 key = (__u64)SECOND_IF(kernel.queue_before_rq, ctx);
	struct dlt_bio_flight *io = bpf_map_lookup_elem(&in_flight, &key);

	if (io)
		io->issued_ns = 0;
	return 0;
}

/* --- the beginnings, also from the last to the first -------------------------------------------- */

/*
 * block/blk-flush.c sends flushes for the requests that wait for one, from any context. A flush carries the
 * tag of the first of them (blk_kick_flush), which identifies the submitter.
 */
static __always_inline struct dlt_bio_flight *flush_origin(struct request *rq)
{
	struct blk_mq_tags *tags = rq->mq_hctx->sched_tags;
	struct dlt_bio_flight *io;
	struct request *first = NULL;
	int tag = rq->internal_tag;
	__u64 key = 0;

	if (tag < 0) { /* no scheduler */
		tags = rq->mq_hctx->tags;
		tag = rq->tag;
	}
	if (!bpf_core_field_exists(tags->static_rqs) || (__u32)tag >= tags->nr_tags)
		return NULL;
	bpf_core_read(&first, sizeof(first), tags->static_rqs + tag);
	if (!first)
		return NULL;
	key = (__u64)first;
	io = bpf_map_lookup_elem(&in_flight, &key);
	if (io || kernel.has_io_start)
		return io;
	bpf_core_read(&key, sizeof(key), &first->bio);
	return bpf_map_lookup_elem(&queued, &key);
}

/*
 * An entry for a request that got none when it was queued: a flush, any request where block_io_start is
 * missing, or one from before the trace.
 */
static __noinline struct dlt_bio_flight *io_adopt(struct request *rq)
{
	struct dlt_bio_flight *known = NULL;
	struct dlt_bio_flight io = {};
	__u64 key = (__u64)rq, bio;

	if (!kernel.has_io_start)
		known = queued_find(rq, &bio);
	if (known) {
		io_put(key, known);
		bpf_map_delete_elem(&queued, &bio);
	} else {
		io_note(&io, rq->cmd_flags, rq->__data_len);
		if (rq->start_time_ns)
			io.queued_ns = rq->start_time_ns;
		known = io.rec.type == DLT_BIO_FLUSH ? flush_origin(rq) : NULL;
		if (known) {
			io.rec.hdr.tgid = known->rec.hdr.tgid;
			io.rec.hdr.tid = known->rec.hdr.tid;
			__builtin_memcpy(io.rec.hdr.comm, known->rec.hdr.comm, DLT_COMM_LEN);
			io.rec.flags &= ~DLT_BIO_SELF;
			io.rec.flags |= known->rec.flags & DLT_BIO_SELF;
		}
		io_put(key, &io);
	}
	return bpf_map_lookup_elem(&in_flight, &key);
}

/* FILES: look for the file of the request. A constant of two programs: the one without it has no code for that. */
static __always_inline int issued(unsigned long long *ctx, bool files)
{
	struct request *rq = REQUEST(SECOND_IF(kernel.queue_before_rq, ctx));
	struct gendisk *disk = rq_disk(rq);
	struct dlt_bio_flight *io;
	__u64 key = (__u64)rq;

	if (!disk_wanted(disk))
		return 0;
	io = bpf_map_lookup_elem(&in_flight, &key);
	/* issued already and not returned: an earlier request at this address, whose end was missed */
	if (!io || !io->given || io->issued_ns) {
		if (!io_seen())
			return 0;
		if (!io || !kernel.has_io_start || io->given)
			io = io_adopt(rq);
		if (!io) {
			count_lost_room(DLT_bio);
			return 0;
		}
		io->given = 1;
	}
	if (!io->done_bytes) /* else the rest of one that completed in part */
		io_place(io, disk, rq->__sector);
	io->rec.bytes = io->done_bytes + rq->__data_len;
	if (!files)
		file_unknown(&io->rec);
	else if (!io->rec.kind)
		file_look(&io->rec, (__u64)rq->bio);
	io->issued_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/block_rq_issue")
int HELD_PROG(bio_issue)
{
	return issued(ctx, true);
}

/* As above, for a kernel that refuses the look for files: dlt_config.plain. */
SEC("tp_btf/block_rq_issue")
int HELD_PROG(bio_issue_plain)
{
	return issued(ctx, false);
}

SEC("tp_btf/block_io_start")
int HELD_PROG(bio_start)
{
	struct request *rq = REQUEST(ctx[0]);
	struct dlt_bio_flight io = {};

	/* once the ends are detached, requests in flight must stay as they are */
	if (!disk_wanted(rq_disk(rq)) || stopping())
		return 0;
	io_note(&io, rq->cmd_flags, rq->__data_len);
	io_put((__u64)rq, &io); /* no room: tried again at issue */
	return 0;
}

/* block_io_start's job before 6.5 (commit 5a80bd075f3b): this bio is about to become a request. */
SEC("tp_btf/block_getrq")
int HELD_PROG(bio_getrq)
{
	struct bio *bio = BIO(SECOND_IF(kernel.queue_before_bio, ctx));
	struct dlt_bio_flight io = {};
	__u64 key = (__u64)bio;

	if (!disk_wanted(bio_disk(bio)))
		return 0;
	io_note(&io, bio->bi_opf, bio->bi_iter.bi_size);
	bpf_map_update_elem(&queued, &key, &io, BPF_ANY);
	return 0;
}

/* --- which task dirties pages ------------------------------------------------------------------ */

SEC("tp_btf/writeback_dirty_folio")
int HELD_PROG(bio_dirty_folio)
{
	struct address_space *mapping = (void *)ctx[1];
	struct inode *inode = mapping ? mapping->host : NULL;

	if (inode)
		dirtier_note(ctx, inode);
	return 0;
}

/* The same tracepoint until 5.16. */
SEC("tp_btf/writeback_dirty_page")
int HELD_PROG(bio_dirty_page)
{
	struct address_space *mapping = (void *)ctx[1];
	struct inode *inode = mapping ? mapping->host : NULL;

	if (inode)
		dirtier_note(ctx, inode);
	return 0;
}

/* --- disks without requests: dm, md, nvme multipath heads, zram, pmem ------------------------- */

/* A function of its own, since an entry takes half of the stack, and the look for its file needs most of it. */
static __noinline struct dlt_bio_flight *bio_put(struct bio *bio, struct gendisk *disk)
{
	struct dlt_bio_flight io = {};
	__u64 key = (__u64)bio;

	io_note(&io, bio->bi_opf, bio->bi_iter.bi_size);
	io_place(&io, disk, bio->bi_iter.bi_sector);
	io.rec.flags |= DLT_BIO_BIO;
	io.given = 1;
	io_put(key, &io);
	return bpf_map_lookup_elem(&in_flight, &key);
}

/* FILES: see issued(). */
static __always_inline int bio_queued(unsigned long long *ctx, bool files)
{
	struct bio *bio = BIO(SECOND_IF(kernel.queue_before_bio, ctx));
	struct gendisk *disk = bio_disk(bio);
	struct dlt_bio_flight *io;

	if (!disk_wanted(disk))
		return 0;
	if (files)
		direct_queued(bio);
	if (disk->queue->mq_ops || !io_seen())
		return 0;
	io = bio_put(bio, disk);
	if (!io) {
		count_lost_room(DLT_bio);
		return 0;
	}
	if (files)
		file_look(&io->rec, (__u64)bio);
	else
		file_unknown(&io->rec);
	__sync_fetch_and_add(&bios_in_flight, 1);
	return 0;
}

SEC("tp_btf/block_bio_queue")
int HELD_PROG(bio_queue)
{
	return bio_queued(ctx, true);
}

SEC("tp_btf/block_bio_queue")
int HELD_PROG(bio_queue_plain)
{
	return bio_queued(ctx, false);
}
