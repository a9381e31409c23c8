/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls about metadata: stat and its kin, lseek, fcntl and so on. They are many and short, so each is added to a sum by
 * process, call and folder, and only a long one has a row as well.
 *
 * The kernel holds no folder of a path when the call has ended, and none has ever been found where the call failed. So
 * a path's folder is known by a hash of the part that names it, and its name is sent with the first call. A
 * descriptor's is that of its file; a folder is its own.
 */
#include "file.bpf.h"

#include "calls/meta.bpf.h"

#define WORD 8

/*
 * What a call is about. In scratch, so that the verifier forgets by which way it was found; there, the path as passed
 * lies behind the space for a record's fixed part.
 */
struct subject {
	__u64 file; /* struct file * of the descriptor, where there is no path; 0: none */
	__u64 dentry, mnt; /* the folder that a path is relative to, or that of the file; 0: none */
	__u64 folder; /* hash of the folder; 0: none */
	__u32 path_len; /* with its NUL; 0: none */
	__u32 folder_len; /* of the path, the part that names the folder, with its last slash */
};
_Static_assert(sizeof(struct subject) == sizeof(((struct scratch *)0)->subject), "subject");
_Static_assert(sizeof(struct dlt_meta_key) == sizeof(((struct scratch *)0)->meta_key), "key");

static __always_inline struct subject *subject_of(struct scratch *s)
{
	return (struct subject *)s->subject;
}

static __always_inline struct dlt_meta_key *key_of(struct scratch *s)
{
	return (struct dlt_meta_key *)s->meta_key;
}

#define PATH_AT sizeof(struct dlt_meta)
_Static_assert(PATH_AT % WORD == 0, "the path is read as words");

/* Returns 0x80 in each byte of WORD that is a slash. */
static __always_inline __u64 slashes(__u64 word)
{
	const __u64 low = 0x7f7f7f7f7f7f7f7fULL, x = word ^ 0x2f2f2f2f2f2f2f2fULL;

	return ~(((x & low) + low) | x | low);
}

/*
 * Takes the words of the path in scratch from AT on into its hashes. Nonzero at the end. A global function is verified
 * once, not in each turn of a loop.
 */
#define WORDS 8
__noinline int path_words(__u32 at)
{
	struct scratch *s = scratch_get();
	__u64 hash, word, found;
	__u32 len, i;

	if (!s || at > DLT_PATH_MAX - WORDS * WORD)
		return 1;
	len = s->path.len;
	hash = s->path.hash;
	for (int n = 0; n < WORDS; n++, at += WORD) {
		if (at >= len)
			return 1;
		i = at;
		barrier_var(i); /* otherwise the verifier loses the bounds of the value */
		i &= DLT_PATH_MAX - WORD;
		word = *(const __u64 *)__builtin_assume_aligned(&s->rec[PATH_AT + i], WORD);
		if (len - at < WORD)
			word &= (1ULL << (len - at) * 8) - 1;
		found = slashes(word);
		if (found) {
			found |= found >> 8;
			found |= found >> 16;
			found |= found >> 32;
			found >>= 7; /* one in each byte up to the last slash */
			s->path.folder = mix(hash, word & found * 0xff);
			s->path.folder_len = at + (__u32)(found * 0x0101010101010101ULL >> 56);
		}
		hash = mix(hash, word);
	}
	s->path.hash = hash;
	return 0;
}

/* Takes all of the path from FROM on: global for the same reason. */
__noinline int path_words_from(__u32 from)
{
#pragma nounroll
	for (__u32 at = 0; at < DLT_PATH_MAX; at += WORDS * WORD)
		if (path_words(from + at))
			break;
	return 0;
}

/* Mixes the path in S up to its last slash into HASH, eight bytes at a time, and sets A's folder_len. */
static __always_inline __u64 path_hash(struct scratch *s, struct subject *a, __u64 hash)
{
	s->path.hash = s->path.folder = hash;
	s->path.len = a->path_len - 1;
	s->path.folder_len = 0;
	if (!path_words(0)) /* most paths are short */
		path_words_from(WORDS * WORD);
	a->folder_len = s->path.folder_len;
	return s->path.folder;
}

/* Returns ADDR as a number: the verifier allows no calculations with pointers that have a type, unless they were in a
 * map. */
static __always_inline __u64 number_of(struct scratch *s, __u64 addr)
{
	*(volatile __u64 *)&s->id_dentry = addr;
	return *(volatile __u64 *)&s->id_dentry;
}

