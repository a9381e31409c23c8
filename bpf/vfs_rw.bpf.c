/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads and writes, one record per call and side (a call between two files has an R and a W). */
#include "file.bpf.h"

#include "dlt/vfs_rw.h"

#define O_APPEND 02000 /* asm-generic/fcntl.h */
#define RWF_NOAPPEND 0x20 /* linux/fs.h */

/* A descriptor's side of a call. */
struct side {
	struct dlt_file_id id;
	__s64 offset;
	__u32 fd;
	__u32 f_flags;
};

/*
 * Look at FD at the end of a call that moved RET bytes. OFFSET: where it began if the call said so;
 * DLT_NONE: the file's own position, less RET.
 */
static __always_inline void side_look(struct side *side, struct task_struct *task,
				      const struct dlt_call *call, __u32 tid, __u32 fd, __s64 offset,
				      long ret)
{
	struct file *file = file_of_fd(task, fd);
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
	/* eventfd, /dev/zero: seekable in name only, their position does not move */
	if (offset == DLT_NONE && side->offset < 0)
		side->offset = DLT_NONE;
}

static __always_inline void rw_fill(struct dlt_vfs_rw *rec, const struct side *side, __u32 dir,
				    __u64 requested, __u32 extra_flags, __s64 disk_bytes, __s64 ret)
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

/* What the call made the kernel fetch from disk: charged to the task when a bio is submitted. */
static __always_inline __s64 disk_bytes_of(struct task_struct *task, const struct dlt_call *call)
{
	if (!bpf_core_field_exists(task->ioac.read_bytes))
		return DLT_NONE;
	return KLOAD(task, ioac.read_bytes) - call->disk_bytes;
}

/* RWF_* (linux/fs.h) as the open flags that mean the same. */
static __always_inline __u32 rwf_flags(__u64 rwf)
{
	return (rwf & 2 ? 010000 /* RWF_DSYNC: O_DSYNC */ : 0) |
	       (rwf & 4 ? 04010000 /* RWF_SYNC: O_SYNC */ : 0) |
	       (rwf & 8 ? DLT_RW_NOWAIT : 0) | (rwf & 16 ? O_APPEND /* RWF_APPEND */ : 0);
}

/*
 * Where a write of RET bytes with a position began that went to the file's end all the same
 * (pwrite(2), BUGS): no position tells, the size does.
 */
static __always_inline __s64 appended_at(struct task_struct *task, __u32 fd, long ret)
{
	struct file *file = file_of_fd(task, fd);
	struct inode *inode;

	if (!file)
		return DLT_NONE;
	inode = KLOAD(file, f_inode);
	return KLOAD(inode, i_size) - ret;
}

/* The row of a call on one descriptor, its first argument. */
static __always_inline void rw_send(struct task_struct *task, struct dlt_call *call, __u32 tid,
				    __u64 requested, __s64 offset, __u32 extra_flags, long ret)
{
	struct dlt_vfs_rw *rec;
	struct side side;

	side_look(&side, task, call, tid, call->args[0], offset, ret);
	if (ret > 0 && offset != DLT_NONE && call->shape & DLT_RW_WRITE &&
	    (side.f_flags | extra_flags) & O_APPEND &&
	    !(call->shape & DLT_RW_RWF && call->args[5] & RWF_NOAPPEND))
		side.offset = appended_at(task, call->args[0], ret);
	rec = rec_reserve(DLT_vfs_rw, sizeof(*rec), false);
	if (rec) {
		rw_fill(rec, &side, call->shape & DLT_RW_WRITE ? DLT_RW_W : DLT_RW_R, requested,
			extra_flags, disk_bytes_of(task, call), ret);
		hdr_fill(&rec->hdr, call, task, tid, sizeof(*rec));
		rec_submit(rec, DLT_vfs_rw);
	}
	call_end(call, tid);
}

CALL_END(rw_exit)
{
	long ret = call_result(ctx);
	struct task_struct *task = task_current();
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);
	__s64 offset = DLT_NONE;

	if (!call)
		return 0;
	if (call->shape & DLT_RW_POS)
		offset = call->args[3];
	rw_send(task, call, tid, call->args[2], offset, 0, ret);
	return 0;
}

/*
 * The sum of the lengths of an iovec: the kernel copied it in, so at the call's end it is there. Two
 * global functions, verified once each: as one loop it took the verifier 85 ms at each caller.
 */
#define IOV_BATCH 8 /* more would be too much stack, with the callers' */
__noinline __u64 iov_batch_bytes(__u64 addr, __u64 n)
{
	struct iovec iov[IOV_BATCH] = {};
	__u64 sum = 0;

	if (n > IOV_BATCH)
		n = IOV_BATCH;
	if (bpf_probe_read_user(iov, n * sizeof(iov[0]), (void *)addr))
		return 0;
	for (int i = 0; i < IOV_BATCH; i++)
		sum += iov[i].iov_len;
	return sum;
}

__noinline __u64 iov_bytes(__u64 addr, __u64 count)
{
	__u64 sum = 0, i;

	if (count > DLT_IOVS_MAX)
		return 0; /* refused by the kernel (EINVAL) */
	for (i = 0; i < DLT_IOVS_MAX && i < count; i += IOV_BATCH)
		sum += iov_batch_bytes(addr + i * sizeof(struct iovec), count - i);
	return sum;
}

