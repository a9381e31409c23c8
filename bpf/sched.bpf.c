/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPU scheduling, added up: who had which CPU for how long, who waited for one, and what for else.
 *
 * Sums are in cells, of which each CPU has some of its own, found by the thread's number. Hooks of the
 * scheduler run with interrupts off, so a cell has one writer and needs neither a lock nor an atomic
 * operation. An iterator looks at all cells each interval, sends what has been added since the last
 * time, and notes what it has told; cells that are told may be taken by others. A thread that finds no
 * cell has a row of its own for each time that it runs or waits: nothing is dropped.
 *
 * What a thread has been doing since when is in a slot by its number. Its writers are the CPUs that it
 * leaves and comes to, and who wakes it, which the scheduler does one after the other.
 */
#include "sched.bpf.h"

#define PLACES 4 /* that a cell may have */
#define NO_CELL 0xffffffffu

/* Written by the daemon. */
volatile struct dlt_sched_clock sched_clock = {};

const volatile __u32 stack_bytes = 0; /* of a kernel stack; 0: bpf_task_pt_regs is there */

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

/* Whom a row is about. */
struct who {
	__u64 start_ns;
	__u32 tid;
	__u32 tgid;
	char comm[DLT_COMM_LEN];
	__u32 kind;
	__u32 call;
};

static __always_inline void who_is(struct who *w, struct task_struct *typed)
{
	struct task_struct *task = KCAST(task_struct, typed); /* cheaper to verify */
	__u32 flags = KLOAD(task, flags);

	w->tid = KLOAD(task, pid);
	w->tgid = KLOAD(task, tgid);
	w->start_ns = KLOAD(task, start_time);
	w->call = DLT_SCHED_NO_CALL;
	task_comm(w->comm, task);
	w->kind = !w->tid			     ? DLT_SCHED_IDLE :
		  w->tgid == dlt_cfg.self_tgid	     ? DLT_SCHED_SELF :
		  flags & PF_KTHREAD && !dlt_cfg.owned ? DLT_SCHED_KERNEL :
		  target_had(w->tgid)		     ? DLT_SCHED_TARGET : DLT_SCHED_OTHER;
}

static __always_inline bool has_slot(const struct who *w)
{
	return w->kind < DLT_SCHED_OTHER;
}

/* --- rows --------------------------------------------------------------------------------------- */

static __always_inline void row_fill(struct dlt_sched *rec, const struct who *w, __u32 cpu, __u64 span)
{
	bool others = w->kind >= DLT_SCHED_OTHER;

	rec->hdr.tgid = others ? 0 : w->tgid;
	rec->hdr.tid = others ? 0 : w->tid;
	__builtin_memcpy(rec->hdr.comm, w->comm, sizeof(w->comm));
	rec->hdr.probe = DLT_sched;
	rec->hdr.func = 0;
	rec->hdr.size = sizeof(*rec);
	rec->hdr.ts_ns = bpf_ktime_get_ns(); /* after the reserve, as everywhere */
	rec->hdr.lat_ns = span;
	rec->call = w->call;
	rec->kind = w->kind;
	rec->cpu = cpu;
	if (w->call == DLT_SCHED_NO_CALL) {
		rec->sums[DLT_SCHED_DISK] = rec->sums[DLT_SCHED_BLOCKED] = rec->sums[DLT_SCHED_SLEEP] = DLT_NONE;
		rec->max_ns = DLT_NONE;
	} else {
		rec->sums[DLT_SCHED_PREEMPTED] = rec->sums[DLT_SCHED_RUN] = rec->sums[DLT_SCHED_RUNQ] = DLT_NONE;
		rec->cpu = DLT_NONE;
	}
}

/* Both hooks and iterators come here, and an iterator may be interrupted by a hook. */
static __always_inline void count(bool sent)
{
	struct dlt_stats *st = stats_of(DLT_sched);

	if (!st)
		return;
	__sync_fetch_and_add(&st->seen, 1);
	__sync_fetch_and_add(sent ? &st->emitted : &st->lost, 1);
}

