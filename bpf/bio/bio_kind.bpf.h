/* SPDX-License-Identifier: BSD-2-Clause */
/* What a bio is for: by the function that ends it. */
#ifndef BIO_KIND_BPF_H
#define BIO_KIND_BPF_H

#include "bio/bio_bios.bpf.h"
#include "bio/bio_page.bpf.h"

/* Returns what the function at END ends: the kind, and DLT_BIO_END_*. */
__noinline __u64 end_find(__u64 end)
{
	__u32 i;

	for (i = 0; i < DLT_BIO_ENDS && i < kernel.n_ends; i++)
		if (kernel.ends[i].addr == end)
			return kernel.ends[i].kind;
	return kernel.n_ends ? DLT_BIO_UNKNOWN : DLT_BIO_KIND_NONE;
}

/* In the bio of a buffer head: the journal has its own function for these. 7.2 has it in the bio. */
struct buffer_head___v7_1 {
	void *b_end_io;
} __attribute__((preserve_access_index));

static __always_inline __u32 head_kind(__u64 head)
{
	__u64 end = 0;

	if (bpf_core_field_exists(struct buffer_head___v7_1, b_end_io))
		end = load_u64(head + bpf_core_field_offset(struct buffer_head___v7_1, b_end_io));
	return end && end_find(end) == DLT_BIO_JOURNAL ? DLT_BIO_JOURNAL : DLT_BIO_METADATA;
}

/*
 * For a bio that its thread waits for: in direct I/O on a block device the buffer is the program's own memory; except
 * for pages on their way to swap space.
 */
static __always_inline __u32 waited_kind(const struct bio_look *l)
{
	struct bio_vec vec = {};
	__u64 head, flags;
	__u32 in;

	vec_read(l, l->at, &vec);
	head = page_head(vec_page(&vec, l->done, &in));
	if ((head_mapping(head) & 3) != 1) /* PAGE_MAPPING_ANON, linux/page-flags.h */
		return DLT_BIO_UNKNOWN;
	flags = load_u64(head);
	return l->op == DLT_BIO_WRITE && PAGE_HAS(flags, swapcache) && PAGE_HAS(flags, writeback) ? DLT_BIO_SWAP :
												    DLT_BIO_DIRECT;
}

/*
 * Sets LOOK->kind, by the function that ends the bio. A function of its own: values from memory are plain numbers to
 * the verifier.
 */
__noinline int end_look(void)
{
	struct bio_look *l = look_get();

	if (!l)
		return 0;
	if (l->end_now != l->end) {
		l->end = l->end_now;
		l->end_kind = end_find(l->end);
	}
	l->kind = (__u32)l->end_kind & DLT_BIO_END_KIND;
	if (l->end_kind & DLT_BIO_END_HEAD && l->origin == l->bio)
		l->kind = head_kind(l->private);
	else if (l->end_kind & DLT_BIO_END_WAITED)
		l->kind = waited_kind(l);
	return 0;
}

/*
 * Sets LOOK->is_below for a request whose first bio is LOOK->bio: nvme multipath heads, and md's simple levels
 * before 5.14, pass on the bios that they get, or pieces split off them.
 */
__noinline int below_look(void)
{
	struct bio_look *l = look_get();
	struct bio *bio;
	__u64 key;

	if (!l || !l->bio)
		return 0;
	key = l->bio;
	bio = KCAST(bio, key);
	if (kernel.end_chained && (__u64)KLOAD(bio, bi_end_io) == kernel.end_chained)
		key = (__u64)KLOAD(bio, bi_private);
	l->is_below = bio_is_in_flight(key);
	return 0;
}

#endif
