/* SPDX-License-Identifier: BSD-2-Clause */
/* The start-up test of bpf/preempt.bpf.c: what its two sides share. */
#ifndef DLT_PREEMPT_H
#define DLT_PREEMPT_H

#include "dlt/dlt.h"

/* A scheduler that may preempt does so at the tick that ends a slice of about 3 ms, lazily at the next one. */
#define DLT_PREEMPT_TICKS 6

struct dlt_preempt {
	__u64 seen; /* calls of the thread that makes calls all the time */
	__u64 until; /* CLOCK_MONOTONIC: the other's call stays in the program until then at most, */
	__u32 stop; /* or until this is set, */
	__u32 preempted; /* or it has been preempted in there, */
	__u32 ticks; /* or has run through this many ticks without being preempted */
	__u32 pad;
	__u64 tick_ns; /* a little less than a tick */
	__u64 ran, ran_at; /* its CPU time when that last changed, which ticks cause, and when that was */
	__u64 switches; /* how often it had been preempted before the call */
	__u32 staying_tid, calling_tid;
	__u32 call_nr; /* what they call */
};

#endif
