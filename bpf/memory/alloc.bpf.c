/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages of allocations that the preloaded library (preload/) fills in the target's threads. A page that is full passes
 * a uprobe; what is in one when its thread ends, or before it executes another program, is fetched there. All that
 * comes from the process is copied as it is.
 */
#include "dlt.bpf.h"

#include "dlt/alloc.h"

#define PAGES 65536

/* The pages of threads by tid. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PAGES);
	__type(key, __u32);
	__type(value, __u64);
} pages SEC(".maps");

/* Events of a page were not sent. */
static __always_inline void count_events_lost(__u64 n)
{
	struct dlt_stats *st = stats_of(DLT_alloc);

	if (st)
		st->lost += n;
}

/*
 * A call of a function with a uprobe that a thread is in, by its number. OUTER: one that gets its block from such a
 * call. Where a thread has left one by a jump or an exception, the next one takes its place.
 */
struct begun {
	__u64 size, stack,
		stored; /* STACK: its stack pointer then; STORED: where the address will be; 0: it is returned */
	__u64 outer_size, outer_stack;
	__u32 op, outer_op; /* 0: none */
};
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PAGES);
	__type(key, __u32);
	__type(value, struct begun);
} begun SEC(".maps");

/* Send COPY of PAGE with room for EVENTS, of which N are lost where that is not possible: a ring reserves constant
 * sizes. */
#define ALLOC_SEND(events)                                                                                \
	do {                                                                                              \
		rec = rec_room(DLT_ALLOC_BYTES(events), copy != DLT_ALLOC_FULL);                          \
		if (!rec)                                                                                 \
			break;                                                                            \
		if (bpf_probe_read_user(&rec->at, sizeof(rec->at.head) + (events) * sizeof(rec->at.v[0]), \
					(void *)page)) {                                                  \
			bpf_ringbuf_discard(rec, BPF_RB_NO_WAKEUP);                                       \
			rec = NULL;                                                                       \
			break;                                                                            \
		}                                                                                         \
		sent(rec, page, copy, n, DLT_ALLOC_BYTES(events));                                        \
	} while (0)

/* rec_reserve(), but what is lost are many rows, or none. */
static __always_inline struct dlt_alloc *rec_room(__u64 size, bool rare)
{
	void *ring = ring_here();

	return ring && (rare || !ring_crowded(ring)) ? bpf_ringbuf_reserve(ring, size, 0) : NULL;
}

static __always_inline void sent(struct dlt_alloc *rec, __u64 page, __u32 copy, __u64 n, __u32 size)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct dlt_stats *st = stats_of(DLT_alloc);

	if (st) {
		st->seen += n;
		st->emitted += n;
	}
	rec->hdr.tgid = pid_tgid >> 32;
	rec->hdr.tid = (__u32)pid_tgid;
	rec->hdr.probe = DLT_alloc;
	rec->hdr.func = 0;
	rec->hdr.size = size;
	rec->hdr.lat_ns = 0;
	comm_read(rec->hdr.comm, task_current());
	rec->page = page;
	rec->copy = copy;
	rec->pad = 0;
	rec->hdr.ts_ns = bpf_ktime_get_ns();
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
}

static __always_inline void page_send(__u64 page, __u32 copy)
{
	const struct dlt_alloc_page *at = (void *)page;
	struct dlt_alloc *rec = NULL;
	__u64 n = 0;

	if (bpf_probe_read_user(&n, sizeof(n), &at->head.n))
		return;
	if (n > DLT_ALLOC_EVENTS)
		n = DLT_ALLOC_EVENTS;
	if (n <= DLT_ALLOC_FEW)
		ALLOC_SEND(DLT_ALLOC_FEW);
	else if (n <= DLT_ALLOC_SOME)
		ALLOC_SEND(DLT_ALLOC_SOME);
	else
		ALLOC_SEND(DLT_ALLOC_EVENTS);
	if (!rec)
		count_events_lost(n);
}

/* The library's instruction: page, enum dlt_alloc_copy. Attached by kernel/uprobe/uprobe.c. */
SEC("uprobe")
int alloc_point(struct pt_regs *ctx)
{
	__u64 page = PT_REGS_PARM1(ctx), pid_tgid = bpf_get_current_pid_tgid();
	__u32 copy = (__u32)PT_REGS_PARM2(ctx), tid = (__u32)pid_tgid;
	struct dlt_shared *sh = shared();

	if (!target_has(pid_tgid >> 32))
		return 0;
	if (copy == DLT_ALLOC_BEGUN)
		bpf_map_update_elem(&pages, &tid, &page, BPF_ANY);
	if (!sh || sh->stopping || sh->quiet)
		return 0;
	page_send(page, copy);
	if (copy == DLT_ALLOC_LAST)
		bpf_map_delete_elem(&pages, &tid);
	return 0;
}

