/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The programs that send the cells as rows. One goes through all cells each interval, sends what has been added since
 * the last time, and notes what it has sent; at the begin and at the end of the trace an iterator visits each thread
 * for what no switch has shown.
 */
#ifndef SCHED_SEND_BPF_H
#define SCHED_SEND_BPF_H

#include "sched/sched_cells.bpf.h"
#include "sched/sched_life.bpf.h"
#include "sched/sched_quota.bpf.h"
#include "sched/waits.bpf.h"

/* An int on 6.18, narrower on 7.2, with other fields after it: read with the width that it has. */
static __always_inline bool task_on_cpu(struct task_struct *task)
{
	return BPF_CORE_READ_BITFIELD_PROBED(task, on_cpu);
}

/*
 * Returns the time since the thread that was seen last came to the CPU of S, less what has been sent of it for the
 * thread: the CPU has gone offline since, and the kernel reports no switch meanwhile. It has been idle.
 */
static __always_inline __u64 away_so_far(volatile struct dlt_sched_cpu *s, __u64 now)
{
	__u32 i = s->cell;
	volatile struct dlt_sched_cell *last = bpf_map_lookup_elem(&cells, &i);
	__u64 ns = now > s->since_ns ? now - s->since_ns : 0, sent = 0;

	if (last && last->sent[DLT_SCHED_RUN] > last->sums[DLT_SCHED_RUN])
		sent = last->sent[DLT_SCHED_RUN] - last->sums[DLT_SCHED_RUN];
	return ns > sent ? ns - sent : 0;
}

/*
 * Returns RUN, plus the time of the running thread since it came, if this is its cell. A CPU without any switch until
 * the end, and without a running thread, is assumed to have been idle. While the hook of a switch runs, the rest is
 * left to the next interval; after the end there is none, and the daemon has waited for the hooks.
 */
static __always_inline __u64 run_so_far(volatile struct dlt_sched_cell *c, __u32 i, bool online, __u64 now)
{
	__u32 cpu = i / DLT_SCHED_CELLS, seq;
	volatile struct dlt_sched_cpu *s = bpf_map_lookup_elem(&cpus, &cpu);
	bool idle = i % DLT_SCHED_CELLS == DLT_SCHED_CELL_IDLE;
	__u64 ran = c->sums[DLT_SCHED_RUN], since;

	if (!s)
		return ran;
	if (sched_clock.end_ns && !s->since_ns && s->online && idle)
		return now - sched_clock.begin_ns;
	seq = s->seq;
	since = s->since_ns;
	/* one that is back has a thread that runs */
	if (!online && since && s->cell != NO_CELL && !task_on_cpu((void *)s->task))
		return idle ? ran + away_so_far(s, now) : ran;
	if (s->cell != i || !since || since > now)
		return ran;
	if (sched_clock.end_ns)
		return ran + now - since;
	if (seq & 1)
		return ran;
	ran = c->sums[DLT_SCHED_RUN];
	return s->seq == seq ? ran + now - since : ran;
}

static __always_inline void task_id_of_cell(struct task_id *w, volatile struct dlt_sched_cell *c)
{
	w->tid = c->tid;
	w->tgid = c->tgid;
	*(__u64 *)w->comm = *(volatile __u64 *)c->comm;
	*(__u64 *)(w->comm + 8) = *(volatile __u64 *)(c->comm + 8);
	w->kind = c->kind;
	w->call = c->call;
	w->by = c->by;
	w->by_tgid = c->by_tgid;
	w->by_tid = c->by_tid;
	w->pad = 0;
}

/*
 * Sends what C has beyond what has been sent, as of NOW. Without room in the ring it is sent the next time. Once all of
 * it counts as sent (cell_is_sent) another thread may take the cell: RUN and COUNT come last, and only if they are new.
 */
static __always_inline void cell_send(volatile struct dlt_sched_cell *c, __u32 i, bool online, __u64 now)
{
	__u64 new[DLT_SCHED_SUMS];
	struct dlt_sched *rec;
	bool any = false;
	struct task_id w;
	void *ring;

	for (int n = 0; n < DLT_SCHED_SUMS; n++) {
		__u64 sum = n == DLT_SCHED_RUN ? run_so_far(c, i, online, now) : c->sums[n];

		new[n] = sum > c->sent[n] ? sum - c->sent[n] : 0;
		any |= new[n] != 0;
	}
	if (!any)
		return;
	ring = ring_here();
	rec = ring ? bpf_ringbuf_reserve(ring, sizeof(*rec), 0) : NULL;
	if (!rec) {
		if (sched_clock.end_ns)
			count(false);
		return;
	}
	count(true);
	for (int n = 0; n < DLT_SCHED_SUMS; n++)
		rec->sums[n] = new[n];
	rec->max_ns = c->max_ns;
	task_id_of_cell(&w, c);
	row_fill(rec, &w, i / DLT_SCHED_CELLS, now > c->sent_ns ? now - c->sent_ns : 0);
	c->sent_ns = now;
	for (int n = DLT_SCHED_SUMS - 1; n > DLT_SCHED_RUN; n--)
		c->sent[n] += new[n];
	if (new[DLT_SCHED_RUN])
		c->sent[DLT_SCHED_RUN] += new[DLT_SCHED_RUN];
	if (new[DLT_SCHED_COUNT])
		__sync_fetch_and_add(&c->sent[DLT_SCHED_COUNT], new[DLT_SCHED_COUNT]);
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
}

