/* SPDX-License-Identifier: BSD-2-Clause */
/* An io_uring request: its parameters are noted when the kernel accepts it. */
#ifndef IO_URING_START_BPF_H
#define IO_URING_START_BPF_H

#include "cache/cache_call.bpf.h"
#include "calls/rw.bpf.h"
#include "io_uring/io_uring.bpf.h"
#include "dlt/create_del.h"
#include "dlt/io_uring.h"
#include "dlt/open.h"
#include "dlt/sync.h"

const volatile struct dlt_uring_op ops[DLT_URING_OPS] = {};
const volatile __u8 fdatasync_func = 0;

/* Found by the address of the request. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, __u64);
	__type(value, struct dlt_uring_req);
} requests SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, char[DLT_URING_SHORT_BYTES]);
} short_records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, __u64);
	__type(value, char[DLT_URING_LONG_BYTES]);
} long_records SEC(".maps");

/* Keeps the record in scratch for request KEY. Returns false when there is no room, and the request counts as lost. */
static __noinline bool record_keep(struct scratch *s, struct dlt_uring_req *req, __u64 key)
{
	req->rec_used = s->used;
	if (s->used <= DLT_URING_SHORT_BYTES && !bpf_map_update_elem(&short_records, &key, s->rec, BPF_ANY)) {
		req->flags |= DLT_URING_SHORT;
		return true;
	}
	if (s->used <= DLT_URING_LONG_BYTES && !bpf_map_update_elem(&long_records, &key, s->rec, BPF_ANY)) {
		req->flags |= DLT_URING_LONG;
		return true;
	}
	return false;
}

/* Keeps the parameters of an open; its results come with the completion. */
static __noinline bool open_keep(struct dlt_uring_req *req, const struct uring_sqe *sqe, __u64 key)
{
	struct scratch *s = scratch_get();
	struct dlt_open *rec;
	__u64 how[2];

	if (!s)
		return false;
	rec = (struct dlt_open *)s->rec;
	__builtin_memset(rec, 0, sizeof(*rec));
	vrec_begin(s, &req->call, task_current(), req->call.tid, DLT_open, sizeof(*rec));
	rec->hdr.size = sizeof(*rec);
	rec->ret = DLT_UNKNOWN;
	rec->vfs_lat_ns = DLT_NONE;
	rec->flags = sqe->op_flags;
	rec->mode = (__u16)sqe->len;
	if (sqe->opcode == OP_OPENAT2) {
		rec->flags = rec->mode = DLT_NONE;
		if (!bpf_probe_read_user(how, sizeof(how), (void *)sqe->off)) {
			rec->flags = how[0];
			rec->mode = how[1];
		}
	}
	if (!(rec->flags & O_MAKES_FILE))
		rec->mode = DLT_NONE;
	rec->segs.len[0] = user_append(s, sqe->addr);
	return record_keep(s, req, key);
}

static __always_inline bool is_relative(const char *rec, __u32 at, __u32 len)
{
	return len && rec[at & (2 * DLT_PATH_MAX - 1)] != '/';
}

/* Appends the folders that the paths in scratch are relative to. */
static __always_inline void folders_append(struct scratch *s, struct task_struct *task, __s32 fd, __s32 fd2)
{
	struct dlt_create_del *rec = (struct dlt_create_del *)s->rec;
	__u32 at = sizeof(*rec);

	if (is_relative(s->rec, at, rec->segs.len[0]))
		rec->segs.len[2] = dir_append(s, task, fd);
	at += rec->segs.len[0];
	if (rec->segs.len[3] != DLT_SEG_VERBATIM && is_relative(s->rec, at, rec->segs.len[1]))
		rec->segs.len[3] = dir_append(s, task, fd2);
}