static __always_inline __u64 folder_hash(struct scratch *s, __u64 dentry)
{
	struct dentry *d = KCAST(dentry, dentry);
	struct inode *inode = KLOAD(d, d_inode);

	/* an address may be another folder's later, not with this number */
	return mix(number_of(s, dentry), inode ? inode_ino(inode) : 0) | 1;
}

/* The folder of A's file: itself, where it is one; none for pipes, sockets and the like. */
static __always_inline void subject_file(struct subject *a, struct scratch *s)
{
	struct file *file = KCAST(file, a->file);
	struct inode *inode = KLOAD(file, f_inode);
	struct dentry *dentry = KLOAD(file, f_path.dentry);

	a->mnt = (__u64)KLOAD(file, f_path.mnt);
	if ((KLOAD(inode, i_mode) & MODE_FMT) == MODE_DIR) {
		a->dentry = (__u64)dentry;
	} else {
		a->dentry = (__u64)KLOAD(dentry, d_parent);
		if (a->dentry == (__u64)dentry)
			a->dentry = 0;
	}
	a->folder = a->dentry ? folder_hash(s, a->dentry) : 0;
}

/* The working directory. */
static __always_inline void subject_pwd(struct subject *a, struct fs_struct *fs)
{
	a->dentry = (__u64)KLOAD(fs, pwd.dentry);
	a->mnt = (__u64)KLOAD(fs, pwd.mnt);
}

/* The folder of the path in S, which is relative to DIRFD. */
static __always_inline void subject_path(struct subject *a, struct scratch *s, struct task_struct *task, __s32 dirfd)
{
	struct fs_struct *fs = KLOAD(task, fs);
	struct file *dir;
	__u64 hash;

	if (!fs)
		return;
	if (s->rec[PATH_AT] == '/') {
		hash = number_of(s, (__u64)KLOAD(fs, root.dentry));
	} else {
		if (dirfd == AT_FDCWD) {
			subject_pwd(a, fs);
		} else {
			dir = file_of_fd(task, dirfd);
			a->dentry = dir ? (__u64)KLOAD(dir, f_path.dentry) : 0;
			a->mnt = dir ? (__u64)KLOAD(dir, f_path.mnt) : 0;
		}
		hash = a->dentry ? folder_hash(s, a->dentry) : 0;
	}
	a->folder = path_hash(s, a, hash) | 1;
}

/* The path at ADDR goes to scratch: its length with the NUL, 0: it cannot be read. */
static __always_inline __u32 path_read(struct scratch *s, __u64 addr)
{
	long n = bpf_probe_read_user_str(&s->rec[PATH_AT], DLT_PATH_MAX, (void *)addr);

	if (n < 0 || n > DLT_PATH_MAX)
		return 0;
	return n ?: 1; /* 5.10 returns 0 for an empty string */
}

/*
 * Whether the path at ADDR is empty. fstat(fd) is fstatat(fd, "", AT_EMPTY_PATH): to read a byte takes half as long as
 * to read a string.
 */
static __always_inline bool path_is_empty(__u64 addr)
{
	char first = 1;

	return !bpf_probe_read_user(&first, sizeof(first), (void *)addr) && !first;
}

static __always_inline void subject_call(struct subject *a, struct scratch *s, struct task_struct *task,
					 const struct dlt_call *call, long ret)
{
	__u32 shape = call->shape & DLT_META_SHAPE;
	__u64 path = shape == DLT_META_AT ? call->args[1] : call->args[0];
	struct fs_struct *fs;

	if (shape == DLT_META_CHDIR && !ret) {
		fs = KLOAD(task, fs);
		if (!fs)
			return;
		subject_pwd(a, fs);
		a->folder = folder_hash(s, a->dentry);
		a->path_len = 2;
		s->rec[PATH_AT] = '.';
		s->rec[PATH_AT + 1] = '\0';
		return;
	}
	if (shape == DLT_META_AT && (__s32)call->args[0] != AT_FDCWD && path_is_empty(path))
		a->path_len = 1;
	else if (shape != DLT_META_FD)
		a->path_len = path_read(s, path);
	if (a->path_len > 1) {
		subject_path(a, s, task, shape == DLT_META_AT ? (__s32)call->args[0] : AT_FDCWD);
		return;
	}
	/* futimens(fd) has no path at all */
	if (shape != DLT_META_FD && (shape != DLT_META_AT || (path && !a->path_len)))
		return;
	a->path_len = 0;
	a->file = (__u64)file_of_fd(task, call->args[0]);
	if (a->file)
		subject_file(a, s);
}

