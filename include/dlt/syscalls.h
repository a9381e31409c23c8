/* SPDX-License-Identifier: BSD-2-Clause */
/* System calls, counted and timed in the kernel: the record of bpf/calls/syscalls.bpf.c, and its sums. */
#ifndef DLT_SYSCALLS_H
#define DLT_SYSCALLS_H

#include "dlt/dlt.h"

#define DLT_SYSCALLS_COMPAT 0xffffffffU /* the number for all 32-bit calls, whose numbers mean other calls */
#define DLT_SYSCALLS_CELLS 65536 /* pairs of a process and a call; a Python process has about 40 */

/*
 * What has been added for a process's calls of one name since its last record; lat_ns in the header is that
 * interval.
 */
struct dlt_syscalls {
	struct dlt_hdr hdr;
	__u32 nr;
	__u32 pad;
	__u64 count;
	__u64 failed;
	__u64 ns;
	__u64 max_ns;
};

struct dlt_syscalls_key {
	__u32 tgid;
	__u32 nr;
};

/* Sums since the trace began, and what of them has been sent, which only the iterator writes. */
struct dlt_syscalls_cell {
	__u64 count;
	__u64 failed;
	__u64 ns;
	__u64 max_ns;
	__u64 sent_count;
	__u64 sent_failed;
	__u64 sent_ns;
	__u64 sent_at_ns; /* CLOCK_MONOTONIC; before the first time, when the cell was made */
	char comm[DLT_COMM_LEN]; /* of the thread that made it */
};

/* A call in flight, by tid & slot_mask. */
struct dlt_syscalls_start {
	__u32 tid; /* 0: none */
	__u32 nr;
	__u64 ns;
};

DLT_ASSERT_SIZE(dlt_syscalls, 88);

#endif
