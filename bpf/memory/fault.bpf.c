/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Major page faults of the target: those that waited for a disk. The end is the kernel's own software event, which
 * minor faults do not cause. The begin is the function that looks for the page: filemap_fault() for a page of a file,
 * do_swap_page() for a swapped page. A fault that the kernel tries again ends once. Where functions cannot be hooked, a
 * tracepoint marks the begins for files, and the mapping is looked up at the end; begins of swap-ins are then not
 * known.
 *
 * No event shows that a fault was only a minor one. A begin belongs to an end if its page is the same and the thread
 * has counted no fault in between. The thread's own count of major faults also includes those without an event: for
 * pages that the kernel faults in by itself (get_user_pages(), as for direct I/O from a mapping). They count as not
 * seen.
 */
#include "file.bpf.h"

#include "dlt/fault.h"

const volatile __u32 page_shift = 12; /* arm64 also has pages of 64 KiB */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dlt_fault_slot);
} fault_slots SEC(".maps");

static __always_inline struct dlt_fault_slot *slot_of(__u32 tid)
{
	__u32 i = tid & dlt_cfg.slot_mask;

	return bpf_map_lookup_elem(&fault_slots, &i);
}

/* DLT_NONE: this kernel does not count them (CONFIG_TASK_IO_ACCOUNTING). */
static __always_inline __u64 disk_bytes_of(struct task_struct *task)
{
	return bpf_core_field_exists(task->ioac.read_bytes) ? KLOAD(task, ioac.read_bytes) : (__u64)DLT_NONE;
}

/* Counts major faults of SLOT's thread that ended without an event; by now it has had MAJORS. */
static __always_inline void count_unseen(struct dlt_fault_slot *slot, __u64 majors)
{
	struct dlt_stats *st = stats_of(DLT_fault);

	if (st && majors > slot->majors)
		__sync_fetch_and_add(&st->unseen, majors - slot->majors);
	slot->majors = majors;
}

/* --- begin -------------------------------------------------------------------------------------- */

/* OF: see struct dlt_fault_slot. */
static __always_inline void begins(__u32 kind, __u64 page, __u64 of, __u64 pgoff)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid(), majors, faults;
	struct task_struct *task;
	struct dlt_fault_slot *slot;
	__u32 tid = (__u32)pid_tgid;

	if (!target_has(pid_tgid >> 32))
		return;
	slot = slot_of(tid);
	if (!slot)
		return;
	task = task_current();
	majors = KLOAD(task, maj_flt);
	faults = majors + KLOAD(task, min_flt);
	if (slot->tid != tid) {
		slot->tid = tid;
		slot->begin_ns = 0;
		slot->known_of = 0;
		slot->majors = majors;
	} else if (slot->majors != majors) {
		count_unseen(slot, majors);
	}
	/* otherwise it is tried again: the first begin counts */
	if (!slot->begin_ns || slot->faults != faults || slot->page != page || slot->pgoff != pgoff ||
	    slot->kind != kind) {
		slot->begin_ns = bpf_ktime_get_ns();
		slot->disk_bytes = disk_bytes_of(task);
		slot->faults = faults;
		slot->page = page;
		slot->pgoff = pgoff;
		slot->kind = kind;
	}
	slot->of = of; /* from the last try, whose lock keeps it until the end */
}

SEC("fentry/filemap_fault")
int BPF_PROG(fault_file, struct vm_fault *vmf)
{
	begins(DLT_FAULT_FILE, vmf->address >> page_shift, (__u64)vmf->vma->vm_file, vmf->pgoff);
	return 0;
}

SEC("fentry/do_swap_page")
int BPF_PROG(fault_swap, struct vm_fault *vmf)
{
	begins(DLT_FAULT_SWAP, vmf->address >> page_shift, 0, 0);
	return 0;
}

/* The hooks where the kernel lacks those above, or would skip runs of them. */
SEC("kprobe/filemap_fault")
int fault_file_kprobe(struct pt_regs *ctx)
{
	struct vm_fault *vmf = (void *)PT_REGS_PARM1(ctx);

	begins(DLT_FAULT_FILE, BPF_CORE_READ(vmf, address) >> page_shift, (__u64)BPF_CORE_READ(vmf, vma, vm_file),
	       BPF_CORE_READ(vmf, pgoff));
	return 0;
}

SEC("kprobe/do_swap_page")
int fault_swap_kprobe(struct pt_regs *ctx)
{
	struct vm_fault *vmf = (void *)PT_REGS_PARM1(ctx);

	begins(DLT_FAULT_SWAP, BPF_CORE_READ(vmf, address) >> page_shift, 0, 0);
	return 0;
}

