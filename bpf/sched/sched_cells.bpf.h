/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums of CPU time, and rows of them. Sums are in cells: each CPU has a set of its own, found by the
 * thread's number. The scheduler's hooks run with interrupts off, so a cell has one writer and needs
 * neither a lock nor an atomic operation. Once a cell's sums have all been sent (sched_send.bpf.h), another
 * thread may take it. A thread that finds no cell gets a row of its own for each time that it runs or
 * waits: nothing is dropped.
 */
#ifndef SCHED_CELLS_BPF_H
#define SCHED_CELLS_BPF_H

#include "sched/sched.bpf.h"

#define PLACES 4 /* places where a cell may be */
#define NO_CELL 0xffffffffu

/* Written by the daemon. */
volatile struct dlt_sched_clock sched_clock = {};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DLT_SCHED_CELLS);
	__type(key, __u32);
	__type(value, struct dlt_sched_cell);
} cells SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dlt_sched_cpu);
} cpus SEC(".maps");

/* Keeps the verifier from going through all following code for each value again. */
static __always_inline __u32 forget(volatile struct dlt_sched_cpu *here, __u32 value)
{
	here->found = value;
	return here->found;
}

/* The thread that a row is about. */
struct task_id {
	__u64 start_ns;
	__u32 tid;
	__u32 tgid;
	char comm[DLT_COMM_LEN];
	__u32 kind;
	__u32 call;
	__u32 by;
	__u32 by_tgid, by_tid; /* of BY thread and exit */
	__u32 pad; /* filled: until 6.3 the verifier refuses to copy what was not */
};
_Static_assert(sizeof(struct task_id) == sizeof(((struct dlt_sched_cpu *)0)->sought), "task_id");

static __always_inline __u32 kind_of(struct task_struct *task)
{
	__u32 tgid = task->tgid;

	if (!task->pid)
		return DLT_SCHED_IDLE;
	if (tgid == dlt_cfg.self_tgid || is_kept_out(tgid))
		return DLT_SCHED_SELF;
	if (task->flags & PF_KTHREAD && !dlt_cfg.owned)
		return DLT_SCHED_KERNEL;
	if (target_had(tgid))
		return DLT_SCHED_TARGET;
	return DLT_SCHED_OTHER;
}

/* Fills W by plain loads: through the tracepoint's own pointers they need no check of the address. */
static __always_inline void task_id_of(struct task_id *w, struct task_struct *task)
{
	w->tid = task->pid;
	w->tgid = task->tgid;
	w->start_ns = task->start_time;
	w->call = DLT_SCHED_NO_CALL;
	w->by = w->by_tgid = w->by_tid = w->pad = 0;
	task_comm(w->comm, task);
	w->kind = kind_of(task);
}

static __always_inline bool has_slot(const struct task_id *w)
{
	return w->kind < DLT_SCHED_OTHER;
}

/* --- rows --------------------------------------------------------------------------------------- */

static __always_inline void row_fill(struct dlt_sched *rec, const struct task_id *w, __u32 cpu, __u64 span)
{
	bool others = w->kind >= DLT_SCHED_OTHER;
	__u64 end = sched_clock.end_ns;

	rec->hdr.tgid = others ? 0 : w->tgid;
	rec->hdr.tid = others ? 0 : w->tid;
	__builtin_memcpy(rec->hdr.comm, w->comm, sizeof(w->comm));
	rec->hdr.probe = DLT_sched;
	rec->hdr.func = 0;
	rec->hdr.size = sizeof(*rec);
	rec->hdr.ts_ns = bpf_ktime_get_ns(); /* after the reserve, as everywhere */
	rec->hdr.lat_ns = span;
	if (end &&
	    rec->hdr.ts_ns > end) /* the row keeps the time at which its interval ended, however late it is sent */
		rec->hdr.lat_ns += rec->hdr.ts_ns - end;
	rec->call = w->call;
	rec->kind = w->kind;
	rec->by = w->by;
	rec->by_tgid = w->by_tgid ?: DLT_NONE32;
	rec->by_tid = w->by_tgid ? w->by_tid : DLT_NONE32;
	rec->pad = 0;
	rec->cpu = cpu;
	if (w->call == DLT_SCHED_NO_CALL) {
		rec->sums[DLT_SCHED_DISK] = rec->sums[DLT_SCHED_BLOCKED] = rec->sums[DLT_SCHED_SLEEP] = DLT_NONE;
		rec->max_ns = DLT_NONE;
	} else {
		rec->sums[DLT_SCHED_PREEMPTED] = rec->sums[DLT_SCHED_RUN] = rec->sums[DLT_SCHED_RUNQ] = DLT_NONE;
		rec->sums[DLT_SCHED_THROTTLED] = DLT_NONE;
		rec->cpu = DLT_NONE;
	}
}

