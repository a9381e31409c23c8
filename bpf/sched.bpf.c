/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPU scheduling, added up: who had which CPU for how long, who waited for one, and what for else. Here are
 * the hooks of the scheduler; sums are in cells (sched_cells.bpf.h), what each thread is doing is in slots
 * (sched_life.bpf.h), rows are sent by iterators (sched_tell.bpf.h).
 */
#include "sched_tell.bpf.h"

/* What has been told of a run stays where it was told: of who leaves is only what comes after. */
static __always_inline void settle(struct dlt_sched_cpu *here)
{
	struct dlt_sched_cell *c = cell_at(here->cell);
	__u64 told;

	if (!c || c->told[DLT_SCHED_RUN] <= c->sums[DLT_SCHED_RUN])
		return;
	told = c->told[DLT_SCHED_RUN] - c->sums[DLT_SCHED_RUN];
	c->sums[DLT_SCHED_RUN] += told;
	here->since_ns += told;
}

/*
 * The cell of W, who has been running: the one that it came with, unless it has another name by now, is
 * another's as its program is, or its cell was another's before the target was.
 */
static __always_inline struct dlt_sched_cell *cell_leaving(struct dlt_sched_cpu *here, const struct who *w, __u32 cpu,
							   __u64 now)
{
	struct dlt_sched_cell *c = here->since_ns ? cell_at(here->cell) : NULL;

	if (c && (cell_is_of(c, w) || c->kind >= DLT_SCHED_OTHER))
		return c;
	if (c)
		settle(here);
	return cell_at(cell_find(here, w, cpu, now));
}

/* What PREV, who leaves, waits for from NOW on. */
static __always_inline void slot_leaves(const struct who *w, struct task_struct *prev, __u32 state, __u64 now)
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
		slot_set(slot, sum_of(prev, state),
			 state && w->kind == DLT_SCHED_TARGET ? call_of(prev, state) : DLT_SCHED_NO_CALL, now);
}

static __always_inline void leaves(struct dlt_sched_cpu *here, __u32 cpu, const struct who *w, bool preempted,
				   __u64 now)
{
	bool uncounted = here->since_ns && here->cell == NO_CELL; /* when it came */
	struct dlt_sched_cell *c = cell_leaving(here, w, cpu, now);
	__u64 ran = now - (here->since_ns ?: sched_clock.begin_ns);
	__u64 sums[DLT_SCHED_SUMS] = {};

	if (c) {
		c->sums[DLT_SCHED_RUN] += ran;
		c->sums[DLT_SCHED_PREEMPTED] += preempted;
		if (uncounted) {
			c->sums[DLT_SCHED_COUNT]++;
			c->sums[DLT_SCHED_RUNQ] += here->runq_ns;
		}
		return;
	}
	sums[DLT_SCHED_RUN] = ran;
	sums[DLT_SCHED_PREEMPTED] = preempted;
	if (uncounted) {
		sums[DLT_SCHED_COUNT] = 1;
		sums[DLT_SCHED_RUNQ] = here->runq_ns;
	}
	row_single(w, cpu, sums);
}

/* W has waited in a call. */
static __always_inline void waited(struct dlt_sched_cpu *here, struct who *w, __u32 cpu, const struct dlt_sched_slot *slot, __u64 ns, __u64 now)
{
	struct dlt_sched_cell *c;

	w->call = slot->call;
	c = cell_at(cell_find(here, w, cpu, now));
	if (!c) {
		row_wait(w, cpu, slot->state, ns);
		return;
	}
	if (ns > c->max_ns || cell_is_told(c))
		c->max_ns = ns;
	cell_add(c, slot->state, ns);
	c->sums[DLT_SCHED_COUNT]++;
}

