/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPU scheduling, in sums: which thread had which CPU for how long, which waited for one, and what else threads waited
 * for. This file has the scheduler's hooks. Cells hold sums (sched_cells.bpf.h), slots hold what each thread is doing
 * (sched_life.bpf.h), other programs send rows (sched_send.bpf.h).
 */
#include "sched/sched.bpf.h"
#include "sched/sched_cells.bpf.h"
#include "sched/sched_life.bpf.h"
#include "sched/sched_quota.bpf.h"
#include "sched/sched_send.bpf.h"
#include "sched/waits.bpf.h"

/* The part of a run that was sent stays in the cell that sent it: the thread that leaves is charged only for the rest.
 */
static __always_inline void settle(struct dlt_sched_cpu *here)
{
	struct dlt_sched_cell *c = cell_at(here->cell);
	__u64 sent;

	if (!c || c->sent[DLT_SCHED_RUN] <= c->sums[DLT_SCHED_RUN])
		return;
	sent = c->sent[DLT_SCHED_RUN] - c->sums[DLT_SCHED_RUN];
	c->sums[DLT_SCHED_RUN] += sent;
	here->since_ns += sent;
}

/*
 * Returns the cell of W, which has been running: the cell that it came with. Not if W has a new name since, if the cell
 * belongs to another program because W has executed one, or if it was another's before W joined the target.
 */
static __always_inline struct dlt_sched_cell *cell_leaving(struct dlt_sched_cpu *here, const struct task_id *w,
							   __u32 cpu, __u64 now)
{
	struct dlt_sched_cell *c = here->since_ns ? cell_at(here->cell) : NULL;

	if (c && (cell_is_of(c, w) || c->kind >= DLT_SCHED_OTHER))
		return c;
	if (c)
		settle(here);
	return cell_at(cell_find(here, w, cpu, now));
}

/* SLOT's thread PREV leaves: notes what it waits for from NOW on. */
static __always_inline void slot_left(struct dlt_sched_cpu *here, struct dlt_sched_slot *slot, struct task_struct *prev,
				      __u32 kind, __u32 state, __u64 now)
{
	slot_begin(slot, kind, sum_of(prev, state),
		   state && kind == DLT_SCHED_TARGET ? call_of(prev, state) : DLT_SCHED_NO_CALL, now);
	quota_leaves(here, slot, prev, state, now);
}

/* Notes what PREV, which leaves, waits for from NOW on. */
static __always_inline void slot_leaves(struct dlt_sched_cpu *here, const struct task_id *w, struct task_struct *prev,
					__u32 state, __u64 now)
{
	struct dlt_sched_slot *slot;

	if (!has_slot(w))
		return;
	if (state & TASK_DEAD) {
		slot_free(w->tid);
		return;
	}
	slot = slot_take(w->tid);
	if (slot)
		slot_left(here, slot, prev, w->kind, state, now);
}

static __always_inline void leaves(struct dlt_sched_cpu *here, __u32 cpu, const struct task_id *w, bool preempted,
				   __u64 now)
{
	bool uncounted = here->since_ns && here->cell == NO_CELL; /* when it came */
	struct dlt_sched_cell *c = cell_leaving(here, w, cpu, now);
	__u64 ran = now - (here->since_ns ?: sched_clock.begin_ns), *sums;

	if (c) {
		c->sums[DLT_SCHED_RUN] += ran;
		c->sums[DLT_SCHED_PREEMPTED] += preempted;
		if (uncounted) {
			c->sums[DLT_SCHED_COUNT]++;
			c->sums[DLT_SCHED_RUNQ] += here->runq_ns;
			c->sums[DLT_SCHED_THROTTLED] += here->throttled_ns;
		}
		return;
	}
	sums = row_begin(here, w);
	sums[DLT_SCHED_RUN] = ran;
	sums[DLT_SCHED_PREEMPTED] = preempted;
	if (uncounted) {
		sums[DLT_SCHED_COUNT] = 1;
		sums[DLT_SCHED_RUNQ] = here->runq_ns;
		sums[DLT_SCHED_THROTTLED] = here->throttled_ns;
	}
	row_send(cpu);
}

