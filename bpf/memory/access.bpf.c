/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Page faults of the target, each of them, by the tracepoints at their beginning; where an architecture has none, by
 * the kernel's software event. A fault is the first access of a page, or of a page that has been taken away or made
 * read-only. It is not each access.
 *
 * Runs of accessed pages, which the daemon finds in page tables, only pass through here into the rings; but it gets the
 * mappings of a process from here, with their files.
 */
#include "file.bpf.h"

#include "dlt/access.h"

const volatile __u32 page_shift = 12;

/* asm/trap_pf.h */
#define PF_WRITE 2

static __always_inline __u32 kind_of(struct task_struct *task, __u64 addr)
{
	struct mm_struct *mm = KLOAD(task, mm);

	if (addr >= KLOAD(mm, start_brk) && addr < KLOAD(mm, brk))
		return DLT_ACCESS_HEAP;
	if (addr + DLT_STACK_GAP >= KLOAD(mm, start_stack) && addr < KLOAD(mm, env_end))
		return DLT_ACCESS_STACK;
	return DLT_ACCESS_UNKNOWN;
}

/* The kernel may only try an access; what it cannot have at once it then asks for again. A probe read is such a try,
 * too. */
static __always_inline bool tries_only(struct task_struct *task)
{
	return KLOAD(task, pagefault_disabled) > !DLT_DIRECT;
}

/* IP: DLT_NONE for an access within the kernel, such as of read(2)'s buffer. */
static __always_inline void send(struct task_struct *task, __u64 addr, __s64 ip, __u32 flags)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct dlt_stats *st = stats_of(DLT_access);
	struct dlt_access *rec;

	if (st)
		st->seen++;
	rec = rec_reserve(DLT_access, sizeof(*rec), false);
	if (!rec)
		return;
	rec->hdr.lat_ns = 0;
	rec->hdr.tgid = pid_tgid >> 32;
	rec->hdr.tid = (__u32)pid_tgid;
	rec->hdr.probe = DLT_access;
	rec->hdr.func = DLT_ACCESS_FAULT;
	rec->hdr.size = sizeof(*rec);
	__builtin_memset(rec->hdr.comm, 0, DLT_COMM_LEN); /* rows of several threads have no name */
	rec->addr = addr;
	rec->ip = ip;
	rec->kind = kind_of(task, addr);
	rec->flags = flags;
	rec->hdr.ts_ns = bpf_ktime_get_ns();
	rec_submit(rec, DLT_access);
}

/* Whether this thread is in the target, and rows are written. */
static __always_inline bool is_traced(void)
{
	struct dlt_shared *sh;

	if (!target_has(bpf_get_current_pid_tgid() >> 32))
		return false;
	sh = shared();
	return sh && !sh->stopping && !sh->quiet;
}

static __always_inline void fault(__u64 addr, __s64 ip, __u32 flags)
{
	struct task_struct *task;

	/* not the kernel's own addresses, which no process has */
	if (!is_traced() || (__s64)addr < 0)
		return;
	task = task_current();
	if (ip != DLT_NONE || !tries_only(task))
		send(task, addr, ip, flags);
}

static __always_inline __u32 flags_of(__u64 error)
{
	return error & PF_WRITE ? DLT_ACCESS_WRITE : 0;
}

SEC("tp_btf/page_fault_user")
int HELD_PROG(access_user)
{
	struct pt_regs *regs = (void *)ctx[1];

	fault(ctx[0], (__s64)PT_REGS_IP(regs), flags_of(ctx[2]));
	return 0;
}

SEC("tp_btf/page_fault_kernel")
int HELD_PROG(access_kernel)
{
	fault(ctx[0], DLT_NONE, flags_of(ctx[2]));
	return 0;
}

/* Their context. Kernels of other architectures than x86 know neither the type nor the tracepoints. */
struct trace_event_raw_exceptions___x86 {
	unsigned long address, ip, error_code;
} __attribute__((preserve_access_index));

/* The same where the kernel would skip runs of the typed ones (dlt_cfg.perf). */
SEC("tp/exceptions/page_fault_user")
int access_user_perf(struct trace_event_raw_exceptions___x86 *ctx)
{
	fault(ctx->address, (__s64)ctx->ip, flags_of(ctx->error_code));
	return 0;
}

