/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process had when it joined the target: its threads, open files and mappings, as rows of pids, open
 * and mmap. src/kernel/snapshot.c reads these iterators once for each set of newcomers.
 *
 * Iterators may be preempted, also by the probes' programs (bpf_iter_run_prog: migration is off, preemption
 * is not). So this object has a scratch buffer of its own, which needs no guard as one thread reads one
 * iterator at a time, and it adds to the shared counters atomically.
 */
#include "process/pids.bpf.h"

#include "dlt/mmap.h"
#include "dlt/open.h"
#include "dlt/snapshot.h"

#define PF_EXITING 4 /* linux/sched.h */
#define O_CLOEXEC 02000000 /* asm-generic/fcntl.h */
#ifdef __TARGET_ARCH_arm64 /* asm/fcntl.h */
#define O_LARGEFILE 0400000
#else
#define O_LARGEFILE 0100000
#endif

/* linux/mm.h; the bits of PROT_* are the same as VM_READ, VM_WRITE, VM_EXEC */
#define VM_PROT 7
#define VM_MAYSHARE 0x80
#define VM_GROWSDOWN 0x100
#define VM_LOCKED 0x2000
#define VM_NORESERVE 0x200000
#define VM_HUGETLB 0x400000
/* asm-generic/mman-common.h, mman.h */
#define MAP_SHARED 0x01
#define MAP_PRIVATE 0x02
#define MAP_ANONYMOUS 0x20
#define MAP_GROWSDOWN 0x0100
#define MAP_LOCKED 0x2000
#define MAP_NORESERVE 0x4000
#define MAP_HUGETLB 0x40000

const volatile __u32 page_shift = 12;

/* By tgid; with --all, 0 stands for every process, while it is there. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DLT_NEWCOMERS);
	__type(key, __u32);
	__type(value, struct dlt_newcomer);
} dlt_newcomers SEC(".maps");

/* The files or memory walked last: threads mostly share them, so one walk is enough. */
struct walked {
	__u64 table; /* struct files_struct * or mm_struct * */
	__u32 tgid, tid;
};
/*
 * Volatile: otherwise clang makes a variable of each field, with BTF that the kernel refuses; libbpf goes on without
 * any BTF, and then global functions are verified again at every call (for minutes, on 6.1).
 */
static volatile struct walked walked_files, walked_memory;

static __always_inline struct dlt_newcomer *newcomer(struct task_struct *task)
{
	__u32 tgid = BPF_CORE_READ(task, tgid), every = 0;
	struct dlt_newcomer *new;

	if (!target_has(tgid))
		return NULL;
	new = bpf_map_lookup_elem(&dlt_newcomers, &tgid);
	return new || !dlt_cfg.all ? new : bpf_map_lookup_elem(&dlt_newcomers, &every);
}

/* Whether TABLE of TASK is that of another thread, and has been walked. */
static __always_inline bool walked_before(volatile struct walked *w, struct task_struct *task, __u64 table)
{
	__u32 tgid = BPF_CORE_READ(task, tgid), tid = BPF_CORE_READ(task, pid);

	if (w->table == table && w->tgid == tgid && w->tid != tid)
		return true;
	w->table = table;
	w->tgid = tgid;
	w->tid = tid;
	return false;
}

static __always_inline void row_begin(struct scratch *s, struct task_struct *task, __u32 probe, __u32 func, __u32 size)
{
	struct dlt_hdr *h = (struct dlt_hdr *)s->rec;
	struct dlt_stats *st = stats_of(probe);

	if (st)
		__sync_fetch_and_add(&st->seen, 1);
	__builtin_memset(h, 0, sizeof(*h));
	h->tgid = BPF_CORE_READ(task, tgid);
	h->tid = BPF_CORE_READ(task, pid);
	h->probe = probe;
	h->func = func;
	bpf_core_read(h->comm, sizeof(h->comm), &task->comm);
	s->used = size;
	s->start_ns = 0;
}

static __always_inline bool row_send(__u32 probe)
{
	struct dlt_stats *st = stats_of(probe);
	bool sent = vrec_send();

	if (st)
		__sync_fetch_and_add(sent ? &st->emitted : &st->lost, 1);
	return sent;
}

