/* SPDX-License-Identifier: BSD-2-Clause */
/* A request or bio in flight: its entry, from which its row is made when it ends. */
#ifndef BIO_ENTRY_BPF_H
#define BIO_ENTRY_BPF_H

#include "dlt.bpf.h"

#include "dlt/bio.h"

extern const volatile struct dlt_bio_kernel kernel;

#define BIOS_OF_REQUEST 1024 /* merged: 4 MiB in pages */

/* By address of the request or bio. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, struct dlt_bio_flight);
} in_flight SEC(".maps");

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
	DLT_BIO_READ,  DLT_BIO_WRITE, DLT_BIO_FLUSH, DLT_BIO_DISCARD, DLT_BIO_OTHER, DLT_BIO_DISCARD,
	DLT_BIO_OTHER, DLT_BIO_WRITE, DLT_BIO_OTHER, DLT_BIO_ZERO,    DLT_BIO_OTHER, DLT_BIO_OTHER,
	DLT_BIO_OTHER, DLT_BIO_OTHER, DLT_BIO_OTHER, DLT_BIO_OTHER,
};

static __always_inline __u32 type_of(__u32 opf, __u32 bytes)
{
	__u32 op = opf & 0xff, type;

	type = op < sizeof(op_types) ? op_types[op] : DLT_BIO_OTHER;
	/* a bio requests a flush by an empty write */
	return type == DLT_BIO_WRITE && !bytes ? DLT_BIO_FLUSH : type;
}

#define FLAG(opf, name) ((opf) >> bpf_core_enum_value(enum req_flag_bits, __REQ_##name) & 1 ? DLT_BIO_##name : 0)

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
	rec->flags = FLAG(opf, SYNC) | FLAG(opf, META) | FLAG(opf, FUA) | FLAG(opf, PREFLUSH) | FLAG(opf, RAHEAD) |
		     (rec->hdr.tgid == dlt_cfg.self_tgid ? DLT_BIO_SELF : 0);
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

#endif
