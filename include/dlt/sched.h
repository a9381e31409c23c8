/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPU scheduling: the sums of bpf/sched/sched.bpf.c, the record that carries them, and the clock that the daemon
 * sets.
 */
#ifndef DLT_SCHED_H
#define DLT_SCHED_H

#include "dlt/dlt.h"
#include "dlt/waits.h"

/* The owner of the time. */
enum dlt_sched_kind {
	DLT_SCHED_FREE, /* nobody's: the cell is free */
	DLT_SCHED_TARGET,
	DLT_SCHED_KERNEL, /* a kernel thread */
	DLT_SCHED_SELF, /* dltraced */
	DLT_SCHED_OTHER, /* all processes besides the target, together */
	DLT_SCHED_IDLE,
};

/*
 * What is added up, in ns except for the two numbers. Also the states of a thread: on a CPU, waiting for
 * one, off.
 */
enum dlt_sched_sum {
	DLT_SCHED_COUNT, /* times that it got the CPU; in a call: that it waited */
	DLT_SCHED_RUN,
	DLT_SCHED_PREEMPTED, /* times that it lost the CPU while it could run on */
	DLT_SCHED_THROTTLED, /* the part of RUNQ in which the quota of its cgroup was used up; no state */
	DLT_SCHED_RUNQ,
	DLT_SCHED_DISK, /* uninterruptible, in io_schedule() */
	DLT_SCHED_BLOCKED, /* other uninterruptible waits: locks, a journal's commit */
	DLT_SCHED_SLEEP, /* all other waits: sleeping, stopped, parked */
	DLT_SCHED_SUMS,
};

/* The call that a thread waited in: its number, or one of these. */
#define DLT_SCHED_NO_CALL 0xffffffffu /* of a CPU's row */
#define DLT_SCHED_FAULT 0xfffffffeu /* no call: an exception, which is a page fault */
#define DLT_SCHED_WORKER 0xfffffffdu /* a thread that the kernel made for the process (io_uring, vhost) */
#define DLT_SCHED_COMPAT 0xfffffffcu /* a call of the 32-bit table */
#define DLT_SCHED_STOPPED 0xfffffffbu /* whatever the call: stopped by a signal or a tracer */

#define DLT_SCHED_BY_NO_CALL 0x3ffu /* of by_call: none, or not looked at */

/*
 * Either what a thread did on a CPU since its last row for that CPU (CALL is DLT_SCHED_NO_CALL), or what it
 * waited for in a call (CPU is DLT_NONE), by what ended the waits; sums that belong to the other kind are DLT_NONE.
 * hdr.lat_ns is the length of the row's interval.
 */
struct dlt_sched {
	struct dlt_hdr hdr;
	__s64 cpu;
	__s64 sums[DLT_SCHED_SUMS];
	__s64 max_ns; /* the longest wait */
	__u32 call;
	__u32 kind;
	__u32 by; /* enum dlt_wait_by */
	__s32 by_tgid; /* of BY thread and exit; DLT_NONE32: none, or several together */
	__s32 by_tid;
	__u32 pad;
};

/*
 * A row in the making. The hooks of one CPU alone write it, except for what has been sent, which the
 * iterator that sends it writes.
 */
struct dlt_sched_cell {
	__u64 start_ns; /* of the task: tids are reused */
	__u32 tid;
	__u32 tgid;
	char comm[DLT_COMM_LEN];
	__u32 kind;
	__u32 call;
	__u32 by;
	__u32 by_tgid, by_tid; /* 0: none, or several */
	__u32 pad;
	__u64 sums[DLT_SCHED_SUMS];
	__u64 max_ns; /* of what has not been sent */
	__u64 sent[DLT_SCHED_SUMS]; /* COUNT is written last */
	__u64 sent_ns;
};

/* Of each CPU in a row; the first two are for idling and for all other processes. */
#define DLT_SCHED_CELLS 1024
#define DLT_SCHED_SENDS 128 /* cells that one run of sched_send looks at; divides DLT_SCHED_CELLS */
#define DLT_SCHED_CELL_IDLE 0
#define DLT_SCHED_CELL_OTHER 1

/* The context in which a CPU runs. */
enum dlt_sched_context {
	DLT_CONTEXT_TASK,
	DLT_CONTEXT_SOFTIRQ,
	DLT_CONTEXT_HARDIRQ,
};

/* A CPU: the thread that is running on it, and what has interrupted that. Whole cache lines, its own. */
struct dlt_sched_cpu {
	__u64 since_ns; /* 0: no switch has been seen on it */
	__u64 task; /* that came then */
	__u64 runq_ns; /* the time that the thread had waited for it, where it had no cell */
	__u32 cell; /* its number among all cells */
	__u32 seq; /* odd while its hook changes all this */
	__u32 online; /* online at the trace's begin */
	__u32 found; /* result of the search for a cell: in memory, as the verifier need not track it */
	__u64 count_at; /* address of its preempt count; 0: not known yet */
	__u64 sock, sock_ns; /* struct sock *: what has become readable last, and when, */
	__u32 sock_tid; /* while this thread was there, in the context */
	__u8 sock_context;
	__u8 in_timer, in_hrtimer; /* functions of timers run */
	__u8 in_irq, in_softirq; /* where the kernel shows no count */
	__u8 pad[7];
	__u32 turn, rows; /* rows of waits in this turn */
	__u64 sought[7]; /* struct task_id: whose cell is searched for */
	__u64 throttled_ns; /* part of runq_ns */
	__u64 queue; /* where queues are throttled, the last one: struct cfs_rq *, */
	__u64 quota_begin_ns, quota_end_ns; /* from when until when, */
	__u64 quota_sum_ns; /* and its sum of such times before; */
	__u64 quota_ended_ns; /* all of them that have ended */
	__u64 single[DLT_SCHED_SUMS]; /* of the row of a single run or wait */
};

/* A known thread, what it has been doing SINCE, and what woke it: a cache line. */
struct dlt_sched_slot {
	__u64 since_ns;
	__u64 wake_ns; /* when it was woken; 0: not yet */
	__u32 tid; /* 0: free */
	__u8 state; /* enum dlt_sched_sum */
	__u8 kind; /* enum dlt_sched_kind */
	__u8 by; /* enum dlt_wait_by, as far as the waker could tell */
	__u8 throttled; /* it has left the CPU as its cgroup's quota was used up */
	__u32 call; /* the call that it waits in */
	__u16 cell; /* of a CPU's: the last place of its cell, */
	__u16 wait_cell; /* and the last place of the call's */
	__u64 sock; /* struct sock * whose data woke it; 0: none, or not known */
	__u32 by_tgid; /* 0: no thread */
	__u32 by_tid : 22, /* linux/threads.h: PID_MAX_LIMIT */
		by_call : 10; /* the call in which that thread did it, if the wait was long; DLT_SCHED_BY_NO_CALL */
	union {
		char by_comm[DLT_COMM_LEN];
		struct { /* of one that may be throttled: */
			__u64 quota_queue; /* struct cfs_rq *: where; */
			__u64 quota_sum_ns; /* the sum of such times until then; see bpf/sched/sched_quota.bpf.h */
		};
	};
};

/* Set by the daemon. */
struct dlt_sched_clock {
	__u64 begin_ns; /* 0: not yet */
	__u64 end_ns; /* 0: not yet; set before that time */
};

DLT_ASSERT_SIZE(dlt_sched, 152);
DLT_ASSERT_SIZE(dlt_sched_cell, 200);
DLT_ASSERT_SIZE(dlt_sched_cpu, 256);
DLT_ASSERT_SIZE(dlt_sched_slot, 64);

#endif
