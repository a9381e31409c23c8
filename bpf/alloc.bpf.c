/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages of allocations that the preloaded library (preload/) fills in the target's threads. A page that is full passes a
 * uprobe; what is in one when its thread ends, or before it executes another program, is fetched there. All that comes
 * from the process is copied as it is.
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

/* Send COPY of PAGE with room for EVENTS, of which N are lost where that is not possible: a ring reserves constant sizes. */
#define ALLOC_SEND(events)                                                                          \
	do {                                                                                        \
		rec = rec_room(DLT_ALLOC_BYTES(events), copy != DLT_ALLOC_FULL);                    \
		if (!rec)                                                                           \
			break;                                                                      \
		if (bpf_probe_read_user(&rec->at, sizeof(rec->at.head) + (events) * sizeof(rec->at.v[0]), (void *)page)) { \
			bpf_ringbuf_discard(rec, BPF_RB_NO_WAKEUP);                                 \
			rec = NULL;                                                                 \
			break;                                                                      \
		}                                                                                   \
		sent(rec, page, copy, n, DLT_ALLOC_BYTES(events));                                  \
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

/* The library's instruction: page, enum dlt_alloc_copy. Attached by kernel/uprobe.c. */
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

/* A thread ends. From Linux 6.16 on its memory is still there at the tracepoint; before, only where the exit begins. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(alloc_exit, struct task_struct *task)
{
	fetch(DLT_ALLOC_LAST);
	return 0;
}

SEC("fentry/do_exit")
int BPF_PROG(alloc_exit_fentry, long code)
{
	fetch(DLT_ALLOC_LAST);
	return 0;
}

SEC("kprobe/do_exit")
int alloc_exit_kprobe(struct pt_regs *ctx)
{
	fetch(DLT_ALLOC_LAST);
	return 0;
}

/* Its memory is about to be replaced, unless the exec fails: then the same page goes on. From Linux 6.10 on, and before. */
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
