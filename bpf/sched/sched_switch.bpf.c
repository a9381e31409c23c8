/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Context switches, a row for each in which a thread of the target leaves or comes. The scheduler's hooks run with
 * interrupts off.
 */
#include "sched/sched.bpf.h"
#include "dlt/sched_switch.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dlt_sched_switch_cpu);
} cpus SEC(".maps");

#define TASK_PARKED 0x40

static __always_inline __u32 state_of(__u32 state, bool preempted)
{
	if (!state)
		return preempted ? DLT_STATE_PREEMPTED : DLT_STATE_R;
	if (state & TASK_DEAD)
		return DLT_STATE_X;
	if (state & TASK_UNINTERRUPTIBLE)
		return state & TASK_NOLOAD ? DLT_STATE_I : DLT_STATE_D;
	if (state & __TASK_STOPPED)
		return DLT_STATE_T;
	if (state & __TASK_TRACED)
		return DLT_STATE_TRACED;
	if (state & TASK_PARKED)
		return DLT_STATE_P;
	return DLT_STATE_S;
}

static __always_inline void send(const __u64 *ctx, __u32 cpu, __u32 state, __s64 run_ns, __s64 wait_ns)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	struct dlt_stats *st = stats_of(DLT_sched_switch);
	struct dlt_sched_switch *rec;

	if (st)
		st->seen++;
	rec = rec_reserve(DLT_sched_switch, sizeof(*rec), false);
	if (!rec)
		return;
	__builtin_memset(rec, 0, sizeof(*rec));
	rec->hdr.probe = DLT_sched_switch;
	rec->hdr.size = sizeof(*rec);
	if (may_name(prev->tgid)) {
		rec->hdr.tgid = prev->tgid;
		rec->hdr.tid = prev->pid;
		task_comm(rec->hdr.comm, prev);
	}
	if (may_name(next->tgid)) {
		rec->next_tgid = next->tgid;
		rec->next_tid = next->pid;
		task_comm(rec->next_comm, next);
	}
	rec->cpu = cpu;
	rec->state = state_of(state, ctx[0]);
	rec->run_ns = run_ns;
	rec->wait_ns = wait_ns;
	rec->hdr.ts_ns = bpf_ktime_get_ns();
	rec_submit(rec, DLT_sched_switch);
}

/* PREV, in STATE, can run on or has ended: notes since when it waits. */
static __always_inline void leaves(struct task_struct *prev, __u32 state, __u64 now)
{
	struct dlt_sched_slot *slot;

	if (state & TASK_DEAD) {
		slot_free(prev->pid);
	} else if (!state && prev->pid) {
		slot = slot_take(prev->pid);
		if (slot)
			slot->wake_ns = now;
	}
}

/*
 * Counts a switch that the kernel did not report: the thread that leaves a CPU now is not the one that came to it last.
 * Its row is missing.
 */
static __always_inline void count_unseen(void)
{
	struct dlt_stats *st = stats_of(DLT_sched_switch);

	if (st) {
		__sync_fetch_and_add(&st->seen, 1);
		__sync_fetch_and_add(&st->lost, 1);
		__sync_fetch_and_add(&st->lost_unseen, 1);
	}
}

/* The row has both threads, in the target or not. */
SEC("tp_btf/sched_switch")
int row_switch(__u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	__u32 cpu = bpf_get_smp_processor_id(), state = switch_state(ctx);
	struct dlt_sched_switch_cpu *here = bpf_map_lookup_elem(&cpus, &cpu);
	__s64 run_ns = DLT_NONE, wait_ns = DLT_NONE;
	struct dlt_sched_slot *slot;
	struct dlt_shared *sh;
	struct dlt_sched_switch_cpu before;
	bool ours, comes, unseen;
	__u64 now;

	if (!here)
		return 0;
	now = bpf_ktime_get_ns();
	before = *here;
	ours = target_had(prev->tgid);
	comes = target_had(next->tgid);
	here->since_ns = now;
	here->task = (__u64)next;
	here->ours = comes;
	unseen = before.since_ns && before.task != (__u64)prev;
	if (!ours && !comes && !(unseen && before.ours))
		return 0;
	sh = shared();
	if (!sh || sh->stopping || sh->quiet)
		return 0;
	if (unseen && (ours || before.ours))
		count_unseen();
	if (!ours && !comes)
		return 0;
	if (before.since_ns) /* at most, as a switch was missed */
		run_ns = now - before.since_ns;
	if (ours)
		leaves(prev, state, now);
	slot = comes ? slot_find(next->pid) : NULL;
	if (slot && slot->wake_ns) {
		wait_ns = now - slot->wake_ns;
		slot->wake_ns = 0;
	}
	send(ctx, cpu, state, run_ns, wait_ns);
	return 0;
}

/* While a thread has not left its CPU, its wake-up time is not used: it is set again when the thread leaves. */
static __always_inline int woken(struct task_struct *task)
{
	struct dlt_sched_slot *slot;

	if (!target_had(task->tgid))
		return 0;
	slot = slot_take(task->pid);
	if (slot)
		slot->wake_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/sched_wakeup")
int row_wakeup(__u64 *ctx)
{
	return woken((void *)ctx[0]);
}

SEC("tp_btf/sched_wakeup_new")
int row_wakeup_new(__u64 *ctx)
{
	return woken((void *)ctx[0]);
}
