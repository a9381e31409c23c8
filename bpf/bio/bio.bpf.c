/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Disk requests of the whole machine: noted when they are queued, counted when the driver gets them,
 * written when their last byte is done. Disks that take no requests are traced by their bios (bio_bios.bpf.h).
 *
 * A queued request may still be merged with others, returned by the driver, completed in parts or completed
 * twice: see the handlers. Until it is done, its address identifies it.
 */
#include "dlt.bpf.h"

#include "dlt/bio.h"

const volatile struct dlt_bio_kernel kernel = {};

#include "bio/bio_bios.bpf.h"
#include "bio/bio_entry.bpf.h"
#include "bio/bio_file.bpf.h"

/* Without block_io_start: a request's entry until it is issued, by address of its bio. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, __u64);
	__type(value, struct dlt_bio_flight);
} queued SEC(".maps");

#define FRONT_MERGES 16

/*
 * The asm keeps clang from making one load with a computed offset, which the verifier does not accept as
 * context access.
 */
#define SECOND_IF(cond, ctx)                         \
	({                                           \
		__u64 v_;                            \
		if (cond) {                          \
			v_ = (ctx)[1];               \
			asm volatile("" : "+r"(v_)); \
		} else {                             \
			v_ = (ctx)[0];               \
		}                                    \
		(void *)v_;                          \
	})

/* Cast although typed: see task_current(). */
#define REQUEST(p) KCAST(request, p)
#define BIO(p) KCAST(bio, p)

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
	if (rq->end_io && io->rec.type == DLT_BIO_WRITE && io->rec.flags & (DLT_BIO_FUA | DLT_BIO_PREFLUSH))
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
	if (disk->queue->mq_ops) {
		bio_begins((__u64)bio);
		return 0;
	}
	if (!io_seen())
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
