/* SPDX-License-Identifier: BSD-2-Clause */
/* mmap, munmap, mremap, madvise and brk; and threads, processes and locks of memory that a limit has refused. */
#include "process/pids.bpf.h"

#include "dlt/mmap.h"

#define MAP_ANONYMOUS 0x20 /* asm-generic/mman-common.h */
#define MREMAP_FIXED 2

/* The result is the end of the heap after the call: its end before it is the kernel's to say. */
CALL_BEGIN(brk_entry)
{
	struct dlt_call *call = call_find((__u32)bpf_get_current_pid_tgid());
	struct task_struct *task = task_current();

	if (call)
		call->args[1] = load_u64((__u64)KLOAD(task, mm) + bpf_core_field_offset(struct mm_struct, brk));
	return 0;
}

CALL_END(mmap_exit)
{
	long ret = call_result(ctx);
	struct task_struct *task = task_current();
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);
	struct dlt_file_id id = {};
	struct dlt_mmap *rec;
	struct file *file;
	__u32 shape;

	if (!call)
		return 0;
	shape = call->shape;
	if (shape == DLT_MMAP && !(call->args[3] & MAP_ANONYMOUS)) {
		file = file_of_fd(task, call->args[4]);
		if (file)
			file_note(task, file, call, tid, &id);
	}
	rec = rec_reserve(DLT_mmap, sizeof(*rec), false);
	if (!rec)
		goto out;
	rec->id = id;
	rec->ret = ret;
	if (shape == DLT_MREMAP) {
		rec->addr = call->args[3] & MREMAP_FIXED ? (__s64)call->args[4] : DLT_NONE;
		rec->len = call->args[2];
		rec->prot = DLT_NONE;
		rec->flags = call->args[3] << DLT_MREMAP_SHIFT;
		rec->old_addr = call->args[0];
		rec->old_len = call->args[1];
	} else {
		rec->addr = call->args[0];
		rec->len = call->args[1];
		rec->prot = shape == DLT_MMAP ? (__s64)call->args[2] : DLT_NONE;
		rec->flags = shape == DLT_MMAP ? (__s64)call->args[3] : DLT_NONE;
		rec->old_addr = rec->old_len = DLT_NONE;
	}
	if (shape == DLT_MADVISES) {
		rec->flags = dlt_madvise(call->args[2]);
	} else if (shape == DLT_BRK) {
		rec->old_addr = call->args[1];
		rec->len = ret > rec->old_addr ? ret - rec->old_addr : rec->old_addr - ret;
	}
	rec->fd = shape == DLT_MMAP ? (__s32)call->args[4] : DLT_NONE;
	rec->offset = shape == DLT_MMAP ? (__s64)call->args[5] : DLT_NONE;
	hdr_fill(&rec->hdr, call, task, tid, sizeof(*rec));
	rec_submit(rec, DLT_mmap);
out:
	call_end(call, tid);
	return 0;
}

/* Locks of less are those of keys and passwords, which do without. */
#define LOCKED_LEAST (64 << 10)

/* Whether a limit has refused CALL, which returned RET. */
static __always_inline bool refused(const struct dlt_call *call, long ret)
{
	if (call->shape == DLT_MAKES)
		return ret == -EAGAIN || ret == -ENOMEM;
	return (ret == -EAGAIN || ret == -ENOMEM || ret == -EPERM) &&
	       (call->shape == DLT_LOCKS_ALL || call->args[1] > LOCKED_LEAST);
}

/*
 * fork, vfork, clone, clone3; mlock, mlock2, mlockall. What is made has its rows in pids.out by the hooks of the
 * scheduler; what a limit has refused (RLIMIT_NPROC, pids.max, memory, RLIMIT_MEMLOCK) is seen here alone. A child has
 * no entry, as it began no call.
 */
CALL_END(made_exit)
{
	long ret = call_result(ctx);
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);
	struct dlt_pids *rec;
	struct scratch *s;

	if (!call)
		return 0;
	s = refused(call, ret) ? scratch_get() : NULL;
	if (s) {
		rec = pids_begin(s, task_current(), DLT_PIDS_REFUSED);
		rec->status = ret;
		rec->call = call->nr;
		pids_send();
	}
	call_end(call, tid);
	return 0;
}