/* Counts with atomic additions: hooks may interrupt the programs that send, and both count here. */
static __always_inline void count(bool sent)
{
	struct dlt_stats *st = stats_of(DLT_sched);

	if (!st || !traces(DLT_sched))
		return;
	__sync_fetch_and_add(&st->seen, 1);
	__sync_fetch_and_add(sent ? &st->emitted : &st->lost, 1);
}

/*
 * A row of the single run or wait in SINGLE of CPU's entry, whose thread is in SOUGHT: no cell had room, or the trace
 * is ending. A global function: verified once, not at each caller.
 */
__noinline int row_send(__u32 cpu)
{
	struct dlt_sched_cpu *here = bpf_map_lookup_elem(&cpus, &cpu);
	void *ring = traces(DLT_sched) && here ? ring_here() : NULL;
	struct dlt_sched *rec = ring ? bpf_ringbuf_reserve(ring, sizeof(*rec), 0) : NULL;
	__u64 span = 0;

	if (!rec) { /* checked at once: 5.10 forgets that the record may be NULL */
		count(false);
		return 0;
	}
	count(true);
	__builtin_memset(rec, 0, sizeof(*rec));
	for (int i = 0; here && i < DLT_SCHED_SUMS; i++) {
		rec->sums[i] = here->single[i];
		if (i >= DLT_SCHED_RUN && i != DLT_SCHED_THROTTLED)
			span += here->single[i];
	}
	rec->max_ns = span;
	if (here)
		row_fill(rec, (const void *)here->sought, cpu, span);
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return 0;
}

/* Begins such a row of W, which HERE may have in SOUGHT already: returns its sums, all 0. */
static __always_inline __u64 *row_begin(struct dlt_sched_cpu *here, const struct task_id *w)
{
	*(struct task_id *)here->sought = *w;
	__builtin_memset(here->single, 0, sizeof(here->single));
	return here->single;
}

/* A row of one wait of W, in state SUM. */
static __always_inline void row_wait(struct dlt_sched_cpu *here, const struct task_id *w, __u32 cpu, __u32 sum,
				     __u64 ns)
{
	__u64 *sums = row_begin(here, w);

	sums[DLT_SCHED_COUNT] = 1;
	if (sum == DLT_SCHED_DISK)
		sums[DLT_SCHED_DISK] = ns;
	else if (sum == DLT_SCHED_BLOCKED)
		sums[DLT_SCHED_BLOCKED] = ns;
	else
		sums[DLT_SCHED_SLEEP] = ns;
	row_send(cpu);
}

/* --- cells -------------------------------------------------------------------------------------- */

static __always_inline struct dlt_sched_cell *cell_at(__u32 i)
{
	return bpf_map_lookup_elem(&cells, &i);
}

static __always_inline bool cell_is_of(const struct dlt_sched_cell *c, const struct task_id *w)
{
	return c->tid == w->tid && c->call == w->call && c->start_ns == w->start_ns && c->by == w->by &&
	       c->by_tid == w->by_tid && *(__u64 *)c->comm == *(__u64 *)w->comm &&
	       *(__u64 *)(c->comm + 8) == *(__u64 *)(w->comm + 8) && c->kind == w->kind;
}