/* A row of what W did once. No cell has had room, or the trace ends. */
static __noinline int row_single(const struct who *w, __u32 cpu, const __u64 sums[DLT_SCHED_SUMS])
{
	void *ring = ring_here();
	struct dlt_sched *rec = ring ? bpf_ringbuf_reserve(ring, sizeof(*rec), 0) : NULL;
	__u64 span = 0;

	if (!rec) { /* looked at once: 5.10 forgets that a record is none */
		count(false);
		return 0;
	}
	count(true);
	__builtin_memset(rec, 0, sizeof(*rec));
	for (int i = 0; i < DLT_SCHED_SUMS; i++) {
		rec->sums[i] = sums[i];
		if (i >= DLT_SCHED_RUN)
			span += sums[i];
	}
	rec->max_ns = span;
	row_fill(rec, w, cpu, span);
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return 0;
}

/* Of one wait, in state SUM. */
static __always_inline void row_wait(const struct who *w, __u32 cpu, __u32 sum, __u64 ns)
{
	__u64 sums[DLT_SCHED_SUMS] = { [DLT_SCHED_COUNT] = 1 };

	if (sum == DLT_SCHED_DISK)
		sums[DLT_SCHED_DISK] = ns;
	else if (sum == DLT_SCHED_BLOCKED)
		sums[DLT_SCHED_BLOCKED] = ns;
	else
		sums[DLT_SCHED_SLEEP] = ns;
	row_single(w, cpu, sums);
}

/* --- cells -------------------------------------------------------------------------------------- */

static __always_inline struct dlt_sched_cell *cell_at(__u32 i)
{
	return bpf_map_lookup_elem(&cells, &i);
}

static __always_inline bool cell_is_of(const struct dlt_sched_cell *c, const struct who *w)
{
	return c->tid == w->tid && c->call == w->call && c->start_ns == w->start_ns &&
	       *(__u64 *)c->comm == *(__u64 *)w->comm && *(__u64 *)(c->comm + 8) == *(__u64 *)(w->comm + 8) &&
	       c->kind == w->kind;
}

static __always_inline bool cell_is_told(const struct dlt_sched_cell *c)
{
	return c->told[DLT_SCHED_COUNT] == c->sums[DLT_SCHED_COUNT] && c->told[DLT_SCHED_RUN] >= c->sums[DLT_SCHED_RUN];
}

static __always_inline void cell_take(volatile struct dlt_sched_cell *c, const struct who *w, __u64 now)
{
	c->kind = DLT_SCHED_FREE; /* while it is neither one's nor the other's */
	c->start_ns = w->start_ns;
	c->tid = w->tid;
	c->tgid = w->tgid;
	*(volatile __u64 *)c->comm = *(__u64 *)w->comm;
	*(volatile __u64 *)(c->comm + 8) = *(__u64 *)(w->comm + 8);
	c->call = w->call;
	for (int i = 0; i < DLT_SCHED_SUMS; i++)
		c->sums[i] = c->told[i] = 0;
	c->max_ns = 0;
	c->told_ns = now;
	c->kind = w->kind;
}

/* Those who rename themselves a lot do not crowd their neighbours. */
static __always_inline __u32 cell_hash(const struct who *w)
{
	__u64 comm = *(__u64 *)w->comm ^ *(__u64 *)(w->comm + 8) << 1;

	return (w->tid ^ w->call << 20 ^ (__u32)comm ^ (__u32)(comm >> 32)) * 0x9e3779b1u >> 16;
}

/* W's cell on this CPU, a new one if need be: its number among all, NO_CELL when its places are taken. */
static __noinline __u32 cell_find(volatile struct dlt_sched_cpu *here, const struct who *w, __u32 cpu, __u64 now)
{
	__u32 first = cpu * DLT_SCHED_CELLS, hash = cell_hash(w);
	struct dlt_sched_cell *c;

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
		if (here->found == NO_CELL && (!c->kind || cell_is_told(c)))
			here->found = first + at;
	}
	c = cell_at(here->found);
	if (!c)
		return NO_CELL;
	cell_take(c, w, now);
	return here->found;
}

static __always_inline void cell_add(struct dlt_sched_cell *c, __u32 sum, __u64 ns)
{
	if (sum < DLT_SCHED_SUMS)
		c->sums[sum] += ns;
}

/* --- slots --------------------------------------------------------------------------------------- */

/* The trace knows of nothing before its begin. */
static __always_inline __u64 slot_since(const struct dlt_sched_slot *s)
{
	__u64 begin = sched_clock.begin_ns;

	return s->since_ns > begin ? s->since_ns : begin;
}

