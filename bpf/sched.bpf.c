/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPU scheduling, added up: who had which CPU for how long, who waited for one, and what for else.
 *
 * Sums are in cells, of which each CPU has some of its own, found by the thread's number. Hooks of the
 * scheduler run with interrupts off, so a cell has one writer and needs neither a lock nor an atomic
 * operation. An iterator looks at all cells each interval, sends what has been added since the last
 * time, and notes what it has told; cells that are told may be taken by others. A thread that finds no
 * cell has a row of its own for what it did, at once: nothing is dropped.
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
		  target_has(w->tgid)		     ? DLT_SCHED_TARGET : DLT_SCHED_OTHER;
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

/* A row of one thing alone: W spent NS on it. No cell has had room, or the trace ends. */
static __noinline int row_single(const struct who *w, __u32 cpu, __u32 sum, __u64 ns)
{
	void *ring = ring_here();
	struct dlt_sched *rec = ring ? bpf_ringbuf_reserve(ring, sizeof(*rec), 0) : NULL;

	count(rec != NULL);
	if (!rec)
		return 0;
	__builtin_memset(rec, 0, sizeof(*rec));
	if (sum < DLT_SCHED_SUMS)
		rec->sums[sum] = ns;
	rec->max_ns = ns;
	if (w->call != DLT_SCHED_NO_CALL)
		rec->sums[DLT_SCHED_COUNT] = 1;
	row_fill(rec, w, cpu, ns);
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return 0;
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

/* W's cell on this CPU, a new one if need be: its number among all, NO_CELL when its places are taken. */
static __noinline __u32 cell_find(const struct who *w, __u32 cpu, __u64 now)
{
	__u32 first = cpu * DLT_SCHED_CELLS, hash = (w->tid ^ w->call << 20) * 0x9e3779b1u >> 16;
	__u32 free = NO_CELL;
	struct dlt_sched_cell *c;

	if (w->kind >= DLT_SCHED_OTHER)
		return first + (w->kind == DLT_SCHED_IDLE ? DLT_SCHED_CELL_IDLE : DLT_SCHED_CELL_OTHER);
#pragma unroll
	for (int i = 0; i < PLACES; i++) {
		__u32 at = (hash + i) & (DLT_SCHED_CELLS - 1);

		if (at <= DLT_SCHED_CELL_OTHER)
			continue;
		c = cell_at(first + at);
		if (!c)
			return NO_CELL;
		if (cell_is_of(c, w))
			return first + at;
		if (free == NO_CELL && (!c->kind || cell_is_told(c)))
			free = first + at;
	}
	c = cell_at(free);
	if (!c)
		return NO_CELL;
	cell_take(c, w, now);
	return free;
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
static __always_inline __u32 call_of(struct task_struct *task)
{
	struct pt_regs *regs;
	long nr;

	if (KLOAD(task, flags) & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER))
		return DLT_SCHED_WORKER;
#ifdef __TARGET_ARCH_x86
	if (BPF_CORE_READ(task, thread_info.status) & 2) /* TS_COMPAT, asm/thread_info.h */
		return DLT_SCHED_COMPAT;
#endif
	if (stack_bytes)
		regs = (struct pt_regs *)(BPF_CORE_READ(task, stack) + stack_bytes) - 1;
	else
		regs = (struct pt_regs *)bpf_task_pt_regs(task);
	nr = BPF_CORE_READ(regs, CALL_NR);
	return nr < 0 || nr >= DLT_SYSCALLS ? DLT_SCHED_FAULT : (__u32)nr;
}

/* --- hooks --------------------------------------------------------------------------------------- */

static __always_inline void leaves(struct dlt_sched_cpu *here, __u32 cpu, struct task_struct *prev, __u32 state,
				   __u64 now)
{
	__u64 ran = now - (here->since_ns ?: sched_clock.begin_ns);
	struct dlt_sched_slot *slot;
	struct dlt_sched_cell *c;
	struct who w;
	bool known;

	who_is(&w, prev);
	known = has_slot(&w);
	c = here->since_ns ? cell_at(here->cell) : NULL;
	if (c && (c->kind >= DLT_SCHED_OTHER || (c->tid == w.tid && c->start_ns == w.start_ns)))
		w.kind = c->kind; /* whose time it was: it may have left the target since, by its end, or joined */
	if (!c || !cell_is_of(c, &w))
		c = cell_at(cell_find(&w, cpu, now));
	if (c) {
		c->sums[DLT_SCHED_RUN] += ran;
		c->sums[DLT_SCHED_PREEMPTED] += !state;
	} else {
		row_single(&w, cpu, DLT_SCHED_RUN, ran);
	}
	if (!known && !has_slot(&w))
		return;
	if (state & TASK_DEAD) {
		slot_free(w.tid);
		return;
	}
	slot = slot_take(w.tid);
	if (slot)
		slot_set(slot, sum_of(prev, state), state && w.kind == DLT_SCHED_TARGET ? call_of(prev) : DLT_SCHED_NO_CALL, now);
}

/* W has waited in a call. */
static __always_inline void waited(struct who *w, __u32 cpu, const struct dlt_sched_slot *slot, __u64 ns, __u64 now)
{
	struct dlt_sched_cell *c;

	w->call = slot->call;
	c = cell_at(cell_find(w, cpu, now));
	if (!c) {
		row_single(w, cpu, slot->state, ns);
		return;
	}
	if (ns > c->max_ns || cell_is_told(c))
		c->max_ns = ns;
	c->sums[DLT_SCHED_COUNT]++;
	cell_add(c, slot->state, ns);
}

static __always_inline void comes(struct dlt_sched_cpu *here, __u32 cpu, struct task_struct *next, __u64 now)
{
	struct dlt_sched_slot *slot;
	struct dlt_sched_cell *c;
	__u64 runq = 0, wake;
	struct who w;

	who_is(&w, next);
	here->cell = cell_find(&w, cpu, now);
	slot = has_slot(&w) ? slot_find(w.tid) : NULL;
	if (slot && slot->state != DLT_SCHED_RUN) {
		/* not seen to be woken: of what is not known nothing is said to have been the queue */
		wake = slot->state == DLT_SCHED_RUNQ ? slot_since(slot) : slot->wake_ns ?: now;
		runq = now - wake;
	}
	c = cell_at(here->cell);
	if (c) {
		c->sums[DLT_SCHED_COUNT]++;
		c->sums[DLT_SCHED_RUNQ] += runq;
	} else if (runq) {
		row_single(&w, cpu, DLT_SCHED_RUNQ, runq);
	}
	if (!slot)
		return;
	if (slot->state > DLT_SCHED_RUNQ && slot->call != DLT_SCHED_NO_CALL)
		waited(&w, cpu, slot, wake - slot_since(slot), now);
	slot_set(slot, DLT_SCHED_RUN, DLT_SCHED_NO_CALL, now);
}

SEC("tp_btf/sched_switch")
int sched_switch(__u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	__u32 cpu = bpf_get_smp_processor_id(), state;
	volatile struct dlt_sched_cpu *seen;
	struct dlt_sched_cpu *here;
	__u64 now;

	here = bpf_map_lookup_elem(&cpus, &cpu);
	if (!here || !sched_clock.begin_ns || sched_clock.end_ns)
		return 0;
	state = switch_state(ctx);
	now = bpf_ktime_get_ns();
	if (now < sched_clock.begin_ns)
		return 0;
	seen = here;
	seen->seq++;
	leaves(here, cpu, prev, state, now);
	comes(here, cpu, next, now);
	seen->since_ns = now;
	seen->seq++;
	return 0;
}

static __always_inline int woken(struct task_struct *task, bool new)
{
	__u64 now = bpf_ktime_get_ns();
	struct dlt_sched_slot *slot;
	struct who w;

	if (!sched_clock.begin_ns || sched_clock.end_ns)
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

/* Send what C has beyond what has been told, as of NOW. Where there is no room it is told the next time. */
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
	if (rec || sched_clock.end_ns)
		count(rec != NULL);
	if (!rec)
		return;
	for (int n = 0; n < DLT_SCHED_SUMS; n++) {
		rec->sums[n] = new[n];
		c->told[n] += new[n];
	}
	rec->max_ns = c->max_ns;
	who_was(&w, c);
	row_fill(rec, &w, i / DLT_SCHED_CELLS, now > c->told_ns ? now - c->told_ns : 0);
	c->told_ns = now;
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

/* Before the begin: what is TASK, which does not run, doing? */
static __always_inline void task_begin(struct task_struct *task, const struct who *w)
{
	struct dlt_sched_slot *slot;
	__u32 state = task_state(task);

	if (!has_slot(w) || BPF_CORE_READ(task, on_cpu) || state & TASK_DEAD)
		return;
	slot = slot_take(w->tid);
	if (slot)
		slot_set(slot, sum_of(task, state),
			 w->kind == DLT_SCHED_TARGET && state ? call_of(task) : DLT_SCHED_NO_CALL, bpf_ktime_get_ns());
}

/* After the end: what has it been doing to there, that no switch has told? */
static __always_inline void task_end(struct task_struct *task, struct who *w)
{
	__u64 begin = sched_clock.begin_ns, end = sched_clock.end_ns, wake;
	__u32 cpu = task_cpu(task);
	struct dlt_sched_cpu *s = bpf_map_lookup_elem(&cpus, &cpu);
	struct dlt_sched_slot *slot = has_slot(w) ? slot_find(w->tid) : NULL;

	if (s && !s->since_ns && BPF_CORE_READ(task, on_cpu)) { /* all the time, without a switch */
		row_single(w, cpu, DLT_SCHED_RUN, end - begin);
		s->since_ns = end;
		s->cell = NO_CELL;
	}
	if (!slot || slot->state == DLT_SCHED_RUN)
		return;
	wake = slot->state == DLT_SCHED_RUNQ ? slot_since(slot) : slot->wake_ns ?: end;
	if (end > wake)
		row_single(w, cpu, DLT_SCHED_RUNQ, end - wake);
	if (slot->state > DLT_SCHED_RUNQ && slot->call != DLT_SCHED_NO_CALL) {
		w->call = slot->call;
		row_single(w, cpu, slot->state, wake - slot_since(slot));
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
