/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPU quotas of cgroups: for which part of its wait for a CPU a thread was kept from running (throttled) because the
 * quota of its cgroup was used up. No tracepoint reports that. The begin is seen when a thread leaves its CPU, or is
 * woken; the end is computed when a thread comes back, by the kernel's own sum for the queue: that of the cgroup's
 * threads on the CPU (struct cfs_rq).
 */
#ifndef SCHED_QUOTA_BPF_H
#define SCHED_QUOTA_BPF_H

#include "sched/sched_life.bpf.h"

#define MAX_RT_PRIO 100 /* linux/sched/prio.h: quotas are for threads with larger numbers */

struct task_struct___throttled {
	_Bool throttled;
} __attribute__((preserve_access_index));
struct rq___clock {
	u64 clock;
} __attribute__((preserve_access_index));
/* The two clocks are there since 6.6 (commit 677ea015f231): since when it is throttled, and for how long it was. */
struct cfs_rq___throttled {
	int throttle_count;
	u64 throttled_clock_self, throttled_clock_self_time;
	struct rq___clock *rq;
} __attribute__((preserve_access_index));

/*
 * Whether each thread is throttled by itself, once it returns to its program: since 6.18 (commit 2cd571245b43). Before
 * that a queue was, with all threads in it wherever they were.
 */
static __always_inline bool by_thread(void)
{
	struct task_struct___throttled *task = NULL;

	return bpf_core_field_exists(task->throttled);
}

/* The queue of TASK by a plain load, as many threads are preempted; NULL: the kernel has no quotas. */
static __always_inline struct cfs_rq___throttled *queue_of_quota(struct task_struct *task)
{
	struct cfs_rq___throttled *queue = NULL;

	if (!bpf_core_field_exists(queue->throttle_count))
		return NULL;
	return (void *)KCAST(task_struct, task)->se.cfs_rq; /* cast: see task_current() */
}

/* Whether TASK is throttled, or its queue: of its cgroup, or of one above that. */
static __always_inline bool is_throttled(struct task_struct *task)
{
	struct task_struct___throttled *own = (void *)task;
	struct cfs_rq___throttled *queue = queue_of_quota(task);

	if (by_thread())
		return own->throttled;
	return queue && queue->throttle_count && task->prio >= MAX_RT_PRIO;
}

/* How long the queue has been throttled in all, when that last ended. */
static __always_inline __u64 throttled_sum(struct cfs_rq___throttled *queue)
{
	return bpf_core_field_exists(queue->throttled_clock_self_time) ?
		       BPF_CORE_READ(queue, throttled_clock_self_time) :
		       0;
}

/* For how long it has been throttled now. */
static __always_inline __u64 throttled_for(struct cfs_rq___throttled *queue)
{
	__u64 since, clock;

	if (!bpf_core_field_exists(queue->throttled_clock_self))
		return 0;
	since = BPF_CORE_READ(queue, throttled_clock_self);
	clock = BPF_CORE_READ(queue, rq, clock);
	return since && clock > since ? clock - since : 0;
}

/* --- where threads are throttled ----------------------------------------------------------------------- */

/* SLOT's thread TASK leaves its CPU, throttled. No waker needs the place: it is not asleep. */
static __always_inline void thread_begins(struct dlt_sched_slot *slot, struct task_struct *task)
{
	struct cfs_rq___throttled *queue = queue_of_quota(task);

	slot->quota_queue = (__u64)queue;
	slot->quota_sum_ns = throttled_sum(queue) + throttled_for(queue);
}

/* The thread has not run since SINCE: it waits for a CPU like others once its queue has ended that. */
static __always_inline __u64 part_of_thread(const struct dlt_sched_slot *slot, __u64 since, __u64 now)
{
	__u64 sum, off = now - since;

	if (!slot->throttled)
		return 0;
	sum = throttled_sum((void *)slot->quota_queue);
	return sum > slot->quota_sum_ns && sum - slot->quota_sum_ns < off ? sum - slot->quota_sum_ns : off;
}