/* What the thread's page has now. */
static __always_inline void fetch(__u32 copy)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid(), *page;
	struct dlt_shared *sh = shared();
	__u32 tid = (__u32)pid_tgid;

	page = bpf_map_lookup_elem(&pages, &tid);
	if (!page)
		return;
	if (sh && !sh->stopping && !sh->quiet)
		page_send(*page, copy);
	if (copy == DLT_ALLOC_LAST)
		bpf_map_delete_elem(&pages, &tid);
}

static __always_inline void thread_ends(void)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();

	fetch(DLT_ALLOC_LAST);
	if (dlt_cfg.functions)
		bpf_map_delete_elem(&begun, &tid);
}

/* A thread ends. From Linux 6.16 on its memory is still there at the tracepoint; before, only where the exit begins. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(alloc_exit, struct task_struct *task)
{
	thread_ends();
	return 0;
}

SEC("fentry/do_exit")
int BPF_PROG(alloc_exit_fentry, long code)
{
	thread_ends();
	return 0;
}

SEC("kprobe/do_exit")
int alloc_exit_kprobe(struct pt_regs *ctx)
{
	thread_ends();
	return 0;
}

/* Its memory is about to be replaced, unless the exec fails: then the same page goes on. From Linux 6.10 on, and
 * before. */
SEC("tp_btf/sched_prepare_exec")
int BPF_PROG(alloc_exec, struct task_struct *task, struct linux_binprm *bprm)
{
	fetch(DLT_ALLOC_PART);
	return 0;
}

SEC("fentry/begin_new_exec")
int BPF_PROG(alloc_exec_fentry, struct linux_binprm *bprm)
{
	fetch(DLT_ALLOC_PART);
	return 0;
}

SEC("kprobe/begin_new_exec")
int alloc_exec_kprobe(struct pt_regs *ctx)
{
	fetch(DLT_ALLOC_PART);
	return 0;
}

/* --- functions of processes that run already -------------------------------------------------------------- */

/* Whether calls of this thread are recorded here: they are not where it has the library, which records them. */
static __always_inline bool thread_is_wanted(__u32 *tid)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct dlt_shared *sh = shared();

	*tid = (__u32)pid_tgid;
	return sh && !sh->stopping && !sh->quiet && target_has(pid_tgid >> 32) && !bpf_map_lookup_elem(&pages, tid);
}

static __always_inline struct begun *thread_begun(void)
{
	struct begun none = {}, *b;
	__u32 tid;

	if (!thread_is_wanted(&tid))
		return NULL;
	b = bpf_map_lookup_elem(&begun, &tid);
	if (b)
		return b;
	if (bpf_map_update_elem(&begun, &tid, &none, BPF_NOEXIST))
		count_lost_room(DLT_alloc); /* there are too many threads */
	return bpf_map_lookup_elem(&begun, &tid);
}

/* FRAMES: how many events behind it have frames. */
static __always_inline void call_put(struct dlt_alloc *rec, __u32 op, __u64 addr, __u64 size, __u32 frames)
{
	__builtin_memset(&rec->at.head, 0, sizeof(rec->at.head));
	rec->at.head.n = 1 + frames;
	rec->at.v[0].ticks = ~0ULL; /* as late as it can be: when the record is sent */
	rec->at.v[0].addr = addr;
	rec->at.v[0].op_size =
		(__u64)op << DLT_ALLOC_OP_SHIFT | (size < DLT_ALLOC_SIZE_MAX ? size : DLT_ALLOC_SIZE_MAX);
	rec->at.v[0].site = 0;
	rec->at.v[0].n = frames;
}

static __always_inline void called(__u32 op, __u64 addr, __u64 size)
{
	struct dlt_alloc *rec = rec_room(DLT_ALLOC_BYTES(1), false);

	if (!rec) {
		count_events_lost(1);
		return;
	}
	call_put(rec, op, addr, size, 0);
	sent(rec, 0, DLT_ALLOC_CALLED, 1, DLT_ALLOC_BYTES(1));
}