/* cell_is_of() for TASK at this moment, whose kind is KIND, but for what ended its waits. */
static __always_inline bool cell_fits(const struct dlt_sched_cell *c, struct task_struct *task, __u32 kind, __u32 call)
{
	return c->tid == (__u32)task->pid && c->call == call && c->kind == kind && c->start_ns == task->start_time &&
	       *(__u64 *)c->comm == *(__u64 *)task->comm && *(__u64 *)(c->comm + 8) == *(__u64 *)(task->comm + 8);
}

static __always_inline bool cell_is_sent(const struct dlt_sched_cell *c)
{
	return c->sent[DLT_SCHED_COUNT] == c->sums[DLT_SCHED_COUNT] && c->sent[DLT_SCHED_RUN] >= c->sums[DLT_SCHED_RUN];
}

static __always_inline void cell_take(volatile struct dlt_sched_cell *c, const struct task_id *w, __u64 now)
{
	c->kind = DLT_SCHED_FREE; /* while it belongs to neither thread */
	c->start_ns = w->start_ns;
	c->tid = w->tid;
	c->tgid = w->tgid;
	*(volatile __u64 *)c->comm = *(__u64 *)w->comm;
	*(volatile __u64 *)(c->comm + 8) = *(__u64 *)(w->comm + 8);
	c->call = w->call;
	c->by = w->by;
	c->by_tgid = w->by_tgid;
	c->by_tid = w->by_tid;
	for (int i = 0; i < DLT_SCHED_SUMS; i++)
		c->sums[i] = c->sent[i] = 0;
	c->max_ns = 0;
	c->sent_ns = now;
	c->kind = w->kind;
}

/* Includes the name: threads that often rename themselves do not fill their neighbors' places. */
static __always_inline __u32 cell_hash(const struct task_id *w)
{
	__u64 comm = *(__u64 *)w->comm ^ *(__u64 *)(w->comm + 8) << 1;

	return (w->tid ^ w->call << 20 ^ w->by << 14 ^ w->by_tid << 7 ^ (__u32)comm ^ (__u32)(comm >> 32)) *
		       0x9e3779b1u >>
	       16;
}

/* cell_find() for what the CPU has in SOUGHT. A global function: verified once, not at each caller. */
__noinline __u32 cell_search(__u32 cpu, __u64 now)
{
	volatile struct dlt_sched_cpu *here = bpf_map_lookup_elem(&cpus, &cpu);
	const struct task_id *w = here ? (const void *)here->sought : NULL;
	__u32 first = cpu * DLT_SCHED_CELLS, hash;
	struct dlt_sched_cell *c;

	if (!w)
		return NO_CELL;
	hash = cell_hash(w);
	if (w->kind >= DLT_SCHED_OTHER)
		return first + (w->kind == DLT_SCHED_IDLE ? DLT_SCHED_CELL_IDLE : DLT_SCHED_CELL_OTHER);
	here->found = NO_CELL;
#pragma unroll
	for (int i = 0; i < PLACES; i++) {
		__u32 at = (hash + i) & (DLT_SCHED_CELLS - 1);

		if (at <= DLT_SCHED_CELL_OTHER)
			continue;
		c = cell_at(first + at);
		if (!c)
			return NO_CELL;
		if (cell_is_of(c, w)) {
			here->found = first + at;
			return here->found;
		}
		if (here->found == NO_CELL && (!c->kind || cell_is_sent(c)))
			here->found = first + at;
	}
	c = cell_at(here->found);
	if (!c)
		return NO_CELL;
	cell_take(c, w, now);
	return here->found;
}

/*
 * Returns the number of W's cell on this CPU among all cells; takes a new one if it has none; NO_CELL when all its
 * places are taken.
 */
static __always_inline __u32 cell_find(struct dlt_sched_cpu *here, const struct task_id *w, __u32 cpu, __u64 now)
{
	*(struct task_id *)here->sought = *w;
	return cell_search(cpu, now);
}

/* Adds a wait of C's thread in its call, in state SUM. */
static __always_inline void cell_add_wait(struct dlt_sched_cell *c, __u32 sum, __u64 ns)
{
	if (ns > c->max_ns || cell_is_sent(c))
		c->max_ns = ns;
	if (sum < DLT_SCHED_SUMS)
		c->sums[sum] += ns;
	c->sums[DLT_SCHED_COUNT]++;
}

#endif
