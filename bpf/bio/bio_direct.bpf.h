/* SPDX-License-Identifier: BSD-2-Clause */
/* Direct I/O: what is noted of a bio when it is queued, as its pages are the program's and not the file's. */
#ifndef BIO_DIRECT_BPF_H
#define BIO_DIRECT_BPF_H

#include "bio/bio_extent.bpf.h"
#include "bio/bio_inode.bpf.h"

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
	__u64 dio, iocb, file, inode, behind; /* numbers to the verifier, as arguments of global functions must be */

	if (!d || !addr || (dlt_cfg.owned && !target_has(bpf_get_current_pid_tgid() >> 32)))
		return 0;
	dio = (__u64)KLOAD(bio, bi_private);
	iocb = load_u64(dio + bpf_core_field_offset(struct iomap_dio, iocb));
	file = load_u64(iocb + bpf_core_field_offset(struct kiocb, ki_filp));
	inode = load_u64(file + bpf_core_field_offset(struct file, f_inode));
	if (!inode)
		return 0;
	direct_put(d, addr);
	behind = load_u64(dio + bpf_core_field_offset(struct iomap_dio, size));
	if (!behind)
		direct_counts_later = 1;
	d->off = load_u64(iocb + bpf_core_field_offset(struct kiocb, ki_pos)) + behind -
		 (direct_counts_later ? 0 : d->bytes);
	d->inode = inode;
	inode_note(inode, file);
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
	l->bio = (__u64)
		bio; /* read from memory it is a number to the verifier, as arguments of global functions must be */
	if (end == kernel.end_direct)
		direct_note();
	else
		raw_note();
	l->busy = 0;
}

#endif
