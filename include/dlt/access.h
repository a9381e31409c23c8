/* SPDX-License-Identifier: BSD-2-Clause */
/* Accesses of memory: the records of bpf/memory/access.bpf.c. */
#ifndef DLT_ACCESS_H
#define DLT_ACCESS_H

#include "dlt/dlt.h"

/* How accesses are seen. */
enum dlt_access_source {
	DLT_ACCESS_FAULTS, /* page faults, each of them */
	DLT_ACCESS_PAGES, /* accessed bits of page tables */
	DLT_ACCESS_PMU, /* samples of the CPU's performance monitoring unit */
	DLT_ACCESS_WATCH, /* hardware breakpoints: each access of a few bytes */
	DLT_ACCESS_WRITES, /* soft-dirty bits of page tables */
	DLT_ACCESS_SOURCES,
};

/* What the memory is. */
enum dlt_access_kind {
	DLT_ACCESS_UNKNOWN,
	DLT_ACCESS_HEAP, /* below brk */
	DLT_ACCESS_ANON,
	DLT_ACCESS_STACK, /* of the main thread */
	DLT_ACCESS_FILE,
};

/* hdr.func: which record it is. */
enum dlt_access_record { DLT_ACCESS_FAULT, DLT_ACCESS_RUN };

/* A page fault, or an access that was watched or sampled. */
struct dlt_access {
	struct dlt_hdr hdr;
	__u64 addr;
	__s64 ip; /* DLT_NONE: the kernel's */
	__u32 kind; /* enum dlt_access_kind, as far as the kernel side knows it */
	__u32 flags; /* DLT_ACCESS_* */
};
#define DLT_ACCESS_WRITE 1
#define DLT_ACCESS_NO_WRITE 2 /* neither: it is not known */

/* Blocks beside one another with an equal share of accessed pages: the daemon finds them, and sends them through the
 * rings. */
struct dlt_access_run {
	struct dlt_hdr hdr;
	struct dlt_file_id id;
	__u64 at_ns, span_ns; /* when they were found; since when they may have been accessed */
	__u64 addr, bytes, touched;
	__s64 huge, offset;
	__u16 kind, source; /* enum dlt_access_kind, dlt_access_source */
	__s32 node; /* of NUMA; -1: not known */
};

/* A mapping of a process, for the daemon. */
struct dlt_access_area {
	struct dlt_file_id id; /* of a mapped file */
	__u64 begin, end;
	__u64 offset; /* in the file, bytes */
	__u32 kind; /* enum dlt_access_kind */
	__u32 kept; /* the kernel does not clear the bits of its pages: they show nothing */
};
#define DLT_ACCESS_RUNS 64 /* sent at a time */

/* Below the main thread's stack no other memory is nearer (MIN_GAP, arch/x86/mm/mmap.c; mm/util.c). */
#define DLT_STACK_GAP (128ULL << 20)

DLT_ASSERT_SIZE(dlt_access, 72);
DLT_ASSERT_SIZE(dlt_access_area, 48);
DLT_ASSERT_SIZE(dlt_access_run, 128);

#endif