/* The hook where no function can be hooked: since 6.12. */
SEC("tp_btf/mm_filemap_fault")
int BPF_PROG(fault_file_tp, struct address_space *mapping, unsigned long index)
{
	begins(DLT_FAULT_FILE, DLT_FAULT_NO_PAGE, (__u64)mapping->host, index);
	return 0;
}

/* --- end ---------------------------------------------------------------------------------------- */

/* The mapping with the page, as far as it could be looked up. */
struct vma_look {
	__u64 page;
	__u64 pgoff;
	__u64 file; /* struct file *, 0: anonymous memory */
	bool found;
};

static long vma_found(struct task_struct *task, struct vm_area_struct *vma, void *ctx)
{
	struct vma_look *look = ctx;

	look->file = (__u64)vma->vm_file;
	look->pgoff = look->page - (vma->vm_start >> page_shift) + vma->vm_pgoff;
	look->found = true;
	return 0;
}

/* Sets ID to the identity of FILE; sends its name if the daemon may not know it. */
static __always_inline void file_look(struct task_struct *task, __u64 file, __u64 pid_tgid, struct dlt_file_id *id)
{
	struct dlt_call call = { .tgid = pid_tgid >> 32 };
	struct file_where w = file_where_mapped(KCAST(file, file));

	if (where_is_new(&w, id))
		where_emit(task, &w, &call, (__u32)pid_tgid);
}

/* Sets ID without the open file: the name is not sent. */
static __always_inline void inode_look(__u64 addr, struct dlt_file_id *id)
{
	struct inode *inode = KCAST(inode, addr);
	__u32 magic = id_begin(inode, id);
	struct scratch *s = id_is_elsewhere(magic) ? scratch_get() : NULL;

	if (s)
		id_end(s, inode, NULL, magic, id);
}

/* Whether SLOT has the begin of the fault that ends at PAGE. */
static __always_inline bool slot_is_of(const struct dlt_fault_slot *slot, struct task_struct *task, __u32 tid,
				       __u64 page)
{
	return slot->tid == tid && slot->begin_ns && (slot->page == page || slot->page == DLT_FAULT_NO_PAGE) &&
	       slot->faults + 1 == KLOAD(task, maj_flt) + KLOAD(task, min_flt);
}

#define FS_REQUIRES_DEV 1 /* linux/fs.h */

/*
 * Whether the file of the inode at ADDR is on a disk. A file from a server (NFS, FUSE) is not, and its bytes are not
 * counted.
 */
static __always_inline bool is_on_disk(__u64 addr)
{
	struct inode *inode = KCAST(inode, addr);
	struct super_block *sb = KLOAD(inode, i_sb);
	struct file_system_type *type = KLOAD(sb, s_type);

	return KLOAD(type, fs_flags) & FS_REQUIRES_DEV;
}

/* Fills REC for a fault with a begin in SLOT; INODE is its file's, 0: none. */
static __always_inline void record_begun(struct dlt_fault *rec, const struct dlt_fault_slot *slot,
					 struct task_struct *task, __u64 inode)
{
	__u64 disk_bytes = inode && !is_on_disk(inode) ? (__u64)DLT_NONE : disk_bytes_of(task);

	rec->kind = slot->kind;
	rec->offset = slot->kind == DLT_FAULT_FILE ? (__s64)(slot->pgoff << page_shift) : DLT_NONE;
	rec->disk_bytes = disk_bytes == (__u64)DLT_NONE ? DLT_NONE : (__s64)(disk_bytes - slot->disk_bytes);
	rec->hdr.ts_ns = bpf_ktime_get_ns();
	rec->hdr.lat_ns = rec->hdr.ts_ns - slot->begin_ns;
	rec->lat_ns = rec->hdr.lat_ns;
}

/* Fills REC for a fault without a known begin. */
static __always_inline void record_unbegun(struct dlt_fault *rec, const struct vma_look *look)
{
	rec->kind = look && look->found && !look->file ? DLT_FAULT_SWAP : DLT_FAULT_OTHER;
	rec->offset = look && look->file ? (__s64)(look->pgoff << page_shift) : DLT_NONE;
	rec->lat_ns = rec->disk_bytes = DLT_NONE;
	rec->hdr.lat_ns = 0;
	rec->hdr.ts_ns = bpf_ktime_get_ns();
}

/* Sends the record of a fault of the file ID, whose inode is at INODE. LOOK: NULL where the mapping was not looked up.
 */
