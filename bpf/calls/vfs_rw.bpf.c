/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads and writes, one record per call and side (a call between two files has an R and a W). */
#include "cache/cache_call.bpf.h"
#include "calls/printed.bpf.h"
#include "calls/rw_add.bpf.h"
#include "net/net.bpf.h"

/*
 * Returns the bytes that the call made the kernel fetch from the disk: they are charged to the task when a bio is
 * submitted.
 */
static __always_inline __s64 disk_bytes_of(struct task_struct *task, const struct dlt_call *call)
{
	if (!bpf_core_field_exists(task->ioac.read_bytes))
		return DLT_NONE;
	return KLOAD(task, ioac.read_bytes) - call->disk_bytes;
}

/* Counts for net, too, what a call on the socket FD, whose file is FILE, has done. FLAGS: DLT_NET_BUFFER or none. */
static __always_inline void net_touch(struct file *file, __u64 fd, bool write, __u32 flags, long ret)
{
	if (traces(DLT_net) && file && file_is_socket(file))
		net_used(fd, (write ? DLT_NET_W : DLT_NET_R) | flags, ret > 0 ? ret : 0, ret);
}

/* The row of a call on one descriptor, its first argument. */
static __always_inline void rw_send(struct task_struct *task, struct dlt_call *call, __u32 tid, __u64 requested,
				    __s64 offset, __u32 extra_flags, long ret)
{
	struct file *file = file_of_fd(task, call->args[0]);
	struct dlt_vfs_rw *rec;
	struct side side;

	side_look(&side, task, file, call, tid, call->args[0], offset, ret);
	if (ret > 0 && offset != DLT_NONE && call->shape & DLT_RW_WRITE && (side.f_flags | extra_flags) & O_APPEND &&
	    !(call->shape & DLT_RW_RWF && call->args[5] & RWF_NOAPPEND))
		side.offset = appended_at(file, ret);
	cache_touch(file, &side.id, side.f_flags, side.offset, ret, call->start_ns, call->shape & DLT_RW_WRITE);
	if (rw_summed(call, file, &side, extra_flags, disk_bytes_of(task, call), ret))
		rec = NULL;
	else
		rec = rec_reserve(DLT_vfs_rw, sizeof(*rec), false);
	if (rec) {
		rw_fill(rec, &side, call->shape & DLT_RW_WRITE ? DLT_RW_W : DLT_RW_R, requested, extra_flags,
			disk_bytes_of(task, call), ret);
		hdr_fill(&rec->hdr, call, task, tid, sizeof(*rec));
		rec_submit(rec, DLT_vfs_rw);
	}
	net_touch(file, call->args[0], call->shape & DLT_RW_WRITE, call->shape & DLT_RW_VEC ? 0 : DLT_NET_BUFFER, ret);
	call_end(call, tid);
}

/* Calls on one buffer, and on vectors of them: one program, as the verifier goes through each one's functions. */
CALL_END(rw_exit)
{
	long ret = call_result(ctx);
	struct task_struct *task = task_current();
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);
	__s64 offset = DLT_NONE;
	__u64 requested;
	__u32 flags = 0;

	if (!call)
		return 0;
	if (call->shape & DLT_RW_POS)
		offset = call->args[3];
	if (call->shape & DLT_RW_VEC) {
		if (call->shape & DLT_RW_RWF) {
			flags = rwf_flags(call->args[5]);
			if (offset == -1)
				offset = DLT_NONE;
		}
		printed_note_vec(call, ret);
		requested = iov_bytes(call->args[1], call->args[2]);
	} else {
		printed_note(call, ret);
		requested = call->args[2];
	}
	rw_send(task, call, tid, requested, offset, flags, ret);
	return 0;
}

/* Returns where a call between two files began: its position argument less the bytes moved, or the file's. */
static __always_inline __s64 begin_at(__u64 pos_addr, long ret)
{
	__s64 pos;

	if (!pos_addr || bpf_probe_read_user(&pos, sizeof(pos), (void *)pos_addr))
		return DLT_NONE;
	return pos - (ret > 0 ? ret : 0);
}

/*
 * The source's row, then the destination's. A function, as what it has on the stack and what net_used() needs do not
 * fit together.
 */
static __noinline int copied(struct dlt_call *call, struct task_struct *task, long ret)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	__u64 from, to, len, from_pos, to_pos;
	struct dlt_vfs_rw_pair *rec;
	struct side in, out;
	struct file *file;
	__s64 moved;

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
	moved = cached_of_copy(call->shape == DLT_RW_COPY_RANGE, to, ret);
	file = file_of_fd(task, from);
	side_look(&in, task, file, call, tid, from, begin_at(from_pos, ret), ret);
	cache_touch(file, &in.id, in.f_flags, in.offset, moved, call->start_ns, false);
	file = file_of_fd(task, to);
	side_look(&out, task, file, call, tid, to, begin_at(to_pos, ret), ret);
	cache_touch(file, &out.id, out.f_flags, out.offset, moved, call->start_ns, true);
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
	return 0;
}