/* Keeps the parameters of create_del's operations. */
static __noinline bool create_del_keep(struct dlt_uring_req *req, const struct uring_sqe *sqe, __u64 key)
{
	bool two = sqe->opcode != OP_MKDIRAT && sqe->opcode != OP_UNLINKAT;
	struct scratch *s = scratch_get();
	struct dlt_create_del *rec;

	if (!s)
		return false;
	rec = (struct dlt_create_del *)s->rec;
	__builtin_memset(rec, 0, sizeof(*rec));
	vrec_begin(s, &req->call, task_current(), req->call.tid, DLT_create_del, sizeof(*rec));
	rec->hdr.size = sizeof(*rec);
	rec->ret = DLT_UNKNOWN;
	rec->view = view_of(task_current());
	rec->mode = sqe->opcode == OP_MKDIRAT ? (__s64)(__u16)sqe->len : DLT_NONE;
	rec->flags = sqe->opcode == OP_MKDIRAT || sqe->opcode == OP_SYMLINKAT ? DLT_NONE : sqe->op_flags;
	if (sqe->opcode == OP_SYMLINKAT) { /* addr: the text; addr2, fd: the new name */
		rec->segs.len[0] = user_append(s, sqe->off);
		rec->segs.len[1] = user_append(s, sqe->addr);
		rec->segs.len[3] = DLT_SEG_VERBATIM;
	} else {
		rec->segs.len[0] = user_append(s, sqe->addr);
		rec->segs.len[1] = two ? user_append(s, sqe->off) : 0;
	}
	req->call.args[0] = sqe->fd;
	req->call.args[2] = sqe->len; /* rename, link: the second folder */
	if (req->flags & DLT_URING_SKIP) /* its end may be seen late, see below */
		folders_append(s, task_current(), sqe->fd, (__s32)sqe->len);
	return record_keep(s, req, key);
}

static __always_inline bool appends(const struct dlt_call *call, struct file *file)
{
	return call->shape & DLT_RW_WRITE && !(call->args[5] & RWF_NOAPPEND) &&
	       (KLOAD(file, f_flags) | rwf_flags(call->args[5])) & O_APPEND;
}

static __always_inline void sync_fill(struct dlt_sync *rec, const struct dlt_uring_req *req,
				      const struct dlt_file_id *id, __s64 res)
{
	const struct dlt_call *call = &req->call;

	rec->id = *id;
	rec->segs.len[0] = rec->segs.len[1] = rec->segs.len[2] = rec->segs.len[3] = 0;
	rec->ret = res;
	rec->fd = req->flags & DLT_URING_FIXED ? DLT_NONE : req->fd;
	rec->offset = DLT_NONE;
	rec->view = rec->pad = 0;
	if (call->shape == DLT_SYNC_FALLOCATE) {
		rec->offset = call->args[2];
		rec->len = call->args[3];
	} else if (call->shape == DLT_SYNC_FTRUNCATE) {
		rec->len = call->args[1];
	} else {
		rec->offset = call->args[1];
		rec->len = call->args[2];
	}
}

/* Takes the arguments in the order of the system call: see the probes' shapes. */
static __always_inline void args_take(struct dlt_uring_req *req, const struct uring_sqe *sqe)
{
	__u64 *args = req->call.args;

	args[0] = (__s64)sqe->fd;
	switch (sqe->opcode) {
	case OP_FSYNC: /* a range without a length: the whole file */
		req->call.func = sqe->op_flags & FSYNC_DATASYNC ? fdatasync_func : req->call.func;
		args[1] = sqe->off || sqe->len ? sqe->off : DLT_NONE;
		args[2] = sqe->off || sqe->len ? sqe->len : DLT_NONE;
		break;
	case OP_SYNC_FILE_RANGE:
		args[1] = sqe->off;
		args[2] = sqe->len;
		break;
	case OP_FALLOCATE:
		args[2] = sqe->off;
		args[3] = sqe->addr;
		break;
	case OP_FTRUNCATE:
		args[1] = sqe->off;
		break;
	case OP_SPLICE: /* sqe->fd is the destination */
		args[0] = (__s64)(__s32)sqe->file_index;
		args[1] = sqe->addr;
		args[2] = (__s64)sqe->fd;
		args[3] = sqe->off;
		args[4] = sqe->len;
		args[5] = sqe->op_flags;
		break;
	default: /* reads and writes */
		args[1] = sqe->addr;
		args[2] = sqe->len;
		args[3] = sqe->off;
		args[5] = sqe->op_flags;
		req->requested = req->call.shape & DLT_RW_VEC ? iov_bytes(sqe->addr, sqe->len) : sqe->len;
	}
}