/* Appends what the path is relative to, or the folder of the file. */
static __always_inline __u32 base_append(struct scratch *s, struct task_struct *task, const struct subject *a)
{
	return a->dentry ? folder_append(s, task, a->dentry, a->mnt) : 0;
}

/* --- sums --------------------------------------------------------------------------------------- */

/* Counts a call that is in no sum. */
static __noinline int count_no_room(void)
{
	struct dlt_stats *st = stats_of(DLT_meta_sums);

	if (st) {
		__sync_fetch_and_add(&st->seen, 1);
		__sync_fetch_and_add(&st->lost, 1);
		__sync_fetch_and_add(&st->lost_room, 1);
	}
	return 0;
}

static __noinline struct dlt_meta_cell *cell_make(const struct dlt_meta_key *key, __u64 start_ns)
{
	struct dlt_meta_cell cell = { .sent_at_ns = start_ns };

	if (!key)
		return NULL;
	bpf_get_current_comm(cell.comm, sizeof(cell.comm));
	bpf_map_update_elem(&dlt_meta_cells, key, &cell, BPF_NOEXIST); /* unless another thread has done so */
	return bpf_map_lookup_elem(&dlt_meta_cells, key);
}

static __always_inline bool has_failed(long ret)
{
	return ret < 0 && ret >= -4095;
}

static __always_inline void cell_add(volatile struct dlt_meta_cell *cell, long ret, __u64 ns)
{
	/* Threads of one process meet here from several CPUs. COUNT goes first: no row has more failures than calls. */
	__sync_fetch_and_add(&cell->count, 1);
	__sync_fetch_and_add(&cell->ns, ns);
	if (has_failed(ret)) {
		cell->error = -ret;
		__sync_fetch_and_add(&cell->failed, 1);
	}
	for (int i = 0; i < 4 && cell->max_ns < ns; i++) /* version 2 of the instructions has no compare and swap */
		cell->max_ns = ns;
}

/* Adds a call to what this CPU has for the key with TAG. Returns false where NEAR is not that key's. */
static __always_inline bool near_add(volatile struct dlt_meta_near *near, __u64 tag, __u64 ns)
{
	if (!near || near->tag != tag)
		return false;
	if (dlt_cfg.hold) { /* nobody else runs here meanwhile */
		near->count++;
		near->ns += ns;
	} else {
		__sync_fetch_and_add(&near->count, 1);
		__sync_fetch_and_add(&near->ns, ns);
	}
	if (near->max_ns < ns)
		near->max_ns = ns;
	return true;
}

/*
 * From the next call on the key with TAG uses NEAR, if that is free. Where programs interrupt each other, of those that
 * ask at once at most one sees that it is the first; there is no compare and swap.
 */
static __always_inline void near_take(volatile struct dlt_meta_near *near, __u64 tag)
{
	if (!near || near->claims)
		return;
	__sync_fetch_and_add(&near->claims, 1);
	if (near->claims == 1)
		near->tag = tag;
}

enum sum {
	SUM_NONE, /* there is no room */
	SUM_NAMED, /* the daemon knows its folder */
	SUM_UNNAMED,
};

/* Adds the call to the cell of the key in scratch. A global function: verified once, not after each way to the key. */
__noinline int sum_up(__u64 start_ns, __u64 ns, long ret)
{
	struct scratch *s = scratch_get();
	struct dlt_meta_cell *cell;

	if (!s)
		return SUM_NONE;
	cell = bpf_map_lookup_elem(&dlt_meta_cells, key_of(s));
	if (!cell)
		cell = cell_make(key_of(s), start_ns);
	if (!cell) {
		count_no_room();
		return SUM_NONE;
	}
	cell_add(cell, ret, ns);
	return cell->named ? SUM_NAMED : SUM_UNNAMED;
}

/*
 * Sends the name of the folder of the key in scratch, for thread TID's call. The path there is cut. Without room in the
 * ring the next call of this key tries again. Global, as what follows is.
 */
