/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls that make, remove or rename names. A record has both paths as passed and what they are relative to.
 * A file that an open made has a row from the open probe's record.
 */
#include "file.bpf.h"

#include "dlt/create_del.h"

#define NO_ARG 7 /* no such argument; for a dirfd: the working directory */

/* Argument numbers by shape. */
struct shape {
	__u8 dirfd, path, dirfd2, path2, mode, flags;
};
static const struct shape shapes[DLT_CD_SHAPES] = {
	[DLT_CD_MKDIR] = { NO_ARG, 0, NO_ARG, NO_ARG, 1, NO_ARG },
	[DLT_CD_MKDIRAT] = { 0, 1, NO_ARG, NO_ARG, 2, NO_ARG },
	[DLT_CD_UNLINK] = { NO_ARG, 0, NO_ARG, NO_ARG, NO_ARG, NO_ARG },
	[DLT_CD_UNLINKAT] = { 0, 1, NO_ARG, NO_ARG, NO_ARG, 2 },
	[DLT_CD_RENAME] = { NO_ARG, 0, NO_ARG, 1, NO_ARG, NO_ARG },
	[DLT_CD_RENAMEAT] = { 0, 1, 2, 3, NO_ARG, 4 },
	[DLT_CD_SYMLINK] = { NO_ARG, 1, NO_ARG, 0, NO_ARG, NO_ARG },
	[DLT_CD_SYMLINKAT] = { 1, 2, NO_ARG, 0, NO_ARG, NO_ARG },
	[DLT_CD_MKNOD] = { NO_ARG, 0, NO_ARG, NO_ARG, 1, NO_ARG },
	[DLT_CD_MKNODAT] = { 0, 1, NO_ARG, NO_ARG, 2, NO_ARG },
};

static __always_inline __u64 arg(const struct dlt_call *call, __u32 i)
{
	barrier_var(i); /* the compiler knows that the test cannot fail; the verifier does not */
	return i < 6 ? call->args[i] : 0;
}

static __always_inline bool seg_is_relative(const char *rec, __u32 at, __u32 len)
{
	/* at most two segments lie before it */
	return len && rec[at & (2 * DLT_PATH_MAX - 1)] != '/';
}

/* renameat has no flags, renameat2 and linkat do: see the table of FUNC. */
CALL_END(create_del_exit)
{
	long ret = call_result(ctx);
	struct task_struct *task = task_current();
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);
	struct scratch *s = scratch_get();
	struct dlt_create_del *rec;
	__u32 i, at, at2;
	struct shape sh;

	if (!call || !s)
		return 0;
	i = call->shape & ~DLT_CD_NO_FLAGS;
	if (i >= DLT_CD_SHAPES)
		return 0;
	sh = shapes[i];
	rec = (struct dlt_create_del *)s->rec;
	vrec_begin(s, call, task, tid, DLT_create_del, sizeof(*rec));
	__builtin_memset(&rec->id, 0, sizeof(rec->id));
	rec->ret = ret;
	rec->mode = sh.mode == NO_ARG ? DLT_NONE : (__s64)(__u16)arg(call, sh.mode);
	rec->flags = sh.flags == NO_ARG || call->shape & DLT_CD_NO_FLAGS ?
			     DLT_NONE : (__s64)(__u32)arg(call, sh.flags);
	at = s->used;
	rec->segs.len[0] = user_append(s, arg(call, sh.path));
	at2 = s->used;
	rec->segs.len[1] = sh.path2 == NO_ARG ? 0 : user_append(s, arg(call, sh.path2));
	rec->segs.len[2] = seg_is_relative(s->rec, at, rec->segs.len[0]) ?
		dir_append(s, task, sh.dirfd == NO_ARG ? AT_FDCWD : (__s32)arg(call, sh.dirfd)) : 0;
	rec->segs.len[3] = 0;
	if (i == DLT_CD_SYMLINK || i == DLT_CD_SYMLINKAT)
		rec->segs.len[3] = DLT_SEG_VERBATIM; /* a symlink's text is no path to resolve */
	else if (seg_is_relative(s->rec, at2, rec->segs.len[1]))
		rec->segs.len[3] = dir_append(s, task, sh.dirfd2 == NO_ARG ? AT_FDCWD :
							       (__s32)arg(call, sh.dirfd2));
	if (vrec_send()) {
		struct dlt_stats *st = stats_of(DLT_create_del);

		if (st)
			st->emitted++;
	} else {
		count_lost(DLT_create_del);
	}
	call_end(call, tid);
	return 0;
}