/* A close loses its file, so this looks it up now. */
static __always_inline void close_look(struct dlt_uring_req *req)
{
	struct task_struct *task = task_current();
	struct file *file;

	if (req->file_slot)
		file = ring_file(KCAST_AS(io_ring_ctx, io_ring_ctx___dlt, req->ctx), req->file_slot - 1);
	else
		file = file_of_fd(task, (__u32)req->fd);
	if (file)
		file_note(task, file, &req->call, req->call.tid, &req->call.id);
}

/* Notes request KEY of ring CTX, from its entry SQE. Returns NULL when it is not the target's, or lost. */
static __noinline struct dlt_uring_req *request_begin(__u64 key, __u64 ctx, const struct uring_sqe *sqe)
{
	static const struct dlt_uring_req empty;
	struct dlt_uring_req *req;
	struct dlt_uring_op op;
	struct dlt_stats *stats;
	__u64 pid_tgid;
	bool kept = true;

	if (sqe->opcode >= DLT_URING_OPS)
		return NULL;
	*(__u32 *)&op = *(const volatile __u32 *)&ops[sqe->opcode];
	if (!op.probe)
		return NULL;
	stats = stats_of(op.probe);
	if (!stats)
		return NULL;
	stats->seen++;
	if (bpf_map_update_elem(&requests, &key, &empty, BPF_ANY))
		goto lost;
	req = bpf_map_lookup_elem(&requests, &key);
	if (!req)
		goto lost;
	pid_tgid = bpf_get_current_pid_tgid();
	req->call.tgid = pid_tgid >> 32;
	req->call.tid = (__u32)pid_tgid;
	req->call.probe = op.probe;
	req->call.func = op.func;
	req->call.shape = op.shape;
	req->call.nr = sqe->opcode;
	req->call.start_ns = bpf_ktime_get_ns();
	comm_read(req->comm, task_current());
	req->ctx = ctx;
	req->user_data = sqe->user_data;
	req->fd = sqe->fd;
	req->flags = (sqe->flags & SQE_FIXED_FILE ? DLT_URING_FIXED : 0) |
		     (sqe->flags & SQE_CQE_SKIP_SUCCESS ? DLT_URING_SKIP : 0) |
		     (sqe->opcode == OP_READ_MULTISHOT ? DLT_URING_MULTISHOT : 0);
	if (op.probe == DLT_open) {
		req->file_slot = sqe->file_index;
		kept = open_keep(req, sqe, key);
	} else if (op.probe == DLT_create_del) {
		kept = create_del_keep(req, sqe, key);
	} else if (op.probe == DLT_close) {
		req->file_slot = sqe->file_index;
		req->call.args[0] = (__s64)sqe->fd;
		close_look(req);
	} else {
		args_take(req, sqe);
	}
	if (req->flags & DLT_URING_FIXED && op.probe != DLT_create_del && op.probe != DLT_open &&
	    sqe->opcode != OP_SPLICE)
		req->call.args[0] = DLT_NONE32;
	if (req->file_slot && op.probe == DLT_close)
		req->call.args[0] = DLT_NONE32;
	if (kept)
		return req;
	bpf_map_delete_elem(&requests, &key);
lost:
	count_lost_room(op.probe);
	return NULL;
}

/* --- the row of a request that reports only failures: its files are not looked up when it ends ----------------- */

/* Returns the file behind REQ's descriptor, or in its slot of the ring's own files; NULL where there is none. */
static __always_inline struct file *file_passed(struct dlt_uring_req *req, struct task_struct *task)
{
	if (req->flags & DLT_URING_FIXED)
		return ring_file(KCAST_AS(io_ring_ctx, io_ring_ctx___dlt, req->ctx), (__u32)req->fd);
	return file_of_fd(task, (__u32)req->fd);
}

