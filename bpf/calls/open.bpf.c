/* SPDX-License-Identifier: BSD-2-Clause */
/* open, openat, openat2, creat: both paths in one record, and whether the call made the file. */
#include "file.bpf.h"

#include "dlt/open.h"

#define O_CREAT 0100 /* asm-generic/fcntl.h: identical on the architectures that we support */
#define O_TMPFILE_BIT 020000000
#define O_PATH 010000000 /* open(2) ignores most other flags beside it */
#define O_CREAT_TRUNC_WRONLY 01101 /* the flags that creat(2) implies */

CALL_END(open_exit)
{
	long ret = call_result(ctx);
	struct task_struct *task = task_current();
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);
	struct scratch *s = scratch_get();
	struct file *file = NULL;
	struct dlt_open *rec;
	__u64 path, how[2];
	__u32 shape, len;

	if (!call || !s)
		return 0;
	rec = (struct dlt_open *)s->rec;
	vrec_begin(s, call, task, tid, DLT_open, sizeof(*rec));
	__builtin_memset(&rec->file, 0, sizeof(rec->file));
	rec->ret = ret;
	rec->vfs_lat_ns = call->vfs_ns ? (__s64)call->vfs_ns : DLT_NONE;
	rec->created = 0;
	rec->pad = 0;
	rec->segs.len[1] = rec->segs.len[2] = rec->segs.len[3] = 0;

	shape = call->shape;
	path = shape == DLT_OPEN_AT || shape == DLT_OPEN_HOW ? call->args[1] : call->args[0];
	if (shape == DLT_OPEN_HOW) {
		rec->flags = rec->mode = DLT_NONE;
		if (!bpf_probe_read_user(how, sizeof(how), (void *)call->args[2])) {
			rec->flags = how[0];
			rec->mode = how[1];
		}
	} else if (shape == DLT_OPEN_CREAT) {
		rec->flags = O_CREAT_TRUNC_WRONLY;
		rec->mode = (__u16)call->args[1];
	} else {
		rec->flags = (__u32)(shape == DLT_OPEN_AT ? call->args[2] : call->args[1]);
		rec->mode = (__u16)(shape == DLT_OPEN_AT ? call->args[3] : call->args[2]);
	}
	if (!(rec->flags & (O_CREAT | O_TMPFILE_BIT)))
		rec->mode = DLT_NONE; /* the register has no defined value */
	rec->segs.len[0] = user_append(s, path);
	if (ret >= 0)
		file = file_of_fd(task, ret);
	if (file) {
		len = file_describe(s, task, file, &rec->file);
		rec->segs.len[1] = len;
		if (KLOAD(file, f_mode) & FMODE_CREATED || (rec->flags & (O_TMPFILE_BIT | O_PATH)) == O_TMPFILE_BIT) {
			rec->created = 1;
			rec->segs.len[2] =
				dir_append(s, task,
					   shape == DLT_OPEN_AT || shape == DLT_OPEN_HOW ? (__s32)call->args[0] :
											   AT_FDCWD);
		}
	}
	if (vrec_send()) {
		struct dlt_stats *st = stats_of(DLT_open);

		if (st)
			st->emitted++;
		if (file)
			file_mark_seen(&rec->file);
	} else {
		count_lost(DLT_open);
		if (rec->created)
			count_row_lost(DLT_create_del);
	}
	call_end(call, tid);
	return 0;
}

/*
 * The file system's part of an open, where fentry is available. An overlay's vfs_open() calls that of the lower layer:
 * the outer one ends last.
 */
SEC("fentry/vfs_open")
int vfs_open_begin(void *ctx)
{
	struct dlt_call *call = call_find((__u32)bpf_get_current_pid_tgid());

	if (call && call->probe == DLT_open && !call->vfs_start_ns)
		call->vfs_start_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("fexit/vfs_open")
int vfs_open_end(void *ctx)
{
	struct dlt_call *call = call_find((__u32)bpf_get_current_pid_tgid());

	if (call && call->probe == DLT_open && call->vfs_start_ns)
		call->vfs_ns = bpf_ktime_get_ns() - call->vfs_start_ns;
	return 0;
}
