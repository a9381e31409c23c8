/* SPDX-License-Identifier: BSD-2-Clause */
/* The start-up test of bpf/preempt.bpf.c: what both of its sides share. */
#ifndef DLT_PREEMPT_H
#define DLT_PREEMPT_H

#include "dlt/dlt.h"

struct dlt_preempt {
	__u64 seen;  /* calls of the thread that calls all the time */
	__u64 until; /* CLOCK_MONOTONIC: how long the other's call stays in the program */
	__u32 stop;  /* or until this is set */
	__u32 staying_tid, calling_tid;
	__u32 call_nr; /* what they call */
};

#endif
