/* SPDX-License-Identifier: BSD-2-Clause */
/* Direct reclaim of memory: the record of bpf/memory/reclaim.bpf.c. */
#ifndef DLT_RECLAIM_H
#define DLT_RECLAIM_H

#include "dlt/dlt.h"

enum dlt_reclaim_kind {
	DLT_RECLAIM_MACHINE, /* the machine had too little free memory */
	DLT_RECLAIM_CGROUP, /* a limit of the thread's memory cgroup, or of one above it, was reached */
};

struct dlt_reclaim {
	struct dlt_hdr hdr; /* until it ends, ts_ns is its begin */
	__u32 kind; /* enum dlt_reclaim_kind */
	__u32 pad;
	__s64 pages; /* DLT_UNKNOWN until it ends */
};

DLT_ASSERT_SIZE(dlt_reclaim, 64);

#define DLT_RECLAIMS 16384 /* threads that reclaim at the same time */

#endif
