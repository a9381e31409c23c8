/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bios of a request, one after the other, and the extents that they are.
 *
 * This looks at the two ends of each bio. If both have the same file, and are as far apart in it as in the bio, the bio
 * is one extent (compared with a look at each page: equal results, at a fortieth of the cost). Otherwise it looks at
 * each vector of the bio, again by its two ends, and only where these disagree at each page.
 *
 * Loops stay loops: the kernel's check of the stack goes down every path of calls, which for loops in loops, each
 * unrolled to 32 calls, were 65 million instructions for each program.
 */
#ifndef BIO_WALK_BPF_H
#define BIO_WALK_BPF_H

#include "bio/bio_direct.bpf.h"
#include "bio/bio_kind.bpf.h"

#define VECS_OF_BIO 2048
#define STEPS_AT_ONCE 32

/*
 * If the bytes from FROM of the vector A to before TO of the vector B, LEN in all, are one extent, adds it and returns
 * true.
 */
static __always_inline bool ends_agree(struct bio_look *l, const struct bio_vec *a, __u32 from, const struct bio_vec *b,
				       __u32 to, __u32 len)
{
	__u64 page, inode, off, last;
	__u32 in;

	page = vec_page(b, to - 1, &in);
	last = page_place(page, in);
	inode = last == NOWHERE ? 0 : l->inode;
	page = vec_page(a, from, &in);
	off = page_place(page, in);
	if ((off == NOWHERE ? 0 : l->inode) != inode || (inode && last - off != len - 1))
		return false;
	pages_add(l, off, len);
	return true;
}

/* Adds the next piece of a bio whose ends disagree. Nonzero: there is none. */
__noinline int vec_step(void)
{
	struct bio_look *l = look_get();
	struct bio_vec vec = {};
	__u32 len, in;
	__u64 page;

	if (!l || !l->size)
		return 1;
	vec_read(l, l->at, &vec);
	if (vec.bv_len <= l->done)
		return 1;
	len = vec.bv_len - l->done;
	if (len > l->size)
		len = l->size;
	if (!ends_agree(l, &vec, l->done, &vec, l->done + len, len)) {
		page = vec_page(&vec, l->done, &in);
		if (len > PAGE_BYTES - in)
			len = PAGE_BYTES - in;
		pages_add(l, page_place(page, in), len);
	}
	l->size -= len;
	l->sector += len >> 9;
	l->done += len;
	if (l->done >= vec.bv_len) {
		l->done = 0;
		l->at++;
	}
	return 0;
}

__noinline int vec_steps(void)
{
#pragma nounroll
	for (int i = 0; i < STEPS_AT_ONCE; i++)
		if (vec_step())
			return 1;
	return 0;
}

/* Adds the whole bio if its two ends agree, and returns whether they do. */
static __always_inline bool bio_by_ends(struct bio_look *l)
{
	struct bio_vec a = {}, b = {};
	__u32 to;

	if (l->last < l->at || l->last > VECS_OF_BIO)
		return false;
	vec_read(l, l->at, &a);
	vec_read(l, l->last, &b);
	to = l->last_len;
	if (!to)
		to = l->last == l->at ? l->done + l->size : b.bv_len;
	return to && to <= b.bv_len && ends_agree(l, &a, l->done, &b, to, l->size);
}

/*
 * A piece split off the front of a bio has the bio's vectors, but no count of its own: it ends where the bio, its
 * private data, begins now.
 */
static __always_inline __u64 bio_split(struct bio_look *l, __u64 end, __u64 private)
{
	struct bio *parent = KCAST(bio, private);

	if (!kernel.end_chained || end != kernel.end_chained || !private)
		return end;
	l->origin = private;
	if ((__u64)KLOAD(parent, bi_io_vec) == l->vecs && bio_sector(parent) == l->sector + (l->size >> 9)) {
		l->last = KLOAD(parent, bi_iter.bi_idx);
		l->last_len = KLOAD(parent, bi_iter.bi_bvec_done);
		if (!l->last_len)
			l->last--;
	}
	return (__u64)KLOAD(parent, bi_end_io);
}

/* Looks at the next bio of the request. Nonzero: there is none. */
__noinline int bio_step(void)
{
	struct bio_look *l = look_get();
	struct bio *bio;

	if (!l || !l->bio)
		return 1;
	bio = KCAST(bio, l->bio);
	l->origin = l->bio;
	l->vecs = (__u64)KLOAD(bio, bi_io_vec);
	l->sector = bio_sector(bio);
	l->size = KLOAD(bio, bi_iter.bi_size);
	l->at = KLOAD(bio, bi_iter.bi_idx);
	l->done = KLOAD(bio, bi_iter.bi_bvec_done);
	l->last = KLOAD(bio, bi_vcnt) - 1;
	l->last_len = 0;
	l->private = (__u64)KLOAD(bio, bi_private);
	l->end_now = bio_split(l, (__u64)KLOAD(bio, bi_end_io), (__u64)KLOAD(bio, bi_private));
	end_look();
	if (l->kind == DLT_BIO_DIRECT)
		direct_add(l);
	else if (!bio_by_ends(l))
#pragma nounroll
		for (int i = 0; i < VECS_OF_BIO / STEPS_AT_ONCE; i++)
			if (vec_steps())
				break;
	l->bio = (__u64)KLOAD(bio, bi_next);
	return 0;
}

__noinline int bio_steps(void)
{
#pragma nounroll
	for (int i = 0; i < STEPS_AT_ONCE; i++)
		if (bio_step())
			return 1;
	return 0;
}

#endif
