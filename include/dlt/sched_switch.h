/* SPDX-License-Identifier: BSD-2-Clause */
/* Context switches, one by one: the record of bpf/sched/sched_switch.bpf.c. */
#ifndef DLT_SCHED_SWITCH_H
#define DLT_SCHED_SWITCH_H

#include "dlt/dlt.h"

/* What the thread that left was about to do, as ps(1) shows it. */
enum dlt_sched_state {
	DLT_STATE_R,
	DLT_STATE_PREEMPTED, /* the CPU was taken away */
	DLT_STATE_S,
	DLT_STATE_D,
	DLT_STATE_I, /* a kernel thread without work */
	DLT_STATE_T, /* stopped */
	DLT_STATE_TRACED,
	DLT_STATE_P, /* parked */
	DLT_STATE_X, /* it has ended */
};

/* The header's process, thread and name are those of the one that left. */
struct dlt_sched_switch {
	struct dlt_hdr hdr;
	char next_comm[DLT_COMM_LEN];
	__u32 next_tgid;
	__u32 next_tid;
	__u32 cpu;
	__u32 state; /* enum dlt_sched_state */
	__s64 run_ns; /* of the one that left; DLT_NONE: it came before the trace */
	__s64 wait_ns; /* how long the one that comes has waited for the CPU; DLT_NONE: not known */
};

/* A CPU. */
struct dlt_sched_switch_cpu {
	__u64 since_ns; /* of the last switch; 0: none yet */
	__u64 task; /* that came then */
	__u64 ours; /* it is of the target */
};

DLT_ASSERT_SIZE(dlt_sched_switch, 96);

#endif
