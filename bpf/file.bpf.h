/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files: the identity behind a descriptor, the name of an identity (sent once), and the path of a dentry as the process
 * would see it. Records with strings are put together in a per-CPU buffer and sent in one of a few sizes.
 */
#ifndef FILE_BPF_H
#define FILE_BPF_H

#include "file_id.bpf.h"

#include "dlt/files.h"
#include "dlt/pids.h"

#define AT_FDCWD (-100)
#define FMODE_LSEEK 4
#define FMODE_CREATED 0x100000 /* include/linux/fs.h, the same value since 4.19 */

#define WALK_STEPS 1024

/* Files whose names the daemon knows: the last identity for each hash. */
#define SEEN_SLOTS 65536
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SEEN_SLOTS);
	__type(key, __u32);
	__type(value, struct dlt_file_id);
} dlt_seen SEC(".maps");

/* --- identity --------------------------------------------------------------------------------- */

/* The open file behind descriptor FD of TASK, or NULL. */
static __always_inline struct file *file_of_fd(struct task_struct *task, __u64 fd)
{
	struct files_struct *files = KLOAD(task, files);
	struct fdtable *fdt;
	__u64 file;

	fd = (__u32)fd;
	if (!files)
		return NULL;
	fdt = KLOAD(files, fdt);
	if (fd >= KLOAD(fdt, max_fds))
		return NULL;
	/* the table of pointers is a number to the verifier: a probe read takes 35 ns more than a load */
	file = load_u64((__u64)KLOAD(fdt, fd) + fd * sizeof(struct file *));
	return file ? KCAST(file, file) : NULL;
}

/* The daemon must know each identity, and for a stacked file also where its data is: this remembers both together. */
static __always_inline struct dlt_file_id *seen_slot(const struct dlt_file_id *id)
{
	__u32 i = (__u32)((id->ino * 0x9e3779b97f4a7c15ULL >> 32) + id->dev * 31 + id->gen) & (SEEN_SLOTS - 1);

	return bpf_map_lookup_elem(&dlt_seen, &i);
}

static __always_inline __u32 seen_gen(const struct dlt_file_id *id, const struct dlt_file_at *at)
{
	return at->real_ino ? id->gen ^ hash32(at->real_ino, at->real_dev) : id->gen;
}

/* GEN: from seen_gen(). */
static __always_inline bool file_seen(const struct dlt_file_id *id, __u32 gen)
{
	struct dlt_file_id *seen = seen_slot(id);

	return seen && seen->ino == id->ino && seen->dev == id->dev && seen->gen == gen;
}

static __always_inline void file_mark_seen(const struct dlt_file *file)
{
	struct dlt_file_id *seen = seen_slot(&file->id);

	if (seen) {
		seen->ino = file->id.ino;
		seen->dev = file->id.dev;
		seen->gen = seen_gen(&file->id, &file->at);
	}
}

/* --- paths ------------------------------------------------------------------------------------ */

/*
 * Whether the mount is in a namespace: not the kernel's own (an error instead of a pointer), and not removed from the
 * tree (none).
 */
static __always_inline bool mount_is_somewhere(struct mount *mount)
{
	__u64 ns = (__u64)BPF_CORE_READ(mount, mnt_ns);

	return ns && ns < -4096ULL;
}

/*
 * Takes one step up from scratch->dentry: appends its name, or crosses to the parent mount. Nonzero at the end. A
 * global function is verified once, so the walk may be long on every kernel that has them (5.6); bpf_loop would
 * need 5.17.
 */