/* Returns the file that a splice reads, in the same way. */
static __always_inline struct file *file_spliced(struct dlt_uring_req *req, struct task_struct *task)
{
	if (req->call.args[5] & SPLICE_FD_IN_FIXED)
		return ring_file(KCAST_AS(io_ring_ctx, io_ring_ctx___dlt, req->ctx), (__u32)req->call.args[0]);
	return file_of_fd(task, (__u32)req->call.args[0]);
}

/* Looks at FILE before the request: where it begins is not known for one without a position, or one that appends. */
static __noinline int side_look_ahead(struct side *side, struct dlt_uring_req *req, struct file *file, __s32 fd,
				      __s64 at)
{
	bool known = at != -1 && (!file || req->call.nr == OP_SPLICE || !appends(&req->call, file));

	side_look(side, task_current(), file, &req->call, req->call.tid, fd, known ? at : 0, 0);
	if (!known)
		side->offset = DLT_NONE;
	return 0;
}

static __noinline bool rw_keep(struct dlt_uring_req *req, __u64 key)
{
	bool splice = req->call.nr == OP_SPLICE, fixed = req->flags & DLT_URING_FIXED;
	const struct dlt_call *call = &req->call;
	struct task_struct *task = task_current();
	struct dlt_vfs_rw_pair *rec;
	struct scratch *s;
	struct side side, in;

	side_look_ahead(&side, req, file_passed(req, task), fixed ? DLT_NONE32 : req->fd, call->args[3]);
	if (splice)
		side_look_ahead(&in, req, file_spliced(req, task),
				call->args[5] & SPLICE_FD_IN_FIXED ? DLT_NONE32 : (__s32)call->args[0], call->args[1]);
	s = scratch_get();
	if (!s)
		return false;
	rec = (struct dlt_vfs_rw_pair *)s->rec;
	__builtin_memset(rec, 0, sizeof(*rec));
	vrec_begin(s, call, task, call->tid, DLT_vfs_rw, splice ? sizeof(*rec) : sizeof(rec->from));
	rec->from.hdr.size = s->used;
	if (splice) {
		rw_fill(&rec->from, &in, DLT_RW_R, call->args[4], 0, DLT_NONE, DLT_NONE);
		rw_fill(&rec->to, &side, DLT_RW_W, call->args[4], 0, DLT_NONE, DLT_NONE);
		rec->to.hdr.probe = DLT_vfs_rw;
	} else {
		rw_fill(&rec->from, &side, call->shape & DLT_RW_WRITE ? DLT_RW_W : DLT_RW_R, req->requested,
			rwf_flags(call->args[5]), DLT_NONE, DLT_NONE);
	}
	return record_keep(s, req, key);
}

static __noinline bool sync_keep(struct dlt_uring_req *req, __u64 key)
{
	struct task_struct *task = task_current();
	struct file *file = file_passed(req, task);
	struct dlt_file_id id = {};
	struct scratch *s;

	if (file)
		file_note(task, file, &req->call, req->call.tid, &id);
	s = scratch_get();
	if (!s)
		return false;
	vrec_begin(s, &req->call, task, req->call.tid, DLT_sync, sizeof(struct dlt_sync));
	((struct dlt_hdr *)s->rec)->size = sizeof(struct dlt_sync);
	sync_fill((struct dlt_sync *)s->rec, req, &id, DLT_NONE);
	return record_keep(s, req, key);
}

/* Called from the hook itself, to save stack. A global function, as what follows need not know how it was kept. */
__noinline int row_keep(__u64 key)
{
	struct dlt_uring_req *req = bpf_map_lookup_elem(&requests, &key);

	if (!req)
		return true;
	switch (req->call.probe) {
	case DLT_sync:
		return sync_keep(req, key);
	case DLT_vfs_rw:
		return rw_keep(req, key);
	default:
		return true;
	}
}

#endif
