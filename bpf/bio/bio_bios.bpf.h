/* SPDX-License-Identifier: BSD-2-Clause */
/* Bios that are entries themselves: of disks without requests (dm, md, nvme multipath heads, zram, pmem). */
#ifndef BIO_BIOS_BPF_H
#define BIO_BIOS_BPF_H

#include "bio/bio_entry.bpf.h"

#define BIOS_AT_ONCE 32

__u64 bios_in_flight;

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

/* Whether the bio at KEY was queued on such a disk, and is not done. */
static __always_inline bool bio_is_in_flight(__u64 key)
{
	struct dlt_bio_flight *io = bpf_map_lookup_elem(&in_flight, &key);

	return io && io->rec.flags & DLT_BIO_BIO;
}

/*
 * The bio at KEY begins, on a disk with requests. A bio that is passed on is not queued again (BIO_TRACE_COMPLETION),
 * so an entry at this address is that of an earlier bio, whose end was missed.
 */
static __always_inline void bio_begins(__u64 key)
{
	if (!bios_in_flight || !bio_is_in_flight(key))
		return;
	count_lost_unseen(DLT_bio);
	bpf_map_delete_elem(&in_flight, &key);
	__sync_fetch_and_add(&bios_in_flight, -1);
}

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

/* As a number, also to the verifier: what a global function takes and returns. */
static __always_inline __u64 bio_next(__u64 bio)
{
	return load_u64(bio + bpf_core_field_offset(struct bio, bi_next));
}

/* Returns the bytes of the BIOS_AT_ONCE bios from BIO on. */
__noinline __u64 bios_bytes(__u64 bio)
{
	__u64 bytes = 0;

	for (int i = 0; i < BIOS_AT_ONCE && bio; i++) {
		struct bio *at = KCAST(bio, bio);

		bytes += KLOAD(at, bi_iter.bi_size);
		bio = bio_next(bio);
	}
	return bytes;
}

/* Completes as many bios, up to BYTES. Returns the bio after them, 0 after the last. */
__noinline __u64 carried_some(__u64 bio, __s64 status, __u32 bytes)
{
	for (int i = 0; i < BIOS_AT_ONCE && bio; i++) {
		struct bio *at = KCAST(bio, bio);
		__u32 size = KLOAD(at, bi_iter.bi_size);

		if (bytes < size)
			return 0;
		bytes -= size;
		carried_bio(bio, status);
		bio = bio_next(bio);
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
	for (int i = 0; i < BIOS_OF_REQUEST / BIOS_AT_ONCE && bio; i++) {
		__u64 there = bios_bytes(bio);

		bio = carried_some(bio, status, bytes);
		bytes -= there;
	}
	return 0;
}

#endif