__noinline int path_step(void)
{
	struct scratch *s = scratch_get();
	struct dentry *d, *parent, *mnt_root;
	struct mount *mount, *up;
	struct vfsmount *m;
	__u32 used;
	long n;

	if (!s)
		return 1;
	if (s->dentry == s->root_dentry && s->mnt == s->root_mnt)
		return 1;
	d = KCAST(dentry, s->dentry);
	m = KCAST(vfsmount, s->mnt);
	parent = KLOAD(d, d_parent);
	mnt_root = KLOAD(m, mnt_root);
	if (d == mnt_root || d == parent) {
		mount = KCAST(mount, s->mnt - bpf_core_field_offset(struct mount, mnt));
		up = KLOAD(mount, mnt_parent);
		if (d == mnt_root && up == mount && !s->root_dentry && mount_is_somewhere(mount))
			return 1;
		if (d != mnt_root || up == mount) {
			/* this root is not the process's: a file of the kernel's own, or one out of reach */
			s->walk_flags |= DLT_PATH_UNREACHABLE;
			return 1;
		}
		s->dentry = (__u64)KLOAD(mount, mnt_mountpoint);
		s->mnt = (__u64)up + bpf_core_field_offset(struct mount, mnt);
		return 0;
	}
	used = s->used;
	if (used > REC_MAX - DLT_PATH_MAX) {
		s->walk_flags |= DLT_PATH_TRUNCATED;
		return 1;
	}
	n = bpf_probe_read_kernel_str(&s->rec[used], 256, (void *)KLOAD(d, d_name.name));
	if (n <= 0)
		return 1;
	if (used + n > s->walk_end) {
		s->walk_flags |= DLT_PATH_TRUNCATED;
		return 1;
	}
	s->used = used + n;
	s->dentry = (__u64)parent;
	return 0;
}

/* Two levels of global functions: the verifier checks 32 + 32 turns, not 1024 at every caller. */
#define WALK_BATCH 32
__noinline int path_steps(void)
{
#pragma nounroll
	for (int i = 0; i < WALK_BATCH; i++)
		if (path_step())
			return 1;
	return 0;
}

/*
 * Appends the path of DENTRY on MNT, last component first, as seen from TASK's root; ANYWHERE: from the root of MNT's
 * namespace. Returns its length in bytes; DLT_PATH_* go to scratch->walk_flags.
 */
static __always_inline __u32 path_append_from(struct scratch *s, struct task_struct *task, __u64 dentry, __u64 mnt,
					      bool anywhere)
{
	struct fs_struct *fs = KLOAD(task, fs);
	__u32 start = s->used;
	int i;

	s->walk_flags = 0;
	s->dentry = dentry;
	s->mnt = mnt;
	s->root_dentry = s->root_mnt = 0;
	if (!fs && !anywhere)
		return 0;
	s->root_dentry = anywhere ? 0 : (__u64)KLOAD(fs, root.dentry);
	s->root_mnt = anywhere ? 0 : (__u64)KLOAD(fs, root.mnt);
	s->walk_end = start + DLT_PATH_MAX - 1; /* each component counts with its slash */
#pragma nounroll
	for (i = 0; i < WALK_STEPS / WALK_BATCH; i++)
		if (path_steps())
			break;
	if (i == WALK_STEPS / WALK_BATCH)
		s->walk_flags |= DLT_PATH_TRUNCATED;
	return s->used - start;
}

static __always_inline __u32 path_append(struct scratch *s, struct task_struct *task, __u64 dentry, __u64 mnt)
{
	return path_append_from(s, task, dentry, mnt, false);
}

/*
 * Returns a number for the root from which TASK sees paths: a path means the same file only for tasks with the same
 * root. A mount namespace has its own mounts, and a changed root (chroot, pivot_root) is another dentry or mount.
 */
static __noinline __u32 view_of(struct task_struct *task)
{
	struct fs_struct *fs = KLOAD(task, fs);

	/* not KLOAD: the verifier allows no calculations with pointers that have a type */
	return fs ? hash32((__u64)BPF_CORE_READ(fs, root.dentry), (__u64)BPF_CORE_READ(fs, root.mnt)) | 1 : 0;
}

/*
 * Fills scratch->file with everything that files.out has of the file in scratch, and appends its path as a segment.
 * Returns the length. A global function: it has more paths than all that calls it, and is verified once for each
 * program.
 */