#define ALLOC_CALL_BYTES DLT_ALLOC_BYTES(1 + DLT_ALLOC_FRAME_EVENTS)

/*
 * The same with the stack, as the kernel finds it by frame pointers: the innermost frame is what the call returns to,
 * which needs none; the others are those of functions that keep one.
 */
static __always_inline void called_from(struct pt_regs *ctx, __u32 op, __u64 addr, __u64 size)
{
	struct dlt_alloc *rec = rec_room(ALLOC_CALL_BYTES, false);
	long bytes;

	if (!rec) {
		count_events_lost(1);
		return;
	}
	call_put(rec, op, addr, size, DLT_ALLOC_FRAME_EVENTS);
	__builtin_memset(&rec->at.v[1], 0, DLT_ALLOC_FRAMES * sizeof(__u64));
	if (dlt_cfg.frames == 1)
		bytes = bpf_get_stack(ctx, &rec->at.v[1], sizeof(__u64), BPF_F_USER_STACK);
	else
		bytes = bpf_get_stack(ctx, &rec->at.v[1], DLT_ALLOC_FRAMES * sizeof(__u64), BPF_F_USER_STACK);
	if (bytes > 0)
		rec->at.v[0].site = (__u32)bytes / sizeof(__u64);
	sent(rec, 0, DLT_ALLOC_CALLED, 1, ALLOC_CALL_BYTES);
}

/* It has a block of SIZE from a call that it will make. */
static __always_inline int function_passes(struct pt_regs *ctx, __u32 op, __u64 size)
{
	struct begun *b = size ? thread_begun() : NULL;

	if (!b)
		return 0;
	if (b->outer_op) /* the last one has got its block in a way that has no probe, or none, by an exception */
		count_lost_unseen(DLT_alloc);
	b->outer_op = op;
	b->outer_size = size;
	b->outer_stack = PT_REGS_SP(ctx);
	return 0;
}

static __always_inline int function_begins(struct pt_regs *ctx, __u32 op, __u64 size, __u64 stored)
{
	struct begun *b = thread_begun();

	if (!b)
		return 0;
	b->op = op;
	b->size = size;
	b->stored = stored;
	b->stack = PT_REGS_SP(ctx);
	return 0;
}

/* The one below, of those that were begun. Where it returns the stack is as before the call, with the address or
 * without. */
SEC("uprobe")
int alloc_function_ends(struct pt_regs *ctx)
{
	__u64 addr = PT_REGS_RC(ctx), stack = PT_REGS_SP(ctx), from = 0;
	struct begun *b;
	__u32 tid, op;

	if (!thread_is_wanted(&tid))
		return 0;
	b = bpf_map_lookup_elem(&begun, &tid);
	if (!b || !b->op || stack - b->stack > sizeof(long))
		return 0;
	if (b->stored) {
		if (addr || bpf_probe_read_user(&from, sizeof(from), (void *)b->stored))
			from = 0;
		addr = from;
	}
	op = b->op;
	b->op = 0;
	if (b->outer_op && b->outer_size == b->size && b->outer_stack > b->stack) {
		op = b->outer_op;
		b->outer_op = 0;
	}
	if (dlt_cfg.frames)
		called_from(ctx, op, addr, b->size);
	else
		called(op, addr, b->size);
	return 0;
}

static __always_inline int function_frees(__u32 op, __u64 addr)
{
	__u32 tid;

	if (addr && thread_is_wanted(&tid))
		called(op, addr, 0);
	return 0;
}

#define ALLOC_STORES(op, arg) function_begins(ctx, op, PT_REGS_PARM##arg(ctx), PT_REGS_PARM1(ctx))
#define ALLOC_RETURNS(op, arg) function_begins(ctx, op, PT_REGS_PARM##arg(ctx), 0)
#define ALLOC_PASSES(op, arg) function_passes(ctx, op, PT_REGS_PARM##arg(ctx))
#define ALLOC_FREES(op, arg) function_frees(op, PT_REGS_PARM##arg(ctx))
#define ALLOC_FUNCTION(id, func, symbol, modules, how, arg) \
	SEC("uprobe")                                       \
	int alloc_in_##id(struct pt_regs *ctx)              \
	{                                                   \
		return ALLOC_##how(DLT_ALLOC_IN_##id, arg); \
	}
DLT_ALLOC_FUNCTIONS(ALLOC_FUNCTION)
