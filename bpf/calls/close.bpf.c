/* SPDX-License-Identifier: BSD-2-Clause */
/* close and close_range: the file is looked up at the start of the call, since it is gone at the end. */
#include "file.bpf.h"

#include "dlt/close.h"

CALL_BEGIN(close_entry)
{
	struct task_struct *task = task_current();
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);
	struct file *file;

	if (!call)
		return 0;
	file = file_of_fd(task, call->args[0]);
	if (file)
		file_note(task, file, call, tid, &call->id);
	call->start_ns = bpf_ktime_get_ns();
	return 0;
}

CALL_END(close_exit)
{
	long ret = call_result(ctx);
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);
	struct dlt_close *rec;

	if (!call)
		return 0;
	rec = rec_reserve(DLT_close, sizeof(*rec), false);
	if (rec) {
		rec->id = call->id;
		rec->ret = ret;
		/* close(2) takes an int, close_range(2) two unsigned numbers */
		rec->fd = call->shape == DLT_CLOSE_RANGE ? (__s64)(__u32)call->args[0] : (__s32)call->args[0];
		rec->last = call->shape == DLT_CLOSE_RANGE ? (__s64)(__u32)call->args[1] : DLT_NONE;
		hdr_fill(&rec->hdr, call, task_current(), tid, sizeof(*rec));
		rec_submit(rec, DLT_close);
	}
	call_end(call, tid);
	return 0;
}