__noinline __u32 scratch_describe(void)
{
	struct scratch *s = scratch_get();
	struct file_system_type *type;
	struct task_struct *task;
	struct super_block *sb;
	struct dentry *dentry;
	struct dlt_file *out;
	struct inode *inode;
	__u32 len;

	if (!s)
		return 0;
	out = &s->file;
	task = KCAST(task_struct, s->viewer);
	inode = KCAST(inode, s->where_inode);
	dentry = KCAST(dentry, s->where_dentry);
	out->magic = id_begin(inode, &out->id);
	out->at = (struct dlt_file_at){};
	if (id_is_elsewhere(out->magic)) {
		id_end(s, inode, dentry, out->magic, &out->id);
		out->at = s->at;
	}
	out->size = KLOAD(inode, i_size);
	out->mode = KLOAD(inode, i_mode);
	sb = KLOAD(inode, i_sb);
	type = KLOAD(sb, s_type);
	__builtin_memset(out->fstype, 0, sizeof(out->fstype));
	bpf_probe_read_kernel_str(out->fstype, sizeof(out->fstype), (void *)KLOAD(type, name));
	len = path_append_from(s, task, (__u64)dentry, s->where_mnt, !s->where_file);
	out->view = !s->where_file ? DLT_VIEW_ANYWHERE : hash32(s->root_dentry, s->root_mnt) | 1;
	/* the root of a mount and the kernel's own files have no hash entry either: a removed file had a name */
	out->flags = s->walk_flags;
	if (!KLOAD(inode, i_nlink) || (!KLOAD(dentry, d_hash.pprev) && KLOAD(dentry, d_parent) != dentry))
		out->flags |= DLT_PATH_DELETED;
	if (!len && (s->walk_flags & DLT_PATH_UNREACHABLE)) {
		/* pipes, sockets, anonymous inodes: the name of the root dentry itself */
		const void *name = KLOAD(dentry, d_name.name);
		__u32 used =
			s->used; /* after the load: a copy on the stack would lose its bounds for the verifier of 6.1 */
		long n = 0;

		if (used <= REC_MAX - DLT_PATH_MAX)
			n = bpf_probe_read_kernel_str(&s->rec[used], 256, name);
		out->flags |= DLT_PATH_FLOATING;
		if (n > 0) {
			len = n;
			s->used = used + n;
		}
	}
	return len;
}

/* The file at W, as TASK sees it, is what scratch_describe() describes. */
static __always_inline void where_set(struct scratch *s, struct task_struct *task, const struct file_where *w)
{
	s->viewer = (__u64)task;
	s->where_inode = (__u64)w->inode;
	s->where_dentry = (__u64)w->dentry;
	s->where_mnt = where_mnt(w);
	s->where_file = (__u64)w->file;
}

static __always_inline __u32 file_describe(struct scratch *s, struct task_struct *task, struct file *file,
					   struct dlt_file *out)
{
	struct file_where w = file_where(file);
	__u32 len;

	where_set(s, task, &w);
	len = scratch_describe();
	*out = s->file;
	return len;
}

/* folder_append() of the folder in scratch. A global function: verified once for each program, not at each caller. */
__noinline __u32 scratch_folder(void)
{
	struct scratch *s = scratch_get();
	__u32 len, used;

	if (!s)
		return 0;
	len = path_append(s, KCAST(task_struct, s->viewer), s->dentry, s->mnt);
	used = s->used;
	if (len || s->walk_flags || used > REC_MAX - DLT_PATH_MAX)
		return len;
	s->rec[used] = '\0';
	s->used = used + 1;
	return 1;
}

/*
 * Appends the path of the folder DENTRY on MNT. A root has one component, an empty one: no bytes at all mean that the
 * folder is not known.
 */
static __always_inline __u32 folder_append(struct scratch *s, struct task_struct *task, __u64 dentry, __u64 mnt)
{
	s->viewer = (__u64)task;
	s->dentry = dentry;
	s->mnt = mnt;
	return scratch_folder();
}