static __always_inline void record_send(const struct perf_event_ctx *ctx, struct dlt_fault_slot *slot, bool begun,
					const struct vma_look *look, const struct dlt_file_id *id, __u64 inode)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct task_struct *task = task_current();
	bool user = perf_event_is_user(ctx);
	struct dlt_fault *rec = rec_reserve(DLT_fault, sizeof(*rec), false);

	if (rec) {
		rec->id = *id;
		rec->func = user ? DLT_FAULT_USER : DLT_FAULT_KERNEL;
		rec->addr = ctx->addr;
		rec->ip = user ? (__s64)perf_event_ip(ctx) : DLT_NONE; /* the kernel's addresses are a secret */
		rec->hdr.tgid = pid_tgid >> 32;
		rec->hdr.tid = (__u32)pid_tgid;
		rec->hdr.probe = DLT_fault;
		rec->hdr.func = 0;
		rec->hdr.size = sizeof(*rec);
		comm_read(rec->hdr.comm, task);
		if (begun)
			record_begun(rec, slot, task, inode);
		else
			record_unbegun(rec, look);
		rec_submit(rec, DLT_fault);
	}
	if (slot->tid == (__u32)pid_tgid) {
		count_unseen(slot, KLOAD(task, maj_flt) - 1);
		slot->majors++;
		slot->begin_ns = 0;
	}
}

/* Returns the slot of this thread, in which a major fault ends; NULL: the thread is not traced. */
static __always_inline struct dlt_fault_slot *slot_at_end(void)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct dlt_stats *st = stats_of(DLT_fault);
	struct dlt_shared *sh = shared();

	if (!target_has(pid_tgid >> 32) || !sh || sh->stopping || !st)
		return NULL;
	st->seen++;
	return slot_of((__u32)pid_tgid);
}

SEC("perf_event")
int fault_end(struct perf_event_ctx *ctx)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct dlt_fault_slot *slot = slot_at_end();
	struct task_struct *task = task_current();
	struct dlt_file_id id = {};
	struct file *file;
	bool begun;

	if (!slot)
		return 0;
	begun = slot_is_of(slot, task, (__u32)pid_tgid, ctx->addr >> page_shift);
	if (begun && slot->of)
		file_look(task, slot->of, pid_tgid, &id);
	file = KCAST(file, slot->of);
	record_send(ctx, slot, begun, NULL, &id, slot->of ? (__u64)KLOAD(file, f_inode) : 0);
	return 0;
}

/* Whether the inode of SLOT's fault is the last one that was looked up. Its memory may belong to another inode by now.
 */
static __always_inline bool inode_is_known(const struct dlt_fault_slot *slot)
{
	struct inode *inode = KCAST(inode, slot->of);

	return slot->known_of == slot->of && slot->known_ino == inode_ino(inode) &&
	       slot->known_gen == KLOAD(inode, i_generation);
}

static __always_inline void inode_know(struct dlt_fault_slot *slot, const struct dlt_file_id *id)
{
	struct inode *inode = KCAST(inode, slot->of);

	slot->known_of = slot->of;
	slot->known_ino = inode_ino(inode);
	slot->known_gen = KLOAD(inode, i_generation);
	slot->known_id = *id;
}

/*
 * bpf_find_vma() came in 5.17 (commit 7c7e3d31e785). It took 7 us when measured, 20 times the rest of the program, so a
 * thread's faults on one file look it up once.
 */
SEC("perf_event")
int fault_end_vma(struct perf_event_ctx *ctx)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid(), addr = ctx->addr;
	struct vma_look look = { .page = addr >> page_shift };
	struct dlt_fault_slot *slot = slot_at_end();
	struct task_struct *task = task_current();
	struct dlt_file_id id = {};
	bool begun;

	if (!slot)
		return 0;
	begun = slot_is_of(slot, task, (__u32)pid_tgid, look.page);
	if (begun && inode_is_known(slot)) {
		id = slot->known_id;
	} else {
		bpf_find_vma(bpf_get_current_task_btf(), addr, vma_found, &look, 0);
		if (look.file)
			file_look(task, look.file, pid_tgid, &id);
		else if (begun)
			inode_look(slot->of, &id);
		if (begun && look.file)
			inode_know(slot, &id);
	}
	record_send(ctx, slot, begun, &look, &id, slot->of);
	return 0;
}

static __always_inline int thread_ends(void)
{
	struct task_struct *task = task_current();
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_fault_slot *slot = slot_of(tid);

	if (slot && slot->tid == tid) {
		count_unseen(slot, KLOAD(task, maj_flt));
		slot->tid = 0;
	}
	return 0;
}

SEC("tp_btf/sched_process_exit")
int fault_thread_ends(void *ctx)
{
	return thread_ends();
}

SEC("tp/sched/sched_process_exit")
int fault_thread_ends_perf(void *ctx)
{
	return thread_ends();
}