CALL_END(rw_vec_exit)
{
	long ret = call_result(ctx);
	struct task_struct *task = task_current();
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);
	__s64 offset = DLT_NONE;
	__u32 flags = 0;

	if (!call)
		return 0;
	if (call->shape & DLT_RW_POS)
		offset = call->args[3];
	if (call->shape & DLT_RW_RWF) {
		flags = rwf_flags(call->args[5]);
		if (offset == -1)
			offset = DLT_NONE;
	}
	rw_send(task, call, tid, iov_bytes(call->args[1], call->args[2]), offset, flags, ret);
	return 0;
}

/* Where a call between two files began: its position argument less what was moved, or the file's. */
static __always_inline __s64 begin_at(__u64 pos_addr, long ret)
{
	__s64 pos;

	if (!pos_addr || bpf_probe_read_user(&pos, sizeof(pos), (void *)pos_addr))
		return DLT_NONE;
	return pos - (ret > 0 ? ret : 0);
}

/* sendfile, splice, copy_file_range: the source's row, then the destination's. */
CALL_END(rw_copy_exit)
{
	long ret = call_result(ctx);
	struct task_struct *task = task_current();
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);
	__u64 from, to, len, from_pos, to_pos;
	struct dlt_vfs_rw_pair *rec;
	struct side in, out;

	if (!call)
		return 0;
	if (call->shape == DLT_RW_SENDFILE) { /* out, in, offset, count */
		from = call->args[1];
		to = call->args[0];
		from_pos = call->args[2];
		to_pos = 0;
		len = call->args[3];
	} else { /* in, off_in, out, off_out, len, flags */
		from = call->args[0];
		from_pos = call->args[1];
		to = call->args[2];
		to_pos = call->args[3];
		len = call->args[4];
	}
	side_look(&in, task, call, tid, from, begin_at(from_pos, ret), ret);
	side_look(&out, task, call, tid, to, begin_at(to_pos, ret), ret);
	rec = rec_reserve(DLT_vfs_rw, sizeof(*rec), false);
	if (rec) {
		rw_fill(&rec->from, &in, DLT_RW_R, len, 0, disk_bytes_of(task, call), ret);
		rw_fill(&rec->to, &out, DLT_RW_W, len, 0, DLT_NONE, ret);
		hdr_fill(&rec->from.hdr, call, task, tid, sizeof(*rec));
		__builtin_memcpy(&rec->to.hdr, &rec->from.hdr, sizeof(rec->to.hdr));
		rec_submit(rec, DLT_vfs_rw);
	} else {
		count_row_lost(DLT_vfs_rw);
	}
	call_end(call, tid);
	return 0;
}

/* --- libaio: io_submit ------------------------------------------------------------------------- */

/* A row for element I of the list at IOCBPP: 0, or 1 when it cannot be read or sent. */
__noinline int iocb_row(__u64 iocbpp, __u32 i)
{
	struct task_struct *task = task_current();
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);
	struct dlt_vfs_rw *rec;
	struct iocb iocb;
	struct side side;
	__u64 addr = 0, bytes;
	__u32 op, dir;
	void *ring;

	if (!call || bpf_probe_read_user(&addr, sizeof(addr), (void *)(iocbpp + 8ULL * i)) ||
	    bpf_probe_read_user(&iocb, sizeof(iocb), (void *)addr))
		return 1;
	op = iocb.aio_lio_opcode;
	dir = op == IOCB_CMD_PREAD || op == IOCB_CMD_PREADV ? DLT_RW_R :
	      op == IOCB_CMD_PWRITE || op == IOCB_CMD_PWRITEV ? DLT_RW_W : DLT_RW_NEITHER;
	bytes = op >= IOCB_CMD_PREADV ? iov_bytes(iocb.aio_buf, iocb.aio_nbytes) : iocb.aio_nbytes;
	side_look(&side, task, call, tid, iocb.aio_fildes, iocb.aio_offset, 0);
	ring = ring_here();
	if (!ring || ring_crowded(ring))
		return 1;
	rec = bpf_ringbuf_reserve(ring, sizeof(*rec), 0);
	if (!rec)
		return 1;
	rw_fill(rec, &side, dir, bytes, rwf_flags(iocb.aio_rw_flags), DLT_NONE, DLT_NONE);
	hdr_fill(&rec->hdr, call, task, tid, sizeof(*rec));
	rec->hdr.func += 1 + (op < DLT_IOCB_OPS ? op : DLT_IOCB_OPS);
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return 0;
}

/*
 * One row per iocb that the kernel took; their results come by io_getevents and are not known here.
 * One call in the counters: rows beyond what could be sent are counted apart.
 */
CALL_END(io_submit_exit)
{
	long ret = call_result(ctx);
	struct task_struct *task = task_current();
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_stats *st = stats_of(DLT_vfs_rw);
	struct dlt_call *call = call_find(tid);
	struct dlt_vfs_rw *rec;
	struct side side = {};
	__u32 sent = 0;

	if (!call || !st)
		return 0;
	if (ret > 0) {
		for (; sent < DLT_IOCBS_MAX && sent < ret; sent++)
			if (iocb_row(call->args[2], sent))
				break;
		if (sent)
			st->emitted++;
		else
			st->lost++;
		st->rows_lost += ret - sent - !sent;
	} else {
		rec = rec_reserve(DLT_vfs_rw, sizeof(*rec), false);
		if (rec) {
			side.offset = DLT_NONE;
			rw_fill(rec, &side, DLT_RW_NEITHER, 0, 0, DLT_NONE, ret);
			rec->fd = -1;
			hdr_fill(&rec->hdr, call, task, tid, sizeof(*rec));
			rec_submit(rec, DLT_vfs_rw);
		}
	}
	call_end(call, tid);
	return 0;
}
