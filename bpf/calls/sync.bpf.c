/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fsync and its kin, and the calls that change a file's size. They are rare, so they always go through
 * scratch.
 */
#include "file.bpf.h"

#include "dlt/sync.h"

CALL_END(sync_exit)
{
	long ret = call_result(ctx);
	struct task_struct *task = task_current();
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);
	struct scratch *s = scratch_get();
	struct dlt_file_id id = {};
	struct dlt_stats *st;
	struct dlt_sync *rec;
	struct file *file;
	__u32 shape;

	if (!call || !s)
		return 0;
	shape = call->shape;
	if (shape != DLT_SYNC_NONE && shape != DLT_SYNC_MSYNC && shape != DLT_SYNC_TRUNCATE) {
		file = file_of_fd(task, call->args[0]);
		if (file)
			file_note(task, file, call, tid, &id);
	}
	rec = (struct dlt_sync *)s->rec;
	vrec_begin(s, call, task, tid, DLT_sync, sizeof(*rec));
	rec->id = id;
	rec->segs.len[0] = rec->segs.len[1] = rec->segs.len[2] = rec->segs.len[3] = 0;
	rec->ret = ret;
	rec->fd = (__s32)call->args[0];
	rec->offset = rec->len = DLT_NONE;
	rec->view = rec->pad = 0;
	if (shape == DLT_SYNC_RANGE) {
		rec->offset = call->args[1];
		rec->len = call->args[2];
	} else if (shape == DLT_SYNC_FALLOCATE) {
		rec->offset = call->args[2];
		rec->len = call->args[3];
	} else if (shape == DLT_SYNC_FTRUNCATE) {
		rec->len = call->args[1];
	} else if (shape == DLT_SYNC_MSYNC) {
		rec->fd = DLT_NONE;
		rec->len = call->args[1];
	} else if (shape == DLT_SYNC_NONE) {
		rec->fd = DLT_NONE;
	} else if (shape == DLT_SYNC_TRUNCATE) {
		rec->fd = DLT_NONE;
		rec->len = call->args[1];
		rec->view = view_of(task);
		rec->segs.len[0] = user_append(s, call->args[0]);
		if (rec->segs.len[0] && s->rec[sizeof(*rec)] != '/')
			rec->segs.len[2] = dir_append(s, task, AT_FDCWD);
	}
	st = stats_of(DLT_sync);
	if (!vrec_send())
		count_lost(DLT_sync);
	else if (st)
		st->emitted++;
	call_end(call, tid);
	return 0;
}