__noinline int folder_name_send(__u32 tid)
{
	struct task_struct *task = task_current();
	struct dlt_call *call = call_find(tid);
	struct scratch *s = scratch_get();
	struct dlt_meta_cell *cell;
	struct dlt_meta *rec;
	struct subject *a;
	__u32 len;

	if (!s || !call)
		return 0;
	a = subject_of(s);
	rec = (struct dlt_meta *)s->rec;
	len = a->folder_len;
	vrec_begin(s, call, task, tid, DLT_meta_sums, sizeof(*rec));
	rec->hdr.func = DLT_META_NAME;
	rec->key = *key_of(s);
	rec->segs.len[0] = rec->segs.len[1] = rec->segs.len[2] = rec->segs.len[3] = 0;
	if (!len) {
		s->rec[PATH_AT] = '.'; /* the folder that it is relative to */
		len = 1;
	}
	s->rec[PATH_AT + (len & (DLT_PATH_MAX - 1))] = '\0';
	rec->segs.len[0] = len + 1;
	s->used = PATH_AT + (len & (DLT_PATH_MAX - 1)) + 1;
	rec->segs.len[2] = base_append(s, task, a);
	if (!vrec_send())
		return 0;
	cell = bpf_map_lookup_elem(&dlt_meta_cells, key_of(s));
	if (cell)
		cell->named = 1;
	return 0;
}

/* --- rows --------------------------------------------------------------------------------------- */

static __always_inline __s64 fd_of(const struct dlt_call *call)
{
	const __u32 shape = call->shape & DLT_META_SHAPE;
	const __s32 fd = call->args[0];

	if (shape == DLT_META_FD)
		return fd;
	return shape == DLT_META_AT && fd != AT_FDCWD ? fd : DLT_NONE;
}

/* Sends the row of thread TID's call, whose key is in scratch. */
__noinline int row_send(__u32 tid, long ret)
{
	struct dlt_stats *st = stats_of(DLT_meta);
	struct task_struct *task = task_current();
	struct dlt_call *call = call_find(tid);
	struct scratch *s = scratch_get();
	struct dlt_file_id id = {};
	struct dlt_meta *rec;
	struct subject *a;

	if (!s || !call)
		return 0;
	a = subject_of(s);
	if (a->file)
		file_note(task, KCAST(file, a->file), call, tid, &id);
	rec = (struct dlt_meta *)s->rec;
	vrec_begin(s, call, task, tid, DLT_meta, sizeof(*rec));
	rec->key = *key_of(s);
	rec->id = id;
	rec->ret = ret;
	rec->fd = fd_of(call);
	rec->pad = 0;
	rec->segs.len[0] = a->path_len;
	rec->segs.len[1] = rec->segs.len[2] = rec->segs.len[3] = 0;
	s->used = PATH_AT + (a->path_len & (2 * DLT_PATH_MAX - 1));
	if (a->path_len)
		rec->segs.len[2] = base_append(s, task, a);
	if (!vrec_send())
		count_lost(DLT_meta);
	else if (st)
		st->emitted++;
	return 0;
}

/* The call has no row: it is only in the sums. */
static __always_inline void count_brief(void)
{
	struct dlt_stats *st = stats_of(DLT_meta);

	if (st)
		st->brief++;
}

static __always_inline __u64 request_of(const struct dlt_call *call)
{
	if (call->shape & DLT_META_IOCTL)
		return DLT_META_REQUEST(call->args[1]);
	return call->shape & DLT_META_FCNTL ? DLT_META_COMMAND(call->args[1]) : DLT_META_NO_REQUEST;
}

CALL_END(meta_exit)
{
	long ret = call_result(ctx);
	struct task_struct *task = task_current();
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);
	struct scratch *s = scratch_get();
	volatile struct dlt_meta_near *near;
	struct dlt_meta_key key;
	int sum = SUM_NONE;
	struct subject *a;
	__u64 ns, tag;

	if (!call || !s)
		return 0;
	ns = bpf_ktime_get_ns() - call->start_ns;
	a = subject_of(s);
	*a = (struct subject){};
	subject_call(a, s, task, call, ret);
	barrier(); /* what follows reads it from memory */
	key.folder = a->folder;
	key.request = request_of(call);
	key.tgid = call->tgid;
	key.func = call->func;
	*key_of(s) = key;
	tag = key_tag(&key);
	near = near_at(tag, bpf_get_smp_processor_id());
	if (traces(DLT_meta_sums) && (has_failed(ret) || !near_add(near, tag, ns))) {
		sum = sum_up(call->start_ns, ns, ret);
		if (sum == SUM_NAMED || (sum && !key.folder))
			near_take(near, tag);
	}
	if (traces(DLT_meta) && (dlt_cfg.meta_all || ns >= DLT_META_LONG_NS))
		row_send(tid, ret);
	else
		count_brief();
	if (sum == SUM_UNNAMED && key.folder)
		folder_name_send(tid);
	call_end(call, tid);
	return 0;
}
