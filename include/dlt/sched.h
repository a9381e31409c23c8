/* SPDX-License-Identifier: BSD-2-Clause */
/* CPU scheduling: what bpf/sched.bpf.c adds up, the record that tells of it, and who sets its clock. */
#ifndef DLT_SCHED_H
#define DLT_SCHED_H

#include "dlt/dlt.h"

/* Whose time it is. */
enum dlt_sched_kind {
	DLT_SCHED_FREE, /* nobody's: the cell is free */
	DLT_SCHED_TARGET,
	DLT_SCHED_KERNEL, /* a kernel thread */
	DLT_SCHED_SELF,	  /* dltraced */
	DLT_SCHED_OTHER,  /* all processes beside the target, together */
	DLT_SCHED_IDLE,
};

/* What is added up, ns but for the numbers. Also the states of a thread: on a CPU, waiting for one, off. */
enum dlt_sched_sum {
	DLT_SCHED_COUNT, /* times that it was given the CPU; in a call: that it waited */
	DLT_SCHED_RUN,
	DLT_SCHED_PREEMPTED, /* times that it was taken away */
	DLT_SCHED_RUNQ,
	DLT_SCHED_DISK,	   /* uninterruptible, in io_schedule() */
	DLT_SCHED_BLOCKED, /* uninterruptible else: locks, a journal's commit */
	DLT_SCHED_SLEEP,   /* all other: sleeping, stopped, parked */
	DLT_SCHED_SUMS,
};

/* The call that a thread waited in: its number, or */
#define DLT_SCHED_NO_CALL 0xffffffffu /* of a CPU's row */
#define DLT_SCHED_FAULT 0xfffffffeu   /* no call: an exception, which is a page fault */
#define DLT_SCHED_WORKER 0xfffffffdu  /* a thread that the kernel made for the process (io_uring, vhost) */
#define DLT_SCHED_COMPAT 0xfffffffcu  /* a call of the 32-bit table */
#define DLT_SCHED_STOPPED 0xfffffffbu /* whatever the call: stopped by a signal or a tracer */

/*
 * Either what a thread did on a CPU since the last row of it (CALL is DLT_SCHED_NO_CALL), or what it waited
 * for in a call (CPU is DLT_NONE); sums that are the other kind's are DLT_NONE. hdr.lat_ns is the time
 * since then.
 */
struct dlt_sched {
	struct dlt_hdr hdr;
	__s64 cpu;
	__s64 sums[DLT_SCHED_SUMS];
	__s64 max_ns; /* the longest wait */
	__u32 call;
	__u32 kind;
};

/*
 * A row in the making. Written by the hooks of one CPU alone, but for what has been sent, which the
 * iterator writes that tells it.
 */
struct dlt_sched_cell {
	__u64 start_ns; /* of the task: numbers are used again */
	__u32 tid;
	__u32 tgid;
	char comm[DLT_COMM_LEN];
	__u32 kind;
	__u32 call;
	__u64 sums[DLT_SCHED_SUMS];
	__u64 max_ns; /* of what has not been sent */
	__u64 sent[DLT_SCHED_SUMS]; /* COUNT is written last */
	__u64 sent_ns;
};

/* Of each CPU in a row; the first two are what idles and all others. */
#define DLT_SCHED_CELLS 1024
#define DLT_SCHED_CELL_IDLE 0
#define DLT_SCHED_CELL_OTHER 1

/* A CPU: who is running on it. */
struct dlt_sched_cpu {
	__u64 since_ns; /* 0: no switch has been seen on it */
	__u64 task;	/* who came then */
	__u64 runq_ns;	/* that the thread had waited for it, where there was no cell for it */
	__u32 cell;	/* number among all */
	__u32 seq;	/* odd while its hook changes all this */
	__u32 online;	/* at the begin */
	__u32 found;	/* the cell that is being looked for: in memory, the verifier forgets how it came about */
};

/* A thread that is known, and what it has been doing SINCE. */
struct dlt_sched_slot {
	__u64 since_ns;
	__u64 wake_ns; /* when it was woken; 0: not yet */
	__u32 tid;     /* 0: free */
	__u32 state;   /* enum dlt_sched_sum */
	__u32 call;    /* that it waits in */
	__u16 cell;    /* of a CPU's: where its cell was the last time, */
	__u16 wait_cell; /* and that of the call */
};

/* Set by the daemon. */
struct dlt_sched_clock {
	__u64 begin_ns; /* 0: not yet */
	__u64 end_ns;	/* 0: not yet; set before it has come */
};

DLT_ASSERT_SIZE(dlt_sched, 128);
DLT_ASSERT_SIZE(dlt_sched_cell, 168);
DLT_ASSERT_SIZE(dlt_sched_cpu, 40);
DLT_ASSERT_SIZE(dlt_sched_slot, 32);

#endif
