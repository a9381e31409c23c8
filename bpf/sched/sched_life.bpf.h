/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a thread has been doing, and since when: on a CPU, waiting for one, or waiting in a call. A slot, found by the
 * thread's number, holds this. The CPUs that the thread leaves and comes to, and its waker, write it; the scheduler
 * serializes these.
 */
#ifndef SCHED_LIFE_BPF_H
#define SCHED_LIFE_BPF_H

#include "sched/sched_cells.bpf.h"

const volatile __u8 by_stack = 0; /* the kernel has no bpf_task_pt_regs */

static __always_inline bool ended(__u64 now)
{
	__u64 end = sched_clock.end_ns;

	return end && now >= end;
}

/* --- slots --------------------------------------------------------------------------------------- */

/* Nothing before the trace's begin counts. */
static __always_inline __u64 slot_since(const struct dlt_sched_slot *s)
{
	__u64 begin = sched_clock.begin_ns;

	return s->since_ns > begin ? s->since_ns : begin;
}

/*
 * Returns since when the thread has been able to run, at the latest NOW. If its wake-up was not seen, no time counts as
 * waiting for a CPU.
 */
static __always_inline __u64 slot_wake(const struct dlt_sched_slot *s, __u64 now)
{
	__u64 since = slot_since(s), wake = s->wake_ns ?: now;

	return s->state == DLT_SCHED_RUNQ || wake < since ? since : wake;
}

/*
 * For a thread that comes NOW: returns since when it has been able to run. One that nothing has woken since it left,
 * but before, had been woken on its way to sleep.
 */
static __always_inline __u64 slot_wake_at(const struct dlt_sched_slot *s, __u64 now)
{
	if (s->state == DLT_SCHED_RUN)
		return now;
	return !s->wake_ns && s->by ? slot_since(s) : slot_wake(s, now);
}

/* Whether it has waited in a call. */
static __always_inline bool slot_waits(const struct dlt_sched_slot *s)
{
	return s->state > DLT_SCHED_RUNQ && s->call != DLT_SCHED_NO_CALL;
}

static __always_inline void slot_set(struct dlt_sched_slot *s, __u32 state, __u32 call, __u64 now)
{
	s->state = state;
	s->call = call;
	s->wake_ns = 0;
	s->since_ns = now;
}

/* It is on a CPU from NOW on: nothing has woken it. */
static __always_inline void slot_came(struct dlt_sched_slot *s, __u64 now)
{
	s->by = 0;
	s->sock = 0;
	slot_set(s, DLT_SCHED_RUN, DLT_SCHED_NO_CALL, now);
}

/* Of a thread of KIND, which leaves its CPU or is new. Its waker may have noted itself already. */
static __always_inline void slot_begin(struct dlt_sched_slot *s, __u32 kind, __u32 state, __u32 call, __u64 now)
{
	s->kind = kind;
	s->throttled = 0;
	slot_set(s, state, call, now);
}

/* --- what a thread waits for --------------------------------------------------------------------- */

/* task->cpu until 5.16 (commit bcf9033e5449). */
struct task_struct___v5_15 {
	unsigned int cpu;
} __attribute__((preserve_access_index));

static __always_inline __u32 task_cpu(struct task_struct *task)
{
	struct task_struct___v5_15 *old = (void *)task;

	if (bpf_core_field_exists(old->cpu))
		return BPF_CORE_READ(old, cpu);
	return BPF_CORE_READ(task, thread_info.cpu);
}

/* Returns the sum to add to for TASK, which no longer runs, in STATE. */
static __always_inline __u32 sum_of(struct task_struct *task, __u32 state)
{
	if (!state)
		return DLT_SCHED_RUNQ;
	if (!(state & TASK_UNINTERRUPTIBLE) || state & TASK_NOLOAD)
		return DLT_SCHED_SLEEP;
	return BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait) ? DLT_SCHED_DISK : DLT_SCHED_BLOCKED;
}

/* arch/x86/include/asm/page_64_types.h, arch/arm64/include/asm/memory.h, without a sanitizer in the kernel */
#define STACK_BYTES 16384

/*
 * TASK's registers where the kernel has no bpf_task_pt_regs for them: saved at the end of its stack. As many as this
 * kernel has: on arm64, newer ones save more.
 */
static __always_inline struct pt_regs *stack_regs(struct task_struct *task)
{
	return (void *)((__u64)BPF_CORE_READ(task, stack) + STACK_BYTES - bpf_core_type_size(struct pt_regs));
}

static __always_inline struct pt_regs *task_regs(struct task_struct *task)
{
	return by_stack ? stack_regs(task) : (struct pt_regs *)bpf_task_pt_regs(task);
}

/*
 * Returns the call of TASK, which has stopped in the kernel. Exceptions leave -1 in its register
 * (arch/x86/entry/entry_64.S, arch/arm64/kernel/entry.S).
 */
static __always_inline __u32 call_of(struct task_struct *task, __u32 state)
{
	struct pt_regs *regs = task_regs(task);
	long nr = by_stack ? BPF_CORE_READ(regs, CALL_NR) : regs->CALL_NR;

	if (task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER))
		return DLT_SCHED_WORKER;
	if (state & (__TASK_STOPPED | __TASK_TRACED))
		return DLT_SCHED_STOPPED;
	if (task->thread_info.COMPAT_IN & COMPAT_BIT)
		return DLT_SCHED_COMPAT;
	return nr < 0 || nr >= DLT_SYSCALLS ? DLT_SCHED_FAULT : (__u32)nr;
}

#endif
