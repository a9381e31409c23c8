/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls that make, remove or rename names. A record has both paths as passed, and the folders that they are relative
 * to. A file that an open made has a row from the open probe's record.
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

/* In a call's id: the ring had no room for the record of its names. */
#define NOT_SENT (~0ULL)

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
	rec->view = view_of(task);
	if (!call->id.ino)
		rec->named = DLT_CD_NAMED_NONE;
	else
		rec->named = call->id.ino == NOT_SENT ? DLT_CD_NAMED_LOST : DLT_CD_NAMED_SENT;
	rec->mode = sh.mode == NO_ARG ? DLT_NONE : (__s64)(__u16)arg(call, sh.mode);
	rec->flags = sh.flags == NO_ARG || call->shape & DLT_CD_NO_FLAGS ? DLT_NONE : (__s64)(__u32)arg(call, sh.flags);
	at = s->used;
	rec->segs.len[0] = user_append(s, arg(call, sh.path));
	at2 = s->used;
	rec->segs.len[1] = sh.path2 == NO_ARG ? 0 : user_append(s, arg(call, sh.path2));
	if (seg_is_relative(s->rec, at, rec->segs.len[0]))
		rec->segs.len[2] = dir_append(s, task, sh.dirfd == NO_ARG ? AT_FDCWD : (__s32)arg(call, sh.dirfd));
	else
		rec->segs.len[2] = 0;
	rec->segs.len[3] = 0;
	if (i == DLT_CD_SYMLINK || i == DLT_CD_SYMLINKAT)
		rec->segs.len[3] = DLT_SEG_VERBATIM; /* the text of a symlink is not resolved */
	else if (seg_is_relative(s->rec, at2, rec->segs.len[1]))
		rec->segs.len[3] = dir_append(s, task, sh.dirfd2 == NO_ARG ? AT_FDCWD : (__s32)arg(call, sh.dirfd2));
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

/* --- inside a call: the names that the kernel has looked up --------------------------------------- */

/*
 * Appends the path of DENTRY on MNT as the I-th path of S's record. A global function: paths are walked in two places,
 * each of which takes the verifier long.
 */
__noinline int name_put(__u32 i)
{
	struct scratch *s = scratch_get();
	struct dlt_cd_names *rec;
	struct dentry *dentry;
	struct inode *inode;
	struct dlt_file_id id = {};
	__u32 magic;

	if (!s)
		return 0;
	barrier_var(i); /* otherwise the verifier loses the bounds of the value */
	i &= 1;
	rec = (struct dlt_cd_names *)s->rec;
	dentry = KCAST(dentry, s->dentry);
	inode = KLOAD(dentry, d_inode);
	if (inode) {
		magic = id_begin(inode, &id);
		if (id_is_elsewhere(magic))
			id_end(s, inode, dentry, magic, &id);
		rec->file[i].mode = KLOAD(inode, i_mode);
		rec->file[i].links = KLOAD(inode, i_nlink);
	}
	rec->file[i].id = id;
	rec->segs.len[i] = path_append(s, task_current(), s->dentry, s->mnt);
	rec->file[i].flags = s->walk_flags;
	return 0;
}

/*
 * OLD and NEW (0: there is none) are struct dentry *, DIR the struct path * of a folder on their mount. Only calls of
 * create_del get here, not those of an overlay for its lower layer: the hooked functions are for paths.
 */
static __always_inline int names_found(__u64 dir, __u64 old, __u64 new)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);
	struct path *path = (struct path *)dir;
	struct dlt_cd_names *rec;
	struct scratch *s;
	__u64 mnt;

	if (!call || call->probe != DLT_create_del)
		return 0;
	s = scratch_get();
	if (!s)
		return 0;
	rec = (struct dlt_cd_names *)s->rec;
	vrec_begin(s, call, task_current(), tid, DLT_create_del, sizeof(*rec));
	rec->hdr.func = DLT_CD_FUNC_NAMED;
	__builtin_memset(&rec->file, 0, sizeof(rec->file));
	rec->segs.len[0] = rec->segs.len[1] = rec->segs.len[2] = rec->segs.len[3] = 0;
	mnt = (__u64)BPF_CORE_READ(path, mnt);
	s->dentry = old;
	s->mnt = mnt;
	name_put(0);
	if (new) {
		s->dentry = new;
		s->mnt = mnt;
		name_put(1);
	}
	call->id = rec->file[0].id;
	if (!vrec_send())
		call->id.ino = NOT_SENT;
	return 0;
}

/*
 * With CONFIG_SECURITY_PATH: the code of the system call calls it once the names are looked up and locked. DIR, OLD and
 * NEW are numbers of arguments, -1: none.
 */
#define NAMES_FOUND(func, dir, old, new)                                                           \
	SEC("fentry/security_path_" #func)                                                         \
	int HELD_PROG(func##_names)                                                                \
	{                                                                                          \
		return names_found(ctx[dir], ctx[old], (new) < 0 ? 0 : ctx[(new) & 3]);            \
	}                                                                                          \
	SEC("kprobe/security_path_" #func)                                                         \
	int func##_names_kprobe(struct pt_regs *ctx)                                               \
	{                                                                                          \
		const __u64 args[] = { PT_REGS_PARM1(ctx), PT_REGS_PARM2(ctx), PT_REGS_PARM3(ctx), \
				       PT_REGS_PARM4(ctx) };                                       \
                                                                                                   \
		return names_found(args[dir], args[old], (new) < 0 ? 0 : args[(new) & 3]);         \
	}

NAMES_FOUND(unlink, 0, 1, -1) /* (dir, dentry) */
NAMES_FOUND(rmdir, 0, 1, -1) /* (dir, dentry) */
NAMES_FOUND(link, 1, 0, 2) /* (old dentry, new dir, new dentry); another mount is refused before */
NAMES_FOUND(rename, 0, 1, 3) /* (old dir, old dentry, new dir, new dentry, flags); as well */