SEC("iter/task")
int snapshot_task(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct dlt_newcomer *new;

	if (!task)
		return 0;
	new = newcomer(task);
	/* the last thread is past the hook that would remove the process from the target */
	if (!new || BPF_CORE_READ(task, signal, live.counter) == 0)
		return 0;
	new->alive = 1;
	/* a thread that started after the join has a row of its own */
	if (BPF_CORE_READ(task, start_time) < new->since_ns && !(BPF_CORE_READ(task, flags) & PF_EXITING))
		pids_emit(task, DLT_PIDS_SNAPSHOT);
	return 0;
}

SEC("iter/task_file")
int snapshot_file(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;
	struct scratch *s = scratch_get();
	struct file *file = ctx->file;
	struct dlt_open *rec;

	if (!task || !file || !s || !newcomer(task) ||
	    walked_before(&walked_files, task, (__u64)BPF_CORE_READ(task, files)))
		return 0;
	rec = (struct dlt_open *)s->rec;
	row_begin(s, task, DLT_open, DLT_OPEN_SNAPSHOT, sizeof(*rec));
	rec->ret = ctx->fd;
	/* without the descriptor's own flag, and those that the kernel adds */
	rec->flags = BPF_CORE_READ(file, f_flags) & ~(O_CLOEXEC | O_LARGEFILE);
	rec->mode = rec->vfs_lat_ns = DLT_NONE;
	rec->created = rec->pad = 0;
	rec->segs.len[0] = rec->segs.len[2] = rec->segs.len[3] = 0;
	rec->segs.len[1] = file_describe(s, task, file, &rec->file);
	if (row_send(DLT_open))
		file_mark_seen(&rec->file);
	return 0;
}

static __always_inline __s64 map_flags(__u64 vm_flags, struct file *file)
{
	return (vm_flags & VM_MAYSHARE ? MAP_SHARED : MAP_PRIVATE) | (file ? 0 : MAP_ANONYMOUS) |
	       (vm_flags & VM_GROWSDOWN ? MAP_GROWSDOWN : 0) | (vm_flags & VM_LOCKED ? MAP_LOCKED : 0) |
	       (vm_flags & VM_NORESERVE ? MAP_NORESERVE : 0) | (vm_flags & VM_HUGETLB ? MAP_HUGETLB : 0);
}

SEC("iter/task_vma")
int snapshot_vma(struct task_vma_ctx *ctx)
{
	struct task_struct *task = ctx->task;
	struct vm_area_struct *vma = ctx->vma;
	struct scratch *s = scratch_get();
	struct dlt_file_id id = {};
	struct dlt_call call = {};
	struct file_where w;
	struct dlt_mmap *rec;
	struct file *file;
	__u64 vm_flags;

	if (!task || !vma || !s || !newcomer(task) ||
	    walked_before(&walked_memory, task, (__u64)BPF_CORE_READ(task, mm)))
		return 0;
	file = KLOAD(vma, vm_file);
	if (file) {
		call.tgid = BPF_CORE_READ(task, tgid);
		w = file_where_mapped(file);
		if (where_is_new(&w, &id))
			where_emit(task, &w, &call, BPF_CORE_READ(task, pid));
	}
	vm_flags = KLOAD(vma, vm_flags);
	rec = (struct dlt_mmap *)s->rec;
	row_begin(s, task, DLT_mmap, DLT_MMAP_SNAPSHOT, sizeof(*rec));
	rec->id = id;
	rec->ret = rec->addr = KLOAD(vma, vm_start);
	rec->len = KLOAD(vma, vm_end) - rec->addr;
	rec->prot = vm_flags & VM_PROT;
	rec->flags = map_flags(vm_flags, file);
	rec->fd = DLT_NONE;
	rec->offset = file ? (__s64)(KLOAD(vma, vm_pgoff) << page_shift) : DLT_NONE;
	rec->old_addr = rec->old_len = DLT_NONE;
	row_send(DLT_mmap);
	return 0;
}