/*
 * Since when it can run, NOW at the latest. Where it was not seen to be woken nothing is said to have been
 * the queue.
 */
static __always_inline __u64 slot_wake(const struct dlt_sched_slot *s, __u64 now)
{
	__u64 since = slot_since(s), wake = s->wake_ns ?: now;

	return s->state == DLT_SCHED_RUNQ || wake < since ? since : wake;
}

static __always_inline void slot_set(struct dlt_sched_slot *s, __u32 state, __u32 call, __u64 now)
{
	s->state = state;
	s->call = call;
	s->wake_ns = 0;
	s->since_ns = now;
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

/* TASK is not running any more, in STATE. */
static __always_inline __u32 sum_of(struct task_struct *task, __u32 state)
{
	if (!state)
		return DLT_SCHED_RUNQ;
	if (!(state & TASK_UNINTERRUPTIBLE) || state & TASK_NOLOAD)
		return DLT_SCHED_SLEEP;
	return BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait) ? DLT_SCHED_DISK : DLT_SCHED_BLOCKED;
}

/*
 * The call that TASK, which has stopped in the kernel, came in by: where its registers are saved, at
 * the end of its stack. Exceptions leave -1 there (arch/x86/entry/entry_64.S).
 */
static __always_inline __u32 call_of(struct task_struct *typed, __u32 state)
{
	struct task_struct *task = KCAST(task_struct, typed);
	struct pt_regs *regs;
	long nr;

	if (KLOAD(task, flags) & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER))
		return DLT_SCHED_WORKER;
	if (state & (__TASK_STOPPED | __TASK_TRACED))
		return DLT_SCHED_STOPPED;
#ifdef __TARGET_ARCH_x86
	if (KLOAD(task, thread_info.status) & 2) /* TS_COMPAT, asm/thread_info.h */
		return DLT_SCHED_COMPAT;
#endif
	if (stack_bytes) {
		regs = (struct pt_regs *)(BPF_CORE_READ(task, stack) + stack_bytes) - 1;
		nr = BPF_CORE_READ(regs, CALL_NR);
	} else {
		regs = (struct pt_regs *)bpf_task_pt_regs(typed);
		nr = KLOAD(regs, CALL_NR);
	}
	return nr < 0 || nr >= DLT_SYSCALLS ? DLT_SCHED_FAULT : (__u32)nr;
}

/* --- hooks --------------------------------------------------------------------------------------- */

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

/* --- telling -------------------------------------------------------------------------------------- */

/*
 * RUN, and what whoever runs now has run since it came, where that is the cell's. A CPU on which no switch
 * has been seen to the end, and nobody was running, was idle.
 */
static __always_inline __u64 run_so_far(volatile struct dlt_sched_cell *c, __u32 i, __u64 now)
{
	__u32 cpu = i / DLT_SCHED_CELLS, seq;
	volatile struct dlt_sched_cpu *s = bpf_map_lookup_elem(&cpus, &cpu);
	__u64 ran = c->sums[DLT_SCHED_RUN], since;

	if (!s)
		return ran;
	if (sched_clock.end_ns && !s->since_ns && s->online && i % DLT_SCHED_CELLS == DLT_SCHED_CELL_IDLE)
		return now - sched_clock.begin_ns;
	seq = s->seq;
	since = s->since_ns;
	if (seq & 1 || s->cell != i || !since || since > now)
		return ran;
	ran = c->sums[DLT_SCHED_RUN];
	return s->seq == seq ? ran + now - since : ran;
}

static __always_inline void who_was(struct who *w, volatile struct dlt_sched_cell *c)
{
	w->tid = c->tid;
	w->tgid = c->tgid;
	*(__u64 *)w->comm = *(volatile __u64 *)c->comm;
	*(__u64 *)(w->comm + 8) = *(volatile __u64 *)(c->comm + 8);
	w->kind = c->kind;
	w->call = c->call;
}

/*
 * Send what C has beyond what has been told, as of NOW. Where there is no room it is told the next time.
 * Once all of it counts as told (cell_is_told) the cell may be another's: RUN and COUNT come last, and only
 * where they are new.
 */
