/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of vfs_rw: a descriptor's side of a read or write, by system call or io_uring. */
#ifndef RW_BPF_H
#define RW_BPF_H

#include "file.bpf.h"
#include "dlt/vfs_rw.h"

#define O_APPEND 02000 /* asm-generic/fcntl.h */
#define RWF_NOAPPEND 0x20 /* linux/fs.h */

/* A descriptor's side of a call. */
struct side {
	struct dlt_file_id id;
	__s64 offset;
	__s32 fd;
	__u32 f_flags;
};

/*
 * Looks at FILE, which may be NULL, at the end of a call that moved RET bytes. OFFSET: where it began if that was an
 * argument; DLT_NONE: at the file's own position, less RET.
 */
static __always_inline void side_look(struct side *side, struct task_struct *task, struct file *file,
				      const struct dlt_call *call, __u32 tid, __s32 fd, __s64 offset, long ret)
{
	__s64 moved = ret > 0 ? ret : 0;

	side->id = (struct dlt_file_id){};
	side->fd = fd;
	side->f_flags = 0;
	side->offset = DLT_NONE;
	if (!file)
		return;
	file_note(task, file, call, tid, &side->id);
	side->f_flags = KLOAD(file, f_flags);
	if (!(KLOAD(file, f_mode) & FMODE_LSEEK))
		return; /* pipes, sockets, terminals */
	side->offset = offset != DLT_NONE ? offset : KLOAD(file, f_pos) - moved;
	/* eventfd, /dev/zero: seekable in name only, their position never moves */
	if (offset == DLT_NONE && side->offset < 0)
		side->offset = DLT_NONE;
}

static __always_inline void rw_fill(struct dlt_vfs_rw *rec, const struct side *side, __u32 dir, __u64 requested,
				    __u32 extra_flags, __s64 disk_bytes, __s64 ret)
{
	rec->id = side->id;
	rec->returned = ret;
	rec->requested = requested;
	rec->offset = side->offset;
	rec->disk_bytes = disk_bytes;
	rec->fd = side->fd;
	rec->f_flags = side->f_flags | extra_flags;
	rec->dir = dir;
	rec->pad = 0;
}

/* Returns RWF_* (linux/fs.h) as the equivalent open flags. */
static __always_inline __u32 rwf_flags(__u64 rwf)
{
	return (rwf & 2 ? 010000 /* RWF_DSYNC: O_DSYNC */ : 0) | (rwf & 4 ? 04010000 /* RWF_SYNC: O_SYNC */ : 0) |
	       (rwf & 8 ? DLT_RW_NOWAIT : 0) | (rwf & 16 ? O_APPEND /* RWF_APPEND */ : 0);
}

/*
 * Returns where a write of RET bytes began that had a position but appended nevertheless (pwrite(2), BUGS): the
 * position is wrong, so this goes by the file's size.
 */
static __always_inline __s64 appended_at(struct file *file, long ret)
{
	struct inode *inode;

	if (!file)
		return DLT_NONE;
	inode = KLOAD(file, f_inode);
	return KLOAD(inode, i_size) - ret;
}

/*
 * Returns the sum of the lengths of an iovec. The kernel has copied it, so its page is nearly always there at the
 * call's end; DLT_NO_SIZE where it is not: the program has changed its mappings meanwhile, or NUMA balancing hides the
 * page. Three global functions, verified once each: as a single loop it took the verifier 85 ms at each caller.
 */
#define IOV_BATCH 8 /* a larger one would exceed the stack, which includes the callers' */
__noinline __u64 iov_batch_bytes(__u64 addr, __u64 n)
{
	struct iovec iov[IOV_BATCH] = {};
	__u64 sum = 0;

	if (n > IOV_BATCH)
		n = IOV_BATCH;
	if (bpf_probe_read_user(iov, n * sizeof(iov[0]), (void *)addr))
		return DLT_NO_SIZE;
	for (int i = 0; i < IOV_BATCH; i++)
		sum += iov[i].iov_len;
	return sum;
}

#define IOV_BATCHES 16
__noinline __u64 iov_batches_bytes(__u64 addr, __u64 n)
{
	__u64 sum = 0, bytes;

#pragma nounroll
	for (int turn = 0; turn < IOV_BATCHES; turn++) {
		bytes = iov_batch_bytes(addr, n);
		if (bytes == DLT_NO_SIZE)
			return DLT_NO_SIZE;
		sum += bytes;
		if (n <= IOV_BATCH)
			break;
		n -= IOV_BATCH;
		addr += IOV_BATCH * sizeof(struct iovec);
	}
	return sum;
}

#define IOVS_AT_ONCE (IOV_BATCHES * IOV_BATCH)
__noinline __u64 iov_bytes(__u64 addr, __u64 count)
{
	__u64 sum = 0, bytes;

	if (!count || count > DLT_IOVS_MAX)
		return 0; /* refused by the kernel (EINVAL) */
#pragma nounroll
	for (int turn = 0; turn < DLT_IOVS_MAX / IOVS_AT_ONCE; turn++) {
		bytes = iov_batches_bytes(addr, count);
		if (bytes == DLT_NO_SIZE)
			return DLT_NO_SIZE;
		sum += bytes;
		if (count <= IOVS_AT_ONCE)
			break;
		count -= IOVS_AT_ONCE;
		addr += IOVS_AT_ONCE * sizeof(struct iovec);
	}
	return sum;
}

#endif
