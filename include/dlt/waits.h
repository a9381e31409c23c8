/* SPDX-License-Identifier: BSD-2-Clause */
/* A wait of a thread, and what ended it: noted by bpf/sched/sched_waker.bpf.h, sent by bpf/sched/waits.bpf.h. */
#ifndef DLT_WAITS_H
#define DLT_WAITS_H

#include "dlt/dlt.h"

#define DLT_WAITS_MIN_NS 1000000 /* shorter waits are in the sums of sched alone */
#define DLT_WAITS_MAX 2000 /* rows of a CPU in a turn */
#define DLT_WAITS_TURN_SHIFT 30 /* a turn is about a second: 2^30 ns */

/* What ended a wait. */
enum dlt_wait_by {
	DLT_BY_NOTHING, /* it could run */
	DLT_BY_THREAD, /* another thread, in its own context */
	DLT_BY_EXIT, /* a thread that was ending */
	DLT_BY_SIGNAL,
	DLT_BY_TIMER,
	DLT_BY_DISK, /* the end of an I/O request */
	DLT_BY_NET, /* a packet */
	DLT_BY_KERNEL, /* a kernel thread */
	DLT_BY_INTERRUPT, /* an interrupt that is none of these */
	DLT_BY_END, /* it was not over */
	DLT_BY_UNKNOWN, /* no wake-up was seen */
};

/* hdr.lat_ns is the time off the CPU; tids and pids are DLT_NONE32 where there is no such thread. */
struct dlt_waits {
	struct dlt_hdr hdr;
	__s64 runq_ns; /* the last part of it: it could run */
	__s64 throttled_ns; /* the first part of that: it could, but for the CPU quota of its cgroup */
	struct dlt_file_id id; /* of the call's descriptor */
	__u32 call; /* as in struct dlt_sched */
	__u32 state; /* enum dlt_sched_sum, or DLT_WAITS_THROTTLED */
	__u32 by; /* enum dlt_wait_by */
	__s32 by_tgid;
	__s32 by_tid;
	char by_comm[DLT_COMM_LEN];
	struct dlt_peer peer;
	__u32 by_call; /* in which by_tid ended it; DLT_SCHED_NO_CALL: none, or not known */
	__u32 pad;
};

#define DLT_WAITS_THROTTLED 64 /* a state: it could run, but for the CPU quota of its cgroup */

DLT_ASSERT_SIZE(dlt_waits, 144);

#endif