static __always_inline void cell_tell(volatile struct dlt_sched_cell *c, __u32 i, __u64 now)
{
	__u64 new[DLT_SCHED_SUMS];
	struct dlt_sched *rec;
	bool any = false;
	struct who w;
	void *ring;

	for (int n = 0; n < DLT_SCHED_SUMS; n++) {
		__u64 sum = n == DLT_SCHED_RUN ? run_so_far(c, i, now) : c->sums[n];

		new[n] = sum > c->told[n] ? sum - c->told[n] : 0;
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
	who_was(&w, c);
	row_fill(rec, &w, i / DLT_SCHED_CELLS, now > c->told_ns ? now - c->told_ns : 0);
	c->told_ns = now;
	for (int n = DLT_SCHED_SUMS - 1; n > DLT_SCHED_RUN; n--)
		c->told[n] += new[n];
	if (new[DLT_SCHED_RUN])
		c->told[DLT_SCHED_RUN] += new[DLT_SCHED_RUN];
	if (new[DLT_SCHED_COUNT])
		__sync_fetch_and_add(&c->told[DLT_SCHED_COUNT], new[DLT_SCHED_COUNT]);
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
}

SEC("iter/bpf_map_elem")
int sched_tell(struct bpf_iter__bpf_map_elem *ctx)
{
	volatile struct dlt_sched_cell *c = ctx->value;
	const __u32 *key = ctx->key;

	if (c && key && c->kind)
		cell_tell(c, *key, sched_clock.end_ns ?: bpf_ktime_get_ns());
	return 0;
}

/* Before the begin: what is TASK doing, which has not run since there are hooks? */
static __always_inline void task_begin(struct task_struct *task, const struct who *w)
{
	struct dlt_sched_slot *slot;
	__u32 state = task_state(task);

	if (!has_slot(w) || BPF_CORE_READ(task, on_cpu) || state & TASK_DEAD || slot_find(w->tid))
		return;
	slot = slot_take(w->tid);
	if (slot)
		slot_set(slot, sum_of(task, state),
			 w->kind == DLT_SCHED_TARGET && state ? call_of(task, state) : DLT_SCHED_NO_CALL,
			 bpf_ktime_get_ns());
}

/* On a CPU all the time, without a switch, or since it came, without a cell. */
static __always_inline void task_runs(struct task_struct *task, const struct who *w, __u32 cpu)
{
	struct dlt_sched_cpu *s = bpf_map_lookup_elem(&cpus, &cpu);
	__u64 sums[DLT_SCHED_SUMS] = {}, end = sched_clock.end_ns;

	if (!s)
		return;
	if (!s->since_ns && BPF_CORE_READ(task, on_cpu)) {
		sums[DLT_SCHED_RUN] = end - sched_clock.begin_ns;
	} else if (s->since_ns && s->cell == NO_CELL && s->task == (__u64)task && end > s->since_ns) {
		sums[DLT_SCHED_COUNT] = 1;
		sums[DLT_SCHED_RUN] = end - s->since_ns;
		sums[DLT_SCHED_RUNQ] = s->runq_ns;
	} else {
		return;
	}
	s->since_ns = end; /* it is told */
	s->cell = NO_CELL;
	row_single(w, cpu, sums);
}

/* After the end: what has it been doing to there, that no switch has told? */
static __always_inline void task_end(struct task_struct *task, struct who *w)
{
	struct dlt_sched_slot *slot = has_slot(w) ? slot_find(w->tid) : NULL;
	__u64 sums[DLT_SCHED_SUMS] = {}, end = sched_clock.end_ns, wake;
	__u32 cpu = task_cpu(task);

	task_runs(task, w, cpu);
	if (!slot || slot->state == DLT_SCHED_RUN)
		return;
	wake = slot_wake(slot, end);
	if (end > wake) {
		sums[DLT_SCHED_RUNQ] = end - wake;
		row_single(w, cpu, sums);
	}
	if (slot->state > DLT_SCHED_RUNQ && slot->call != DLT_SCHED_NO_CALL) {
		w->call = slot->call;
		row_wait(w, cpu, slot->state, wake - slot_since(slot));
	}
}

SEC("iter/task")
int sched_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct who w;

	if (!task)
		return 0;
	who_is(&w, task);
	if (sched_clock.end_ns)
		task_end(task, &w);
	else
		task_begin(task, &w);
	return 0;
}
