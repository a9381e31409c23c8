/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the daemon passes to bpf/process/snapshot.bpf.c about processes that have just joined the target, and what
 * comes back.
 */
#ifndef DLT_SNAPSHOT_H
#define DLT_SNAPSHOT_H

#include "dlt/dlt.h"

#define DLT_NEWCOMERS 4096 /* at a time */

struct dlt_newcomer {
	__u64 since_ns; /* CLOCK_MONOTONIC: threads from then on were seen by the fork hook */
	__u32 alive; /* set when a thread has been found that has yet to exit */
	__u32 pad;
};

DLT_ASSERT_SIZE(dlt_newcomer, 16);

#endif