/* Appends the folder that a relative path is relative to: DIRFD's path, or the working directory's. */
static __noinline __u32 dir_append(struct scratch *s, struct task_struct *task, __s32 dirfd)
{
	__u64 dentry, mnt;
	struct fs_struct *fs;
	struct file *file;

	if (dirfd == AT_FDCWD) {
		fs = KLOAD(task, fs);
		if (!fs)
			return 0;
		dentry = (__u64)KLOAD(fs, pwd.dentry);
		mnt = (__u64)KLOAD(fs, pwd.mnt);
	} else {
		file = file_of_fd(task, dirfd);
		if (!file)
			return 0;
		dentry = (__u64)KLOAD(file, f_path.dentry);
		mnt = (__u64)KLOAD(file, f_path.mnt);
	}
	return folder_append(s, task, dentry, mnt);
}

/* --- records with strings --------------------------------------------------------------------- */

/* Appends a user string of at most PATH_MAX bytes. Returns its length with the NUL, 0 when it is unreadable. */
static __always_inline __u32 user_append(struct scratch *s, __u64 addr)
{
	__u32 used = s->used;
	long n;

	if (used > REC_MAX - DLT_PATH_MAX)
		return 0;
	n = bpf_probe_read_user_str(&s->rec[used], DLT_PATH_MAX, (void *)addr);
	if (n <= 0)
		return 0;
	s->used = used + n;
	return n;
}

/* Begins a record of SIZE fixed bytes for CALL; its strings are appended after it. */
static __always_inline void vrec_begin(struct scratch *s, const struct dlt_call *call, struct task_struct *task,
				       __u32 tid, __u32 probe, __u32 size)
{
	struct dlt_hdr *h = (struct dlt_hdr *)s->rec;

	h->tgid = call->tgid;
	h->tid = tid;
	h->probe = probe;
	h->func = call->func;
	comm_read(h->comm, task);
	s->used = size;
	s->start_ns = call->start_ns;
}

/*
 * A ring reserves constant sizes only, so a record takes the smallest of four. bpf_ringbuf_output would fit exactly,
 * but its record would appear after its own TIMESTAMP: behind the drain's clock.
 */
#define VREC_CLASS(bytes)                                             \
	if (used <= (bytes)) {                                        \
		h = bpf_ringbuf_reserve(ring, bytes, 0);              \
		if (!h)                                               \
			return 0;                                     \
		bpf_probe_read_kernel(h, bytes, s->rec);              \
		h->size = used;                                       \
		h->ts_ns = bpf_ktime_get_ns();                        \
		h->lat_ns = s->start_ns ? h->ts_ns - s->start_ns : 0; \
		bpf_ringbuf_submit(h, BPF_RB_NO_WAKEUP);              \
		return 1;                                             \
	}

/*
 * A process's life explains all other rows, and a program can neither begin nor end many in a second. Calls with
 * strings it can make as fast as others, at 4 KiB each, and a rename, too.
 */
static __always_inline bool vrec_is_rare(const struct scratch *s)
{
	return ((const struct dlt_hdr *)s->rec)->probe == DLT_pids &&
	       ((const struct dlt_pids *)s->rec)->event != DLT_PIDS_RENAME;
}

/* Sends what scratch holds. Returns 1, or 0 when the ring had no room, which the caller counts. */
__noinline int vrec_send(void)
{
	struct scratch *s = scratch_get();
	void *ring = ring_here();
	struct dlt_hdr *h;
	__u32 used;

	if (!s || !ring || (!vrec_is_rare(s) && ring_crowded(ring)))
		return 0;
	used = s->used;
	VREC_CLASS(384)
	VREC_CLASS(1024)
	VREC_CLASS(4096)
	VREC_CLASS(REC_MAX)
	return 0;
}

/* --- names, once ------------------------------------------------------------------------------ */