/* --- where queues are ---------------------------------------------------------------------------------- */

/* The queue of TASK, which is or was on the CPU of HERE, is throttled NOW. */
static __always_inline void queue_begins(struct dlt_sched_cpu *here, struct task_struct *task, __u64 now)
{
	struct cfs_rq___throttled *queue = queue_of_quota(task);
	__u64 sum = throttled_sum(queue);

	if (here->queue == (__u64)queue && here->quota_begin_ns > here->quota_end_ns && here->quota_sum_ns == sum)
		return;
	here->queue = (__u64)queue;
	here->quota_sum_ns = sum;
	here->quota_begin_ns = now - throttled_for(queue);
	here->quota_end_ns = 0;
}

/* Returns when the time that the CPU of HERE remembers was over, NOW at the latest. */
static __always_inline __u64 queue_end(const struct dlt_sched_cpu *here, __u64 now)
{
	__u64 sum = throttled_sum((void *)here->queue), end = here->quota_begin_ns + sum - here->quota_sum_ns;

	return sum > here->quota_sum_ns && end < now ? end : now;
}

/*
 * SLOT's thread TASK leaves the CPU of HERE, in STATE: if it could run on, all that will end meanwhile counts. Its name
 * of a waker has the place if it was woken on its way to sleep; else nothing is left of an earlier time.
 */
static __always_inline void queue_leaves(const struct dlt_sched_cpu *here, struct dlt_sched_slot *slot,
					 struct task_struct *task, __u32 state)
{
	if (!state) {
		slot->by_tgid = slot->by_tid = 0;
		slot->quota_queue = (__u64)queue_of_quota(task);
		slot->quota_sum_ns = here->quota_ended_ns;
	} else if (!slot->by_tgid) {
		slot->quota_queue = 0;
	}
}

/* COMES: TASK comes to the CPU of HERE, so its queue can run again. */
static __always_inline __u64 part_of_queue(struct dlt_sched_cpu *here, struct task_struct *task,
					   const struct dlt_sched_slot *slot, __u64 wake, __u64 now, bool comes)
{
	__u64 queue = (__u64)queue_of_quota(task), begin = here->quota_begin_ns, end = here->quota_end_ns, ns = 0;

	if (!queue || here->queue != queue)
		return slot->throttled ? now - wake : 0;
	if (slot->quota_queue == queue)
		ns = here->quota_ended_ns - slot->quota_sum_ns;
	if (end < begin) {
		end = queue_end(here, now);
		begin = begin > wake ? begin : wake;
		ns += end > begin ? end - begin : 0;
		if (comes) {
			here->quota_end_ns = end;
			here->quota_ended_ns += end - here->quota_begin_ns;
		}
	} else if (slot->quota_queue != queue && end > wake) {
		ns = end - (begin > wake ? begin : wake);
	}
	return ns < now - wake ? ns : now - wake;
}

/* ------------------------------------------------------------------------------------------------------- */

/* SLOT's thread TASK leaves the CPU of HERE NOW, in STATE. */
static __always_inline void quota_leaves(struct dlt_sched_cpu *here, struct dlt_sched_slot *slot,
					 struct task_struct *task, __u32 state, __u64 now)
{
	bool throttled = is_throttled(task);

	slot->throttled = throttled && !state;
	if (by_thread()) {
		if (slot->throttled)
			thread_begins(slot, task);
		return;
	}
	if (throttled)
		queue_begins(here, task, now);
	queue_leaves(here, slot, task, state);
}

/*
 * Returns the part of the time from WAKE until NOW in which TASK, whose slot is SLOT, could run but for the quota.
 * COMES: it comes to the CPU of HERE.
 */
static __always_inline __u64 quota_part(struct dlt_sched_cpu *here, struct task_struct *task,
					const struct dlt_sched_slot *slot, __u64 wake, __u64 now, bool comes)
{
	if (now <= wake)
		return 0;
	return by_thread() ? part_of_thread(slot, wake, now) : part_of_queue(here, task, slot, wake, now, comes);
}

#endif
