/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts that both scheduler probes use: a slot for each known thread, and what a thread that has left its CPU waits
 * for. Each object has its own slots.
 */
#ifndef SCHED_BPF_H
#define SCHED_BPF_H

#include "dlt.bpf.h"
#include "dlt/sched.h"

/* linux/sched.h */
#define TASK_UNINTERRUPTIBLE 2
#define __TASK_STOPPED 4
#define __TASK_TRACED 8
#define TASK_DEAD 0x80
#define TASK_NOLOAD 0x400
#define PF_IO_WORKER 0x10
#define PF_USER_WORKER 0x4000 /* 6.4; older kernels had only io_uring's */

/* The context of sched_switch has the state: see src/probes/sched/sched.h. */
const volatile __u8 state_is_given = 0;

/*
 * Found by tid & slot_mask; a thread whose slot is taken goes to the overflow hash, as calls in flight do. The daemon
 * may look at them (src/probes/sched/sched_waiting.c).
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dlt_sched_slot);
} slots SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct dlt_sched_slot);
} slots_overflow SEC(".maps");
static volatile __u32 overflowed; /* the overflow hash has been used */

/*
 * Whether the process is in the target, or was until its last thread ended. That end is reported before the thread has
 * left its CPU for good (pids.bpf.c). The number has no new owner before a fork, which clears the byte. With
 * dlt_cfg.all only processes of the target have DLT_TARGET_ENDED.
 */
static __always_inline bool target_had(__u32 tgid)
{
	__u8 *byte = target_byte(tgid), is = byte ? *byte : 0;

	if (is & DLT_TARGET_HELD)
		return false;
	return dlt_cfg.all ? !(is & DLT_TARGET_IN) && tgid != 0 : is != 0;
}

/* Whether TGID waits at the workload's gate, or with --all is a process of dltraced's that is kept out of the target.
 */
static __always_inline bool is_kept_out(__u32 tgid)
{
	__u8 *byte = target_byte(tgid), is = byte ? *byte : 0;

	return is & DLT_TARGET_HELD || (dlt_cfg.all && is & DLT_TARGET_IN);
}

/* Whether rows may have the process's name. An owner without rights does not see the names of other users' processes.
 */
static __always_inline bool may_name(__u32 tgid)
{
	return !dlt_cfg.owned || target_had(tgid);
}

/* --- slots -------------------------------------------------------------------------------------- */

static __always_inline struct dlt_sched_slot *slot_find(__u32 tid)
{
	__u32 i = tid & dlt_cfg.slot_mask;
	struct dlt_sched_slot *s = bpf_map_lookup_elem(&slots, &i);

	if (s && s->tid == tid)
		return s;
	return overflowed ? bpf_map_lookup_elem(&slots_overflow, &tid) : NULL;
}

static __noinline struct dlt_sched_slot *slot_overflow(__u32 tid)
{
	struct dlt_sched_slot empty = { .tid = tid };

	overflowed = 1;
	bpf_map_update_elem(&slots_overflow, &tid, &empty, BPF_ANY);
	return bpf_map_lookup_elem(&slots_overflow, &tid);
}

static __always_inline struct dlt_sched_slot *slot_take(__u32 tid)
{
	__u32 i = tid & dlt_cfg.slot_mask;
	struct dlt_sched_slot *s = slot_find(tid);

	if (s)
		return s;
	s = bpf_map_lookup_elem(&slots, &i);
	if (!s || s->tid)
		return slot_overflow(tid);
	s->tid = tid;
	return s;
}

static __always_inline void slot_free(__u32 tid)
{
	struct dlt_sched_slot *s = slot_find(tid);
	__u32 i = tid & dlt_cfg.slot_mask;

	if (!s)
		return;
	s->tid = 0;
	if (s != bpf_map_lookup_elem(&slots, &i))
		bpf_map_delete_elem(&slots_overflow, &tid);
}

static __always_inline void task_comm(char comm[DLT_COMM_LEN], struct task_struct *task)
{
	*(__u64 *)comm = *(__u64 *)task->comm;
	*(__u64 *)(comm + 8) = *(__u64 *)(task->comm + 8);
}

/* --- states ----------------------------------------------------------------------------------------- */

/* task->state until 5.14 (commit 2f064a59a11f). */
struct task_struct___v5_13 {
	volatile long state;
} __attribute__((preserve_access_index));

static __always_inline __u32 task_state(struct task_struct *task)
{
	struct task_struct___v5_13 *old = (void *)task;

	if (bpf_core_field_exists(old->state))
		return (__u32)BPF_CORE_READ(old, state);
	return BPF_CORE_READ(task, __state);
}

/*
 * Returns the state in which prev leaves, in tp_btf/sched_switch; 0 where it could run on. A waker may have changed
 * task->state since, so the tracepoint passes it since 5.18 (commit fa2c3254d7cf; its place: 9c2136be0878).
 */
static __always_inline __u32 switch_state(const __u64 *ctx)
{
	if (ctx[0])
		return 0;
	return state_is_given ? (__u32)ctx[3] : task_state((struct task_struct *)ctx[1]);
}

#endif