SEC("tp/exceptions/page_fault_kernel")
int access_kernel_perf(struct trace_event_raw_exceptions___x86 *ctx)
{
	fault(ctx->address, DLT_NONE, flags_of(ctx->error_code));
	return 0;
}

__u64 addressless; /* samples of the target without an address */

/* An access of watched memory has happened, and IP is that of the next instruction; or the PMU has sampled one, of any
 * memory. */
SEC("perf_event")
int access_sample(struct perf_event_ctx *ctx)
{
	__s64 addr = ctx->addr;

	if (!is_traced())
		return 0;
	if (addr > 0)
		send(task_current(), addr, perf_event_is_user(ctx) ? (__s64)perf_event_ip(ctx) : DLT_NONE,
		     DLT_ACCESS_NO_WRITE);
	else if (!addr)
		__sync_fetch_and_add(&addressless, 1);
	return 0;
}

/* At the end of a fault that succeeded. */
SEC("perf_event")
int access_event(struct perf_event_ctx *ctx)
{
	fault(ctx->addr, perf_event_is_user(ctx) ? (__s64)perf_event_ip(ctx) : DLT_NONE, DLT_ACCESS_NO_WRITE);
	return 0;
}

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DLT_ACCESS_RUNS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct dlt_access_run);
} runs SEC(".maps");

/* Arguments: how many runs; how many more the daemon had no memory for. */
SEC("raw_tp")
int access_send(__u64 *ctx)
{
	__u64 n = ctx[0], lost = ctx[1];
	struct dlt_stats *st = stats_of(DLT_access);
	struct dlt_access_run *rec, *run;

	if (st) {
		st->seen += n + lost;
		st->lost += lost;
		st->lost_room += lost;
	}
	for (__u32 i = 0; i < DLT_ACCESS_RUNS; i++) {
		__u32 at = i;

		run = i < n ? bpf_map_lookup_elem(&runs, &at) : NULL;
		if (!run)
			break;
		rec = rec_reserve(DLT_access, sizeof(*rec), false);
		if (!rec)
			continue;
		*rec = *run;
		rec->hdr.probe = DLT_access;
		rec->hdr.func = DLT_ACCESS_RUN;
		rec->hdr.size = sizeof(*rec);
		rec->hdr.ts_ns = bpf_ktime_get_ns();
		rec_submit(rec, DLT_access);
	}
	return 0;
}

/* linux/mm.h: huge pages by hugetlbfs, devices' memory */
#define VM_PFNMAP 0x400
#define VM_HUGETLB 0x400000

/* An iterator may be preempted: as in snapshot.bpf.c, the object has a scratch buffer of its own. */
SEC("iter/task_vma")
int access_area(struct task_vma_ctx *ctx)
{
	struct task_struct *task = ctx->task;
	struct vm_area_struct *vma = ctx->vma;
	struct dlt_access_area area = {};
	struct dlt_call call = {};
	struct mm_struct *mm;
	struct file_where w;
	struct file *file;

	if (!task || !vma)
		return 0;
	mm = BPF_CORE_READ(task, mm);
	file = KLOAD(vma, vm_file);
	area.begin = KLOAD(vma, vm_start);
	area.end = KLOAD(vma, vm_end);
	area.kept = !!(KLOAD(vma, vm_flags) & (VM_PFNMAP | VM_HUGETLB));
	if (file) {
		call.tgid = BPF_CORE_READ(task, tgid);
		w = file_where_mapped(file);
		if (where_is_new(&w, &area.id))
			where_emit(task, &w, &call, BPF_CORE_READ(task, pid));
		area.kind = DLT_ACCESS_FILE;
		area.offset = KLOAD(vma, vm_pgoff) << page_shift;
	} else if (area.begin < BPF_CORE_READ(mm, brk) && area.end > BPF_CORE_READ(mm, start_brk)) {
		area.kind = DLT_ACCESS_HEAP;
	} else if (area.begin <= BPF_CORE_READ(mm, start_stack) && area.end > BPF_CORE_READ(mm, start_stack)) {
		area.kind = DLT_ACCESS_STACK;
	} else {
		area.kind = DLT_ACCESS_ANON;
	}
	bpf_seq_write(ctx->meta->seq, &area, sizeof(area));
	return 0;
}