/*
 * TASK, which comes, has been able to run since WAKE; SLOT is its own, or NULL. For a thread that was not seen to come,
 * WAKE may be later than NOW, see came().
 */
static __always_inline void comes_to(struct dlt_sched_cpu *here, struct dlt_sched_cell *c, struct task_struct *task,
				     const struct dlt_sched_slot *slot, __u64 wake, __u64 now)
{
	__u64 runq = now > wake ? now - wake : 0, throttled = slot ? quota_part(here, task, slot, wake, now, true) : 0;

	here->runq_ns = runq;
	here->throttled_ns = throttled;
	if (!c)
		return;
	c->sums[DLT_SCHED_COUNT]++;
	c->sums[DLT_SCHED_RUNQ] += runq;
	c->sums[DLT_SCHED_THROTTLED] += throttled;
}

/* Whether sums by what ended a wait name the thread. */
static __always_inline bool is_of_thread(__u32 by)
{
	return by == DLT_BY_THREAD || by == DLT_BY_EXIT;
}

/* Adds that W has waited in a call, until BY. Where the cells are taken, those threads that end its waits share one. */
static __always_inline void waited(struct dlt_sched_cpu *here, struct task_id *w, __u32 cpu,
				   struct dlt_sched_slot *slot, __u32 by, __u64 ns, __u64 now)
{
	struct dlt_sched_cell *c;
	__u32 i;

	w->call = slot->call;
	w->by = by;
	if (is_of_thread(by)) {
		w->by_tgid = slot->by_tgid;
		w->by_tid = slot->by_tid;
	}
	i = cell_find(here, w, cpu, now);
	if (i == NO_CELL && w->by_tid) {
		w->by_tgid = w->by_tid = 0;
		i = cell_find(here, w, cpu, now);
	}
	c = cell_at(i);
	if (!c) {
		row_wait(here, w, cpu, slot->state, ns);
		return;
	}
	slot->wait_cell = i & (DLT_SCHED_CELLS - 1);
	cell_add_wait(c, slot->state, ns);
}

static __noinline int comes(struct dlt_sched_cpu *here, __u32 cpu, struct task_struct *task, struct task_id *w,
			    __u64 now)
{
	struct dlt_sched_slot *slot = has_slot(w) ? slot_find(w->tid) : NULL;
	__u64 wake = slot ? slot_wake_at(slot, now) : now;
	__u32 by = forget(here, slot ? waker_by(task, slot) : DLT_BY_NOTHING);

	/* the wait first: in its search it may take a cell whose sums have been sent, and the next one must keep its
	 * own */
	if (slot && slot_waits(slot)) {
		waited(here, w, cpu, slot, by, wake - slot_since(slot), now);
		w->call = DLT_SCHED_NO_CALL;
		w->by = w->by_tgid = w->by_tid = 0;
	}
	here->cell = cell_find(here, w, cpu, now);
	comes_to(here, cell_at(here->cell), task, slot, wake, now);
	if (!slot)
		return 0;
	slot->cell = here->cell & (DLT_SCHED_CELLS - 1);
	slot_came(slot, now);
	return 0;
}

/*
 * Counts a switch that the kernel did not report: the thread that leaves a CPU now is not the one that came to it last.
 * No row is lost, as the sums have the time until now; but how the threads shared this time is not known.
 */
static __always_inline void count_unseen(void)
{
	struct dlt_stats *st = stats_of(DLT_sched);

	if (st)
		__sync_fetch_and_add(&st->unseen, 1);
}