/* Not static: the verifier then checks it once, not at each turn of the loop below. */
__noinline int sched_send_cell(__u32 i, __u32 online)
{
	volatile struct dlt_sched_cell *c = bpf_map_lookup_elem(&cells, &i);

	if (c && c->kind && traces(DLT_sched))
		cell_send(c, i, online, sched_clock.end_ns ?: bpf_ktime_get_ns());
	return 0;
}

/* The daemon runs it, with the number of the first cell, and whether its CPU is online. */
SEC("raw_tp")
int sched_send(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 first = ctx->args[0], online = ctx->args[1];

	for (__u32 i = 0; i < DLT_SCHED_SENDS; i++)
		sched_send_cell(first + i, online);
	return 0;
}

/* Before the begin: notes what TASK is doing, which has not run since the hooks were attached. */
static __always_inline void task_begin(struct task_struct *task, const struct task_id *w)
{
	struct dlt_sched_slot *slot;
	__u32 state = task_state(task);

	if (!has_slot(w) || task_on_cpu(task) || state & TASK_DEAD || slot_find(w->tid))
		return;
	slot = slot_take(w->tid);
	if (slot)
		slot_begin(slot, w->kind, sum_of(task, state),
			   w->kind == DLT_SCHED_TARGET && state ? call_of(task, state) : DLT_SCHED_NO_CALL,
			   bpf_ktime_get_ns());
}

/* A thread that was on its CPU all the time without a switch, or has run without a cell since it came. */
static __always_inline void task_runs(struct task_struct *task, const struct task_id *w, __u32 cpu)
{
	struct dlt_sched_cpu *s = bpf_map_lookup_elem(&cpus, &cpu);
	__u64 *sums, end = sched_clock.end_ns;

	if (!s)
		return;
	if (!s->since_ns && task_on_cpu(task)) {
		sums = row_begin(s, w);
		sums[DLT_SCHED_RUN] = end - sched_clock.begin_ns;
	} else if (s->since_ns && s->cell == NO_CELL && s->task == (__u64)task && end > s->since_ns) {
		sums = row_begin(s, w);
		sums[DLT_SCHED_COUNT] = 1;
		sums[DLT_SCHED_RUN] = end - s->since_ns;
		sums[DLT_SCHED_RUNQ] = s->runq_ns;
	} else {
		return;
	}
	s->since_ns = end; /* now it is sent */
	s->cell = NO_CELL;
	row_send(cpu);
}

/* Sends that TASK, whose slot is SLOT, has been off its CPU until the END of the trace: its row, if it gets one. */
static __always_inline void wait_lasts(struct task_struct *task, const struct dlt_sched_slot *slot, __u64 wake,
				       __u64 throttled, __u64 end)
{
	struct wait_end last = { .by = DLT_BY_END, .wake = wake < end ? wake : NOT_WOKEN, .throttled = throttled };

	if (!wait_is_long(slot, end))
		return;
	if (!slot_waits(slot) || wake != end)
		last.by = waker_by(task, slot);
	wait_send(task, slot, &last, end);
}

/* After the end: sends what the thread was doing until then and no switch has shown. */
static __always_inline void task_end(struct task_struct *task, struct task_id *w)
{
	struct dlt_sched_slot *slot = has_slot(w) ? slot_find(w->tid) : NULL;
	__u64 *sums, end = sched_clock.end_ns, wake, throttled;
	__u32 cpu = task_cpu(task);
	struct dlt_sched_cpu *there = bpf_map_lookup_elem(&cpus, &cpu);

	task_runs(task, w, cpu);
	if (!slot || !there || slot->state == DLT_SCHED_RUN)
		return;
	wake = slot_wake(slot, end);
	throttled = quota_part(there, task, slot, wake, end, false);
	wait_lasts(task, slot, wake, throttled, end);
	if (end > wake) {
		sums = row_begin(there, w);
		sums[DLT_SCHED_RUNQ] = end - wake;
		sums[DLT_SCHED_THROTTLED] = throttled;
		row_send(cpu);
	}
	if (slot_waits(slot)) {
		w->call = slot->call;
		w->by = wake == end ? DLT_BY_END : waker_by(task, slot);
		row_wait(there, w, cpu, slot->state, wake - slot_since(slot));
	}
}

SEC("iter/task")
int sched_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct task_id w;

	if (!task)
		return 0;
	task_id_of(&w, task);
	if (sched_clock.end_ns)
		task_end(task, &w);
	else
		task_begin(task, &w);
	return 0;
}

#endif