/* sendfile, splice, copy_file_range */
CALL_END(rw_copy_exit)
{
	long ret = call_result(ctx);
	struct task_struct *task = task_current();
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);
	__u64 from, to;

	if (!call)
		return 0;
	copied(call, task, ret);
	from = call->args[call->shape == DLT_RW_SENDFILE];
	to = call->args[call->shape == DLT_RW_SENDFILE ? 0 : 2];
	net_touch(file_of_fd(task, from), from, false, 0, ret);
	net_touch(file_of_fd(task, to), to, true, 0, ret);
	call_end(call, tid);
	return 0;
}

/* --- libaio: a row for each iocb, when a call reaps its event ------------------------------------ */

/*
 * Iocbs in flight, and events reaped before their io_submit has returned. Shared: different objects may see the
 * submission and the reaping (dispatcher.h).
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct dlt_aio_key);
	__type(value, struct dlt_aio);
} dlt_aios SEC(".maps");

static __noinline int aio_send(const struct dlt_aio *aio, __s64 res)
{
	struct dlt_vfs_rw *rec = rec_reserve(DLT_vfs_rw, sizeof(*rec), false);

	if (!rec)
		return 0;
	__builtin_memcpy(rec, &aio->rec, sizeof(*rec));
	rec->returned = res;
	rec->hdr.ts_ns = bpf_ktime_get_ns();
	rec->hdr.lat_ns = rec->hdr.ts_ns - aio->start_ns;
	rec_submit(rec, DLT_vfs_rw);
	return 0;
}

/*
 * AIO, which CALL has submitted, waits for its event; unless another thread has reaped it before the submitting call
 * ended, or is reaping it right now.
 */
static __always_inline void aio_begin(struct dlt_aio *aio, const struct dlt_aio_key *key, const struct dlt_call *call)
{
	struct dlt_aio *old;
	__s64 res;

	if (!bpf_map_update_elem(&dlt_aios, key, aio, BPF_NOEXIST))
		return;
	old = bpf_map_lookup_elem(&dlt_aios, key);
	if (!old) { /* no room */
		aio_send(aio, DLT_NONE);
		return;
	}
	if (old->early_ns >= call->start_ns) {
		res = old->res;
		bpf_map_delete_elem(&dlt_aios, key);
		aio_send(aio, res);
		return;
	}
	if (!old->early_ns) /* it was reaped from the ring in memory: otherwise its iocb would not be in use again */
		aio_send(old, DLT_NONE);
	bpf_map_update_elem(&dlt_aios, key, aio, BPF_ANY);
}

/* Notes element I of the list at IOCBPP as in flight. Returns 0, or 1 when it cannot be read. */
__noinline int iocb_begin(__u64 iocbpp, __u32 i)
{
	struct task_struct *task = task_current();
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);
	struct scratch *s = scratch_get();
	struct dlt_aio_key key = {};
	struct dlt_aio *aio;
	struct file *file;
	struct iocb iocb;
	struct side side;
	__u32 op, dir;
	__u64 len;

	if (!call || !s || bpf_probe_read_user(&key.iocb, sizeof(key.iocb), (void *)(iocbpp + 8ULL * i)) ||
	    bpf_probe_read_user(&iocb, sizeof(iocb), (void *)key.iocb))
		return 1;
	op = iocb.aio_lio_opcode;
	if (op == IOCB_CMD_PREAD || op == IOCB_CMD_PREADV)
		dir = DLT_RW_R;
	else
		dir = op == IOCB_CMD_PWRITE || op == IOCB_CMD_PWRITEV ? DLT_RW_W : DLT_RW_NEITHER;
	file = file_of_fd(task, iocb.aio_fildes);
	side_look(&side, task, file, call, tid, iocb.aio_fildes, iocb.aio_offset, 0);
	if (dir == DLT_RW_W && (side.f_flags | rwf_flags(iocb.aio_rw_flags)) & O_APPEND &&
	    !(iocb.aio_rw_flags & RWF_NOAPPEND))
		side.offset = DLT_NONE; /* at the end of the file, wherever that was */
	len = op >= IOCB_CMD_PREADV ? iov_bytes(iocb.aio_buf, iocb.aio_nbytes) : iocb.aio_nbytes;
	/* with the page cache all of it is done by now, except what is beyond the end of the file */
	if (dir != DLT_RW_NEITHER && len != DLT_NO_SIZE)
		cache_touch(file, &side.id, side.f_flags, side.offset, cache_inside(file, side.offset, len), 0,
			    dir == DLT_RW_W);
	/* in scratch, which has already been used for the names of files: it is too large for the stack */
	aio = (struct dlt_aio *)s->rec;
	rw_fill(&aio->rec, &side, dir, len, rwf_flags(iocb.aio_rw_flags), DLT_NONE, DLT_UNKNOWN);
	hdr_fill(&aio->rec.hdr, call, task, tid, sizeof(aio->rec));
	aio->rec.hdr.func += 1 + (op < DLT_IOCB_OPS ? op : DLT_IOCB_OPS);
	aio->start_ns = call->start_ns;
	aio->early_ns = 0;
	aio->res = 0;
	key.ctx = call->args[0];
	key.tgid = call->tgid;
	aio_begin(aio, &key, call);
	return 0;
}

