/* SPDX-License-Identifier: BSD-2-Clause */
/* brk, madvise, mmap, munmap, mremap: the record of bpf/calls/mmap.bpf.c. */
#ifndef DLT_MMAP_H
#define DLT_MMAP_H

#include "dlt/dlt.h"

/* dlt_callinfo.shape */
enum dlt_mmap_shape {
	DLT_MMAP, /* addr, len, prot, flags, fd, offset */
	DLT_MUNMAP, /* addr, len */
	DLT_MREMAP, /* old addr, old len, len, flags, addr */
	DLT_BRK, /* addr, and the old one, from the kernel */
	DLT_MADVISES, /* addr, len, advice */
	/* calls that have a row in pids.out where a limit has refused them: */
	DLT_MAKES, /* a process or a thread */
	DLT_LOCKS, /* addr, len */
	DLT_LOCKS_ALL, /* flags */
};

#define DLT_MMAP_SNAPSHOT 5 /* FUNC of a mapping from before the join */

/* The FLAGS column has mremap's flags as well as mmap's: shifted so that they do not collide. */
#define DLT_MREMAP_SHIFT 40
#define DLT_MREMAP_MAYMOVE (1ULL << 40)
#define DLT_MREMAP_FIXED (2ULL << 40)
#define DLT_MREMAP_DONTUNMAP (4ULL << 40)
/* And madvise's advice, plus 1: a number. */
#define DLT_MADVISE_SHIFT 32
#define DLT_MADVISE_MASK (0xffULL << DLT_MADVISE_SHIFT)
#define DLT_MADVISE_LAST 25 /* MADV_COLLAPSE */
#define DLT_MADVISE_UNKNOWN 0xfe /* larger ones, and the numbers 5 to 7, which are no advice */
#define DLT_MADVISE(advice) (((__u64)(advice) + 1) << DLT_MADVISE_SHIFT)
/* Of an argument, 32 bits of which count. */
static inline __u64 dlt_madvise(__u32 advice)
{
	return DLT_MADVISE(advice <= DLT_MADVISE_LAST && advice - 5 >= 3 ? advice : DLT_MADVISE_UNKNOWN);
}

struct dlt_mmap {
	struct dlt_hdr hdr;
	struct dlt_file_id id;
	__s64 ret; /* address or -errno */
	__s64 addr;
	__u64 len;
	__s64 prot, flags;
	__s64 fd;
	__s64 offset;
	__s64 old_addr, old_len;
};

DLT_ASSERT_SIZE(dlt_mmap, 136);

#endif