/* W was not seen to come. It is assumed to have come right after the last thread that was seen. */
static __always_inline void came(struct dlt_sched_cpu *here, __u32 cpu, struct task_struct *task,
				 const struct task_id *w)
{
	struct dlt_sched_slot *slot = w->kind == DLT_SCHED_TARGET ? slot_find(w->tid) : NULL;
	struct dlt_sched_cell *c = cell_at(here->cell);
	struct task_id own = *w;

	if (slot)
		wait_unseen(slot, here->since_ns);
	if (w->kind == DLT_SCHED_TARGET || (c && c->kind == DLT_SCHED_TARGET))
		count_unseen();
	settle(here);
	comes(here, cpu, task, &own, here->since_ns);
}

/* --- threads that are not known, or no longer --------------------------------------------------------- */

static __noinline int any_leaves(struct dlt_sched_cpu *here, __u32 cpu, struct task_struct *prev, __u32 state,
				 __u64 now)
{
	struct task_id w;

	task_id_of(&w, prev);
	w.kind = forget(here, w.kind);
	if (here->since_ns && here->task != (__u64)prev)
		came(here, cpu, prev, &w);
	leaves(here, cpu, &w, !state, now);
	slot_leaves(here, &w, prev, state, now);
	return 0;
}

static __noinline int any_comes(struct dlt_sched_cpu *here, __u32 cpu, struct task_struct *next, __u64 now)
{
	struct task_id w;

	task_id_of(&w, next);
	w.kind = forget(here, w.kind);
	return comes(here, cpu, next, &w, now);
}

/* The trace has not begun: notes only what threads are doing. */
static __noinline int before_begin(struct dlt_sched_cpu *here, struct task_struct *prev, __u32 state,
				   struct task_struct *next, __u64 now)
{
	struct dlt_sched_slot *slot;
	struct task_id w;

	task_id_of(&w, prev);
	slot_leaves(here, &w, prev, state, now);
	slot = kind_of(next) < DLT_SCHED_OTHER ? slot_find(next->pid) : NULL;
	if (slot)
		slot_came(slot, now);
	return 0;
}

/* --- threads that are known --------------------------------------------------------------------------- */

/*
 * Most switches are between threads that have not changed since they last came here: then nothing has to be searched
 * for. Otherwise both functions count nothing and return false.
 */
static __always_inline bool known_leaves(struct dlt_sched_cpu *here, struct task_struct *prev, __u32 state, __u64 now)
{
	struct dlt_sched_cell *c = here->since_ns && here->task == (__u64)prev ? cell_at(here->cell) : NULL;
	__u32 kind = kind_of(prev);
	struct dlt_sched_slot *slot;

	if (!c || c->kind != kind)
		return false;
	if (kind < DLT_SCHED_OTHER) {
		slot = cell_fits(c, prev, kind, DLT_SCHED_NO_CALL) ? slot_find(prev->pid) : NULL;
		if (!slot || state & TASK_DEAD)
			return false;
		slot_left(here, slot, prev, kind, state, now);
	}
	c->sums[DLT_SCHED_RUN] += now - here->since_ns;
	c->sums[DLT_SCHED_PREEMPTED] += !state;
	return true;
}

static __always_inline bool known_comes(struct dlt_sched_cpu *here, __u32 cpu, struct task_struct *next, __u64 now)
{
	__u32 kind = kind_of(next), first = cpu * DLT_SCHED_CELLS, i = first + DLT_SCHED_CELL_IDLE;
	struct dlt_sched_cell *c, *call = NULL;
	struct dlt_sched_slot *slot = NULL;
	__u64 wake = now;
	__u32 by;

	if (kind < DLT_SCHED_OTHER) {
		slot = slot_find(next->pid);
		if (!slot)
			return false;
		i = first + (slot->cell & (DLT_SCHED_CELLS - 1));
	} else if (kind == DLT_SCHED_OTHER) {
		i = first + DLT_SCHED_CELL_OTHER;
	}
	c = cell_at(i);
	if (!c)
		return false;
	if (slot) {
		if (!cell_fits(c, next, kind, DLT_SCHED_NO_CALL))
			return false;
		wake = slot_wake_at(slot, now);
		by = forget(here, waker_by(next, slot));
		if (slot_waits(slot)) {
			call = cell_at(first + (slot->wait_cell & (DLT_SCHED_CELLS - 1)));
			if (!call || !cell_fits(call, next, kind, slot->call) || call->by != by ||
			    call->by_tid != (is_of_thread(by) ? slot->by_tid : 0))
				return false;
			cell_add_wait(call, slot->state, wake - slot_since(slot));
		}
		slot_came(slot, now);
	}
	here->cell = i;
	comes_to(here, c, next, slot, wake, now);
	return true;
}