/* Loops as global functions, here and below: a loop of a thousand turns takes the verifier long. */
#define AIO_BATCH 32

/* Notes the elements from FROM to TO, at most a batch. Returns how many of them were lost. */
__noinline int iocbs_begin(__u64 iocbpp, __u32 from, __u32 to)
{
	int lost = 0;

	for (__u32 i = 0; i < AIO_BATCH && from + i < to; i++)
		lost += iocb_begin(iocbpp, from + i);
	return lost;
}

/* Each iocb that the kernel accepted counts as an operation; a call without any has a row of its own. */
CALL_END(io_submit_exit)
{
	long ret = call_result(ctx);
	struct task_struct *task = task_current();
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_stats *st = stats_of(DLT_vfs_rw);
	struct dlt_call *call = call_find(tid);
	struct dlt_vfs_rw *rec;
	struct side side = {};
	__u32 i, lost;

	if (!call || !st)
		return 0;
	if (ret > 0) {
		if (ret > DLT_IOCBS_MAX) {
			st->lost += ret - DLT_IOCBS_MAX;
			st->lost_room += ret - DLT_IOCBS_MAX;
		}
		st->seen += ret - 1;
		for (i = 0; i < DLT_IOCBS_MAX && i < ret; i += AIO_BATCH) {
			lost = iocbs_begin(call->args[2], i, ret < DLT_IOCBS_MAX ? ret : DLT_IOCBS_MAX);
			st->lost += lost;
			st->lost_unseen += lost; /* the program has taken its memory away */
		}
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

/* Handles the reaped event at ADDR. */
__noinline int event_reaped(__u64 addr)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);
	struct scratch *s = scratch_get();
	struct dlt_aio_key key = {};
	struct dlt_aio *aio;
	__u64 event[4]; /* struct io_event, linux/aio_abi.h: data, obj, res, res2 */

	if (!call || !s || bpf_probe_read_user(event, sizeof(event), (void *)addr))
		return 1;
	key.iocb = event[1];
	key.ctx = call->args[0];
	key.tgid = call->tgid;
	aio = (struct dlt_aio *)s->rec;
	__builtin_memset(aio, 0, sizeof(*aio));
	aio->early_ns = bpf_ktime_get_ns();
	aio->res = event[2];
	if (!bpf_map_update_elem(&dlt_aios, &key, aio, BPF_NOEXIST))
		return 0; /* its io_submit has not returned yet, or it is from before the trace */
	aio = bpf_map_lookup_elem(&dlt_aios, &key);
	if (aio && !aio->early_ns) {
		aio_send(aio, event[2]);
		bpf_map_delete_elem(&dlt_aios, &key);
	} else {
		bpf_map_update_elem(&dlt_aios, &key, s->rec, BPF_ANY);
	}
	return 0;
}

__noinline int events_reaped(__u64 events, __u32 from, __u32 to)
{
	for (__u32 i = 0; i < AIO_BATCH && from + i < to; i++)
		event_reaped(events + 32ULL * (from + i));
	return 0;
}

__noinline int events_reaped_all(__u64 events, __u32 n)
{
#pragma nounroll
	for (__u32 i = 0; i < DLT_IOCBS_MAX && i < n; i += AIO_BATCH)
		events_reaped(events, i, n < DLT_IOCBS_MAX ? n : DLT_IOCBS_MAX);
	return 0;
}

/* io_getevents, io_pgetevents: no row of their own. */
CALL_END(aio_reap_exit)
{
	long ret = call_result(ctx);
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);

	if (!call)
		return 0;
	if (ret > 0)
		events_reaped_all(call->args[3], ret);
	call_end(call, tid);
	return 0;
}