static __noinline int comes(struct dlt_sched_cpu *here, __u32 cpu, struct who *w, __u64 now)
{
	struct dlt_sched_slot *slot = has_slot(w) ? slot_find(w->tid) : NULL;
	__u32 state = slot ? slot->state : DLT_SCHED_RUN;
	__u64 runq = 0, wake = now;
	struct dlt_sched_cell *c;

	here->cell = cell_find(here, w, cpu, now);
	if (state != DLT_SCHED_RUN)
		wake = slot_wake(slot, now);
	runq = now > wake ? now - wake : 0; /* one that was not seen to come did so later than NOW, see came() */
	here->runq_ns = runq;
	c = cell_at(here->cell);
	if (c) {
		c->sums[DLT_SCHED_COUNT]++;
		c->sums[DLT_SCHED_RUNQ] += runq;
	}
	if (!slot)
		return 0;
	if (state > DLT_SCHED_RUNQ && slot->call != DLT_SCHED_NO_CALL)
		waited(here, w, cpu, slot, wake - slot_since(slot), now);
	slot_set(slot, DLT_SCHED_RUN, DLT_SCHED_NO_CALL, now);
	return 0;
}

/* W was not seen to come. As early as it can be, it came after who was. */
static __always_inline void came(struct dlt_sched_cpu *here, __u32 cpu, const struct who *w)
{
	struct dlt_sched_cell *c = cell_at(here->cell);
	struct who own = *w;

	if (w->kind == DLT_SCHED_TARGET || (c && c->kind == DLT_SCHED_TARGET))
		count_unseen(DLT_sched);
	settle(here);
	comes(here, cpu, &own, here->since_ns);
}

/* The trace has not begun: only what is known of threads when it does. */
static __always_inline void before_begin(const struct who *prev, struct task_struct *task, __u32 state,
					const struct who *next, __u64 now)
{
	struct dlt_sched_slot *slot;

	slot_leaves(prev, task, state, now);
	slot = has_slot(next) ? slot_find(next->tid) : NULL;
	if (slot)
		slot_set(slot, DLT_SCHED_RUN, DLT_SCHED_NO_CALL, now);
}

static __always_inline bool ended(__u64 now)
{
	return sched_clock.end_ns && now >= sched_clock.end_ns;
}

/* The verifier would go through all that follows for each value again. */
static __always_inline __u32 forget(volatile struct dlt_sched_cpu *here, __u32 value)
{
	here->found = value;
	return here->found;
}

static __always_inline void switched(struct dlt_sched_cpu *here, __u32 cpu, const __u64 *ctx, __u32 state)
{
	struct task_struct *task = (void *)ctx[1];
	__u64 now = bpf_ktime_get_ns();
	struct who prev, next;

	if (ended(now))
		return;
	who_is(&prev, task);
	prev.kind = forget(here, prev.kind);
	who_is(&next, (void *)ctx[2]);
	next.kind = forget(here, next.kind);
	if (!sched_clock.begin_ns || now < sched_clock.begin_ns) {
		before_begin(&prev, task, state, &next, now);
		return;
	}
	if (here->since_ns && here->task != (__u64)task)
		came(here, cpu, &prev);
	leaves(here, cpu, &prev, !state, now);
	slot_leaves(&prev, task, state, now);
	comes(here, cpu, &next, now);
	here->task = ctx[2];
	here->since_ns = now;
}

/* The clock is read after the first count: who sees it unchanged has read an earlier time. */
SEC("tp_btf/sched_switch")
int sched_switch(__u64 *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id(), state = switch_state(ctx);
	struct dlt_sched_cpu *here = bpf_map_lookup_elem(&cpus, &cpu);
	volatile struct dlt_sched_cpu *seen = here;

	if (!here)
		return 0;
	seen->seq++;
	switched(here, cpu, ctx, state);
	seen->seq++;
	return 0;
}

static __always_inline int woken(struct task_struct *task, bool new)
{
	__u64 now = bpf_ktime_get_ns();
	struct dlt_sched_slot *slot;
	struct who w;

	if (ended(now))
		return 0;
	if (!new) {
		slot = slot_find(KLOAD(task, pid));
		if (slot && slot->state > DLT_SCHED_RUNQ && !slot->wake_ns)
			slot->wake_ns = now;
		return 0;
	}
	who_is(&w, task);
	slot = has_slot(&w) ? slot_take(w.tid) : NULL;
	if (slot)
		slot_set(slot, DLT_SCHED_RUNQ, DLT_SCHED_NO_CALL, now);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(sched_wakeup, struct task_struct *task)
{
	return woken(task, false);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(sched_wakeup_new, struct task_struct *task)
{
	return woken(task, true);
}