/* --- hooks -------------------------------------------------------------------------------------------- */

static __always_inline void switched(struct dlt_sched_cpu *here, __u32 cpu, const __u64 *ctx, __u32 state)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	__u64 now = bpf_ktime_get_ns(), begin = sched_clock.begin_ns;

	if (ended(now))
		return;
	if (!begin || now < begin) {
		before_begin(here, prev, state, next, now);
		return;
	}
	now = wait_ends(here, next, now);
	if (!known_leaves(here, prev, state, now))
		any_leaves(here, cpu, prev, state, now);
	if (!known_comes(here, cpu, next, now))
		any_comes(here, cpu, next, now);
	here->task = ctx[2];
	here->since_ns = now;
}

/* The clock is read after the first count: a reader that finds the count unchanged has read an earlier time. */
SEC("tp_btf/sched_switch")
int sched_switch(__u64 *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id(), state = switch_state(ctx);
	struct dlt_sched_cpu *here = bpf_map_lookup_elem(&cpus, &cpu);
	volatile struct dlt_sched_cpu *seen = here;
	__u32 seq;

	if (!here)
		return 0;
	seq = seen->seq | 1; /* kept here: the daemon may write the entry at the same time, when the trace begins */
	seen->seq = seq;
	switched(here, cpu, ctx, state);
	seen->seq = seq + 1;
	return 0;
}

/*
 * The clock is read last: most threads woken on a machine are not in the target. A thread on its way to sleep may be
 * woken before it has left its CPU, and nothing else wakes it then: what would is noted while it runs, too.
 */
SEC("tp_btf/sched_waking")
int BPF_PROG(sched_waking, struct task_struct *task)
{
	struct dlt_sched_slot *slot = slot_find(task->pid);
	__u64 now;

	if (!slot || slot->state == DLT_SCHED_RUNQ || slot->wake_ns)
		return 0;
	if (slot->state == DLT_SCHED_RUN && slot->kind != DLT_SCHED_TARGET)
		return 0;
	now = bpf_ktime_get_ns();
	if (ended(now))
		return 0;
	if (slot->kind == DLT_SCHED_TARGET)
		waker_note(slot, KCAST(task_struct, task), now); /* cast: see task_current() */
	if (slot->state > DLT_SCHED_RUNQ)
		slot->wake_ns = now;
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(sched_wakeup_new, struct task_struct *task)
{
	__u64 now = bpf_ktime_get_ns();
	struct dlt_sched_slot *slot;

	if (ended(now))
		return 0;
	slot = kind_of(task) < DLT_SCHED_OTHER ? slot_take(task->pid) : NULL;
	if (slot)
		slot_begin(slot, kind_of(task), DLT_SCHED_RUNQ, DLT_SCHED_NO_CALL, now);
	return 0;
}

/*
 * Only where the queues of threads are throttled: a thread may be woken into one that is. It has its CPU by now, whose
 * run queue is locked, as in sched_switch.
 */
SEC("tp_btf/sched_wakeup")
int BPF_PROG(sched_queued, struct task_struct *task)
{
	__u32 cpu = task_cpu(task);
	struct dlt_sched_cpu *here = slot_find(task->pid) ? bpf_map_lookup_elem(&cpus, &cpu) : NULL;

	if (here && is_throttled(task))
		queue_begins(here, task, bpf_ktime_get_ns());
	return 0;
}