/* Sends the name of the file that where_set() has set, for the call that NAME_* are of. */
static __always_inline void name_send(struct scratch *s)
{
	const struct dlt_call call = { .start_ns = s->name_start_ns, .tgid = s->name_tgid, .func = s->name_func };
	struct dlt_files *rec = (struct dlt_files *)s->rec;

	vrec_begin(s, &call, KCAST(task_struct, s->viewer), s->name_tid, DLT_files, sizeof(*rec));
	rec->segs.len[0] = scratch_describe();
	rec->file = s->file;
	rec->segs.len[1] = rec->segs.len[2] = rec->segs.len[3] = 0;
	if (vrec_send())
		file_mark_seen(&rec->file);
	else
		count_lost(DLT_files);
}

/* Sends the name of WHERE_FILE, as VIEWER sees it. A global function: verified once for each program. */
__noinline int scratch_name_send(void)
{
	struct scratch *s = scratch_get();
	struct file_where w;

	if (!s)
		return 0;
	w = file_where(KCAST(file, s->where_file));
	where_set(s, KCAST(task_struct, s->viewer), &w);
	name_send(s);
	return 0;
}

static __always_inline void name_set(struct scratch *s, const struct dlt_call *call, __u32 tid)
{
	s->name_start_ns = call->start_ns;
	s->name_tgid = call->tgid;
	s->name_tid = tid;
	s->name_func = call->func;
}

/*
 * Sends the name of the file at W to the daemon. Called before the record that uses its ID is reserved, so the name has
 * the earlier TIMESTAMP whatever the ring. Inlined: some callers have no frame left.
 */
static __always_inline void where_emit(struct task_struct *task, const struct file_where *w,
				       const struct dlt_call *call, __u32 tid)
{
	struct scratch *s = scratch_get();

	if (!s)
		return;
	where_set(s, task, w);
	name_set(s, call, tid);
	name_send(s);
}

static __always_inline void file_emit(struct task_struct *task, struct file *file, const struct dlt_call *call,
				      __u32 tid)
{
	struct scratch *s = scratch_get();

	if (!s)
		return;
	s->viewer = (__u64)task;
	s->where_file = (__u64)file;
	name_set(s, call, tid);
	scratch_name_send();
}

/* special_is_new() of what is in scratch. A global function: verified once for each program. */
__noinline int scratch_special_is_new(__u32 magic)
{
	struct scratch *s = scratch_get();

	if (!s)
		return 1;
	s->at = (struct dlt_file_at){};
	file_id_special(magic);
	return !file_seen(&s->id, seen_gen(&s->id, &s->at));
}

/*
 * Corrects ID where the file system has a part of the identity elsewhere. Returns whether the daemon needs the file's
 * name.
 */
static __always_inline bool special_is_new(struct inode *inode, struct dentry *dentry, __u32 magic,
					   struct dlt_file_id *id)
{
	struct scratch *s = scratch_get();
	bool is_new;

	if (!s)
		return true;
	s->id_inode = (__u64)inode;
	s->id_dentry = (__u64)dentry;
	s->id = *id;
	is_new = scratch_special_is_new(magic);
	*id = s->id;
	return is_new;
}

static __always_inline bool where_is_new(const struct file_where *w, struct dlt_file_id *id)
{
	__u32 magic = id_begin(w->inode, id);

	return id_is_elsewhere(magic) ? special_is_new(w->inode, w->dentry, magic, id) : !file_seen(id, id->gen);
}

static __always_inline void file_note(struct task_struct *task, struct file *file, const struct dlt_call *call,
				      __u32 tid, struct dlt_file_id *id)
{
	struct inode *inode = KLOAD(file, f_inode);
	__u32 magic = id_begin(inode, id);

	if (id_is_elsewhere(magic) ? special_is_new(inode, KLOAD(file, f_path.dentry), magic, id) :
				     !file_seen(id, id->gen))
		file_emit(task, file, call, tid);
}

#endif
