/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads and writes, one record per call and side (a call between two files has an R and a W). */
#include "file.bpf.h"

#include "dlt/vfs_rw.h"

/* One row of CALL on descriptor FD. OFFSET: DLT_NONE asks for the file's position before RET. */
static __always_inline void rw_row(struct task_struct *task, struct dlt_call *call, __u32 tid, __u32 fd,
				   bool write, __u64 requested, __s64 offset, __u32 extra_flags,
				   __s64 disk_bytes, long ret)
{
	struct file *file = file_of_fd(task, fd);
	struct dlt_file_id id = {};
	struct dlt_vfs_rw *rec;
	__u32 f_flags = 0;

	if (file) {
		file_note(task, file, call, tid, &id);
		f_flags = KLOAD(file, f_flags);
		if (!(KLOAD(file, f_mode) & FMODE_LSEEK))
			offset = DLT_NONE;
		else if (offset == DLT_NONE)
			offset = KLOAD(file, f_pos) - (ret > 0 ? ret : 0);
	} else {
		offset = DLT_NONE;
	}
	rec = rec_reserve(DLT_vfs_rw, sizeof(*rec), false);
	if (!rec)
		return;
	rec->id = id;
	rec->returned = ret;
	rec->requested = requested;
	rec->offset = offset;
	rec->disk_bytes = disk_bytes;
	rec->fd = fd;
	rec->f_flags = f_flags | extra_flags;
	rec->write = write;
	rec->pad = 0;
	hdr_fill(&rec->hdr, call, task, tid, sizeof(*rec));
	rec_submit(rec, DLT_vfs_rw);
}

/* What the call made the kernel fetch from disk: charged to the task when a bio is submitted. */
static __always_inline __s64 disk_bytes_of(struct task_struct *task, const struct dlt_call *call)
{
	if (!bpf_core_field_exists(task->ioac.read_bytes))
		return DLT_NONE;
	return KLOAD(task, ioac.read_bytes) - call->disk_bytes;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(rw_exit, struct pt_regs *regs, long ret)
{
	struct task_struct *task = task_current();
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);
	__s64 offset = DLT_NONE;

	if (!call)
		return 0;
	if (call->shape & DLT_RW_POS)
		offset = call->args[3];
	rw_row(task, call, tid, call->args[0], call->shape & DLT_RW_WRITE, call->args[2], offset, 0,
	       disk_bytes_of(task, call), ret);
	call_end(call, tid);
	return 0;
}
