/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests of io_uring that are file operations, as rows of the probes that have the system calls
 * which do the same. A request is noted when the kernel takes it (or refuses it) and becomes a row
 * when its completion is posted. Its address is its identity until then.
 *
 * What was asked for is read from the ring's submission entry: that is ABI, the kernel's own structs
 * differ. The entry is the last one fetched while its tracepoint runs.
 */
#include "rw.bpf.h"

#include "dlt/close.h"
#include "dlt/create_del.h"
#include "dlt/io_uring.h"
#include "dlt/open.h"
#include "dlt/sync.h"
#include "io_uring.bpf.h"

const volatile struct dlt_uring_kernel kernel = {};
const volatile struct dlt_uring_op ops[DLT_URING_OPS] = {};
const volatile __u8 fdatasync_func = 0;

/* By address of the request. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, __u64);
	__type(value, struct dlt_uring_req);
} requests SEC(".maps");

/* Those whose completion does not tell the address. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, struct dlt_uring_name);
	__type(value, struct dlt_uring_named);
} by_user_data SEC(".maps");

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

/* Without io_uring_req_failed: how many entries of a ring had been fetched at the last noted one. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, __u32);
} fetched SEC(".maps");

/* --- by user_data ------------------------------------------------------------------------------ */

static __always_inline void user_data_add(__u64 key, __u64 ctx, __u64 user_data)
{
	struct dlt_uring_name name = { ctx, user_data };
	struct dlt_uring_named one = { 1, key, 0 };
	struct dlt_uring_named *named = bpf_map_lookup_elem(&by_user_data, &name);

	if (!named) {
		bpf_map_update_elem(&by_user_data, &name, &one, BPF_ANY);
		return;
	}
	__sync_fetch_and_add(&named->n, 1);
	__sync_fetch_and_add(&named->sum, key);
}

/* One of them is done: its address if that is known, else 0. MORE: it goes on. */
static __always_inline __u64 user_data_done(__u64 ctx, __u64 user_data, bool more)
{
	struct dlt_uring_name name = { ctx, user_data };
	struct dlt_uring_named *named = bpf_map_lookup_elem(&by_user_data, &name);
	__u64 key;

	if (!named)
		return 0;
	key = named->n == 1 && !named->mixed ? named->sum : 0;
	if (more)
		return key;
	if (named->n <= 1) {
		bpf_map_delete_elem(&by_user_data, &name);
		return key;
	}
	named->mixed = 1;
	__sync_fetch_and_add(&named->n, -1);
	return 0;
}

/* KEY is done, as is known otherwise. */
static __always_inline void user_data_remove(__u64 key, __u64 ctx, __u64 user_data)
{
	struct dlt_uring_name name = { ctx, user_data };
	struct dlt_uring_named *named = bpf_map_lookup_elem(&by_user_data, &name);

	if (!named)
		return;
	if (named->n <= 1) {
		bpf_map_delete_elem(&by_user_data, &name);
		return;
	}
	__sync_fetch_and_add(&named->n, -1);
	__sync_fetch_and_add(&named->sum, -key);
}

/* --- the start ---------------------------------------------------------------------------------- */

static __always_inline bool stopping(void)
{
	struct dlt_shared *sh = shared();

	return !sh || sh->stopping;
}

/* Keep the record in scratch for request KEY; false: no room, it counts as lost. */
static __noinline bool record_keep(struct scratch *s, struct dlt_uring_req *req, __u64 key)
{
	req->rec_used = s->used;
	if (s->used <= DLT_URING_SHORT_BYTES &&
	    !bpf_map_update_elem(&short_records, &key, s->rec, BPF_ANY)) {
		req->flags |= DLT_URING_SHORT;
		return true;
	}
	if (s->used <= DLT_URING_LONG_BYTES &&
	    !bpf_map_update_elem(&long_records, &key, s->rec, BPF_ANY)) {
		req->flags |= DLT_URING_LONG;
		return true;
	}
	return false;
}

/* What an open asks for; its results come with the completion. */
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

/* The same for the operations of create_del. */
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
	return record_keep(s, req, key);
}

/* The arguments as the system call has them: see the probes' shapes. */
static __always_inline void args_take(struct dlt_uring_req *req, const struct uring_sqe *sqe)
{
	__u64 *args = req->call.args;

	args[0] = (__s64)sqe->fd;
	switch (sqe->opcode) {
	case OP_FSYNC: /* a range of no length: all */
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

/* A close loses its file: it is looked up now. */
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

/* Note request KEY of ring CTX, from its entry SQE. NULL: not ours, or lost. */
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
	count_lost(op.probe);
	return NULL;
}

/* --- the end ------------------------------------------------------------------------------------ */

/* Whose open files and root a request's are; alive as long as the request. */
static __always_inline struct task_struct *submitter(struct io_kiocb___dlt *kiocb)
{
	struct task_struct *task = kiocb ? kiocb_task(kiocb) : NULL;

	return task && KLOAD(task, fs) ? task : task_current();
}

/* What it was issued on; where it was not (cancelled, refused), what its descriptor stands for. */
static __always_inline struct file *request_file(struct dlt_uring_req *req, struct io_kiocb___dlt *kiocb,
						 struct task_struct *task)
{
	struct file *file = kiocb ? KLOAD(kiocb, file) : NULL;

	if (file)
		return KCAST(file, file);
	return req->flags & DLT_URING_FIXED ? NULL : file_of_fd(task, (__u32)req->fd);
}

static __noinline int rw_done(struct dlt_uring_req *req, struct io_kiocb___dlt *kiocb, __s64 res)
{
	struct task_struct *task = submitter(kiocb);
	struct file *file = request_file(req, kiocb, task);
	const struct dlt_call *call = &req->call;
	__u32 flags = rwf_flags(call->args[5]);
	__s64 offset = call->args[3];
	struct dlt_vfs_rw *rec;
	struct side side;

	if (offset == -1)
		offset = DLT_NONE; /* the file's own */
	side_look(&side, task, file, call, call->tid, call->args[0], offset, res);
	if (res > 0 && offset != DLT_NONE && call->shape & DLT_RW_WRITE &&
	    (side.f_flags | flags) & O_APPEND && !(call->args[5] & RWF_NOAPPEND))
		side.offset = appended_at(file, res);
	rec = rec_reserve(DLT_vfs_rw, sizeof(*rec), false);
	if (!rec)
		return 0;
	rw_fill(rec, &side, call->shape & DLT_RW_WRITE ? DLT_RW_W : DLT_RW_R, req->requested, flags,
		DLT_NONE, res);
	hdr_fill(&rec->hdr, call, task, call->tid, sizeof(*rec));
	__builtin_memcpy(rec->hdr.comm, req->comm, DLT_COMM_LEN);
	rec_submit(rec, DLT_vfs_rw);
	return 0;
}

static __noinline int splice_done(struct dlt_uring_req *req, struct io_kiocb___dlt *kiocb, __s64 res)
{
	struct task_struct *task = submitter(kiocb);
	struct dlt_call *call = &req->call;
	bool fixed = call->args[5] & SPLICE_FD_IN_FIXED;
	struct file *file;
	struct dlt_vfs_rw_pair *rec;
	struct side in, out;
	__s64 at;

	if (fixed)
		file = ring_file(KCAST_AS(io_ring_ctx, io_ring_ctx___dlt, req->ctx), (__u32)call->args[0]);
	else
		file = file_of_fd(task, (__u32)call->args[0]);
	at = call->args[1];
	side_look(&in, task, file, call, call->tid, fixed ? DLT_NONE32 : (__s32)call->args[0],
		  at == -1 ? DLT_NONE : at, res);
	at = call->args[3];
	side_look(&out, task, request_file(req, kiocb, task), call, call->tid,
		  req->flags & DLT_URING_FIXED ? DLT_NONE32 : (__s32)call->args[2], at == -1 ? DLT_NONE : at, res);
	rec = rec_reserve(DLT_vfs_rw, sizeof(*rec), false);
	if (!rec) {
		count_row_lost(DLT_vfs_rw);
		return 0;
	}
	rw_fill(&rec->from, &in, DLT_RW_R, call->args[4], 0, DLT_NONE, res);
	rw_fill(&rec->to, &out, DLT_RW_W, call->args[4], 0, DLT_NONE, res);
	hdr_fill(&rec->from.hdr, call, task, call->tid, sizeof(*rec));
	__builtin_memcpy(rec->from.hdr.comm, req->comm, DLT_COMM_LEN);
	__builtin_memcpy(&rec->to.hdr, &rec->from.hdr, sizeof(rec->to.hdr));
	rec_submit(rec, DLT_vfs_rw);
	return 0;
}

static __noinline int close_done(struct dlt_uring_req *req, __s64 res)
{
	struct dlt_close *rec = rec_reserve(DLT_close, sizeof(*rec), false);

	if (!rec)
		return 0;
	rec->id = req->call.id;
	rec->ret = res;
	rec->fd = req->file_slot ? DLT_NONE : req->fd;
	rec->last = DLT_NONE;
	hdr_fill(&rec->hdr, &req->call, task_current(), req->call.tid, sizeof(*rec));
	__builtin_memcpy(rec->hdr.comm, req->comm, DLT_COMM_LEN);
	rec_submit(rec, DLT_close);
	return 0;
}

/* Send what scratch holds for REQ, and count it. */
static __always_inline bool record_send(struct scratch *s, struct dlt_uring_req *req, __u32 probe)
{
	struct dlt_hdr *h = (struct dlt_hdr *)s->rec;
	struct dlt_stats *st = stats_of(probe);

	__builtin_memcpy(h->comm, req->comm, DLT_COMM_LEN);
	s->start_ns = req->call.start_ns;
	if (!vrec_send()) {
		count_lost(probe);
		return false;
	}
	if (st)
		st->emitted++;
	return true;
}

static __noinline int sync_done(struct dlt_uring_req *req, struct io_kiocb___dlt *kiocb, __s64 res)
{
	struct task_struct *task = submitter(kiocb);
	struct file *file = request_file(req, kiocb, task);
	const struct dlt_call *call = &req->call;
	struct scratch *s = scratch_get();
	struct dlt_file_id id = {};
	struct dlt_sync *rec;

	if (!s)
		return 0;
	if (file)
		file_note(task, file, call, call->tid, &id);
	rec = (struct dlt_sync *)s->rec;
	vrec_begin(s, call, task, call->tid, DLT_sync, sizeof(*rec));
	rec->id = id;
	rec->segs.len[0] = rec->segs.len[1] = rec->segs.len[2] = rec->segs.len[3] = 0;
	rec->ret = res;
	rec->fd = req->flags & DLT_URING_FIXED ? DLT_NONE : req->fd;
	rec->offset = DLT_NONE;
	if (call->shape == DLT_SYNC_FALLOCATE) {
		rec->offset = call->args[2];
		rec->len = call->args[3];
	} else if (call->shape == DLT_SYNC_FTRUNCATE) {
		rec->len = call->args[1];
	} else {
		rec->offset = call->args[1];
		rec->len = call->args[2];
	}
	record_send(s, req, DLT_sync);
	return 0;
}

/* The record kept for KEY, in scratch; NULL: there is none. */
static __always_inline struct scratch *record_take(struct dlt_uring_req *req, __u64 key)
{
	struct scratch *s = scratch_get();
	void *kept;

	if (!s)
		return NULL;
	s->used = req->rec_used;
	if (req->flags & DLT_URING_SHORT) {
		kept = bpf_map_lookup_elem(&short_records, &key);
		if (!kept)
			return NULL;
		bpf_probe_read_kernel(s->rec, DLT_URING_SHORT_BYTES, kept);
		bpf_map_delete_elem(&short_records, &key);
	} else {
		kept = bpf_map_lookup_elem(&long_records, &key);
		if (!kept)
			return NULL;
		bpf_probe_read_kernel(s->rec, DLT_URING_LONG_BYTES, kept);
		bpf_map_delete_elem(&long_records, &key);
	}
	return s;
}

static __noinline int open_done(struct dlt_uring_req *req, struct io_kiocb___dlt *kiocb, __u64 key,
				__s64 res)
{
	struct task_struct *task = submitter(kiocb);
	struct scratch *s = record_take(req, key);
	struct file *file = NULL;
	struct dlt_open *rec;

	if (!s) {
		count_lost(DLT_open);
		return 0;
	}
	rec = (struct dlt_open *)s->rec;
	rec->ret = res;
	if (res >= 0 && req->file_slot)
		file = ring_file(KCAST_AS(io_ring_ctx, io_ring_ctx___dlt, req->ctx),
				 req->file_slot == ~0U ? (__u32)res : req->file_slot - 1);
	else if (res >= 0)
		file = file_of_fd(task, res);
	if (file) {
		rec->segs.len[1] = file_describe(s, task, file, &rec->file);
		if (KLOAD(file, f_mode) & FMODE_CREATED ||
		    (rec->flags & (O_TMPFILE_BIT | O_PATH_BIT)) == O_TMPFILE_BIT) {
			rec->created = 1;
			rec->segs.len[2] = dir_append(s, task, req->fd);
		}
	}
	if (record_send(s, req, DLT_open)) {
		if (file)
			file_mark_seen(&rec->file.id);
	} else if (rec->created) {
		count_row_lost(DLT_create_del);
	}
	return 0;
}

static __always_inline bool is_relative(const char *rec, __u32 at, __u32 len)
{
	return len && rec[at & (2 * DLT_PATH_MAX - 1)] != '/';
}

static __noinline int create_del_done(struct dlt_uring_req *req, struct io_kiocb___dlt *kiocb, __u64 key,
				      __s64 res)
{
	struct task_struct *task = submitter(kiocb);
	struct scratch *s = record_take(req, key);
	struct dlt_create_del *rec;
	__u32 at = sizeof(*rec);

	if (!s) {
		count_lost(DLT_create_del);
		return 0;
	}
	rec = (struct dlt_create_del *)s->rec;
	rec->ret = res;
	if (is_relative(s->rec, at, rec->segs.len[0]))
		rec->segs.len[2] = dir_append(s, task, req->fd);
	at += rec->segs.len[0];
	if (rec->segs.len[3] != DLT_SEG_VERBATIM && is_relative(s->rec, at, rec->segs.len[1]))
		rec->segs.len[3] = dir_append(s, task, (__s32)req->call.args[2]);
	record_send(s, req, DLT_create_del);
	return 0;
}

/*
 * The row of request KEY, which has the result RES. ALIVE: it is still the kernel's request, else
 * another may be at its address. A global function: verified once, not at each caller.
 */
__noinline int request_row(__u64 key, __u64 res, __u32 alive)
{
	struct dlt_uring_req *req = bpf_map_lookup_elem(&requests, &key);
	struct io_kiocb___dlt *kiocb = alive ? KCAST_AS(io_kiocb, io_kiocb___dlt, key) : NULL;

	if (!req)
		return 0;
	switch (req->call.probe) {
	case DLT_vfs_rw:
		if (req->call.nr == OP_SPLICE)
			splice_done(req, kiocb, res);
		else
			rw_done(req, kiocb, res);
		break;
	case DLT_open:
		open_done(req, kiocb, key, res);
		break;
	case DLT_create_del:
		create_del_done(req, kiocb, key, res);
		break;
	case DLT_close:
		close_done(req, res);
		break;
	case DLT_sync:
		sync_done(req, kiocb, res);
		break;
	}
	return 0;
}

static __always_inline int request_done(__u64 key, __s64 res, bool more)
{
	struct dlt_uring_req *req = bpf_map_lookup_elem(&requests, &key);
	struct dlt_stats *stats;

	if (!req)
		return 0;
	request_row(key, res, true);
	if (more) {
		/* this was one of several: the request itself is still to end */
		stats = stats_of(req->call.probe);
		if (stats)
			stats->seen++;
		return 0;
	}
	bpf_map_delete_elem(&requests, &key);
	return 0;
}

/*
 * An entry at KEY whose end was not seen: it is over, since its memory is another's by now. One that
 * was to be told of only if it failed has not.
 */
static __always_inline void request_replaced(__u64 key)
{
	struct dlt_uring_req *req = bpf_map_lookup_elem(&requests, &key);

	if (!req)
		return;
	if (req->flags & DLT_URING_SKIP)
		request_row(key, DLT_NONE, false);
	else
		count_lost(req->call.probe); /* it ended by a name that others had too, or was skipped */
	if (req->flags & DLT_URING_SHORT)
		bpf_map_delete_elem(&short_records, &key);
	if (req->flags & DLT_URING_LONG)
		bpf_map_delete_elem(&long_records, &key);
	bpf_map_delete_elem(&requests, &key);
}

/*
 * Before io_uring_req_failed: an entry that is refused outright completes while it is the last one
 * fetched, without having been noted.
 */
static __noinline int refused(__u64 ctx, __u64 user_data, __s64 res)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32, head, *last;
	struct uring_sqe sqe;
	__u64 key = ctx + 1; /* no request's address */

	if (res >= 0 || !target_has(tgid) || stopping() ||
	    !sqe_fetched(KCAST_AS(io_ring_ctx, io_ring_ctx___dlt, ctx), &sqe, &head) || sqe.user_data != user_data)
		return 0;
	last = bpf_map_lookup_elem(&fetched, &ctx);
	if (last && *last == head)
		return 0;
	bpf_map_update_elem(&fetched, &ctx, &head, BPF_ANY);
	if (request_begin(key, ctx, &sqe)) {
		request_row(key, res, false);
		bpf_map_delete_elem(&requests, &key);
	}
	return 0;
}

static __always_inline int completed(__u64 ctx, __u64 key, __u64 user_data, __s32 res, __u32 cflags)
{
	struct dlt_uring_req *req;
	bool more = cflags & CQE_MORE;

	if (key) {
		req = bpf_map_lookup_elem(&requests, &key);
		if (!req)
			return 0;
		if (req->flags & DLT_URING_BY_USER)
			user_data_remove(key, ctx, user_data);
		return request_done(key, res, false);
	}
	key = user_data_done(ctx, user_data, more);
	if (key)
		return request_done(key, res, more);
	if (!kernel.done_req)
		refused(ctx, user_data, res);
	return 0;
}

/* The kernel has taken or refused the entry of KEY. */
static __always_inline int request_start(__u64 key)
{
	struct io_kiocb___dlt *kiocb = KCAST_AS(io_kiocb, io_kiocb___dlt, key);
	__u64 ctx = (__u64)KLOAD(kiocb, ctx), user_data = kiocb_user_data(kiocb);
	__u32 tgid = bpf_get_current_pid_tgid() >> 32, head;
	struct dlt_uring_req *req;
	struct uring_sqe sqe;

	if (!target_has(tgid) || stopping())
		return 0;
	if (!sqe_fetched(KCAST_AS(io_ring_ctx, io_ring_ctx___dlt, ctx), &sqe, &head) || sqe.user_data != user_data)
		return 0; /* its file operations, if it is one, are not known: see docs/design.md */
	request_replaced(key);
	req = request_begin(key, ctx, &sqe);
	if (!kernel.done_req)
		bpf_map_update_elem(&fetched, &ctx, &head, BPF_ANY);
	if (!kernel.done_req || (req && req->flags & DLT_URING_MULTISHOT)) {
		user_data_add(key, ctx, user_data);
		if (req)
			req->flags |= DLT_URING_BY_USER;
	}
	return 0;
}

/* Is it request KEY whose completion has USER_DATA and RES? Then it is done. */
static __noinline bool overflowed_is(__u64 key, __u64 user_data, __s32 res)
{
	struct dlt_uring_req *req = bpf_map_lookup_elem(&requests, &key);

	if (!req || req->user_data != user_data || kiocb_res(key) != res ||
	    (req->flags & DLT_URING_SKIP && res >= 0))
		return false;
	if (req->flags & DLT_URING_BY_USER)
		user_data_remove(key, req->ctx, user_data);
	request_done(key, res, false);
	return true;
}

/*
 * Look at some requests of the list from NODE on. The next one to look at, 0: found, or no more. A
 * global function: verified once, not at each step.
 */
__noinline __u64 overflowed_among(__u64 node, __u64 user_data, __s32 res)
{
	for (int i = 0; i < COMPL_REQS_AT_ONCE && node; i++) {
		if (overflowed_is(node - bpf_core_field_offset(struct io_kiocb___v5_16, comp_list), user_data, res))
			return 0;
		bpf_probe_read_kernel(&node, sizeof(node), (void *)node);
	}
	return node;
}

/*
 * No room in the ring: newer kernels post nothing yet, and do not say for which request. It is what
 * the worker is at, or one of the ring's list of those that are done and not posted, in their order.
 */
static __always_inline int overflowed(__u64 ctx, __u64 user_data, __s32 res)
{
	__u64 node, key = worker_request(task_current());

	if (!compl_reqs_known())
		return 0;
	if (key)
		return overflowed_is(key, user_data, res);
	node = compl_reqs_first(KCAST_AS(io_ring_ctx, io_ring_ctx___dlt, ctx));
	for (int i = 0; i < COMPL_REQS_MAX / COMPL_REQS_AT_ONCE && node; i++)
		node = overflowed_among(node, user_data, res);
	return 0;
}

/*
 * --- hooks: typed ones, and those of perf, which run with preemption off and are never skipped. The
 * ends first, so that no entry is made whose end is not seen.
 */

/* Argument I as a number, which is what global functions take: a typed one is a pointer. */
static __always_inline __u64 arg(const __u64 *ctx, __u32 i)
{
	__u64 v = 0;

	bpf_probe_read_kernel(&v, sizeof(v), ctx + i);
	return v;
}

SEC("tp_btf/io_uring_complete")
int HELD_PROG(btf_complete)
{
	struct io_uring_cqe___dlt cqe = {};

	if (kernel.done_cqe) {
		bpf_probe_read_kernel(&cqe, sizeof(cqe), (void *)ctx[2]);
		return completed(ctx[0], ctx[1], cqe.user_data, cqe.res, cqe.flags);
	}
	if (kernel.done_req)
		return completed(ctx[0], ctx[1], ctx[2], ctx[3], ctx[4]);
	return completed(ctx[0], 0, ctx[1], ctx[2], ctx[3]);
}

SEC("tp/io_uring/io_uring_complete")
int tp_complete(struct trace_event_raw_io_uring_complete___dlt *ctx)
{
	__u64 req = kernel.done_req ? (__u64)ctx->req : 0;

	return completed((__u64)ctx->ctx, req, ctx->user_data, ctx->res, ctx->cflags);
}

SEC("tp_btf/io_uring_cqe_overflow")
int HELD_PROG(btf_overflow)
{
	return overflowed(ctx[0], ctx[1], ctx[2]);
}

SEC("tp/io_uring/io_uring_cqe_overflow")
int tp_overflow(struct trace_event_raw_io_uring_cqe_overflow___dlt *ctx)
{
	return overflowed((__u64)ctx->ctx, ctx->user_data, ctx->res);
}

SEC("tp_btf/io_uring_req_failed")
int HELD_PROG(btf_failed)
{
	return request_start(arg(ctx, kernel.failed_req));
}

SEC("tp/io_uring/io_uring_req_failed")
int tp_failed(struct trace_event_raw_io_uring_req_failed___dlt *ctx)
{
	return request_start((__u64)ctx->req);
}

SEC("tp_btf/io_uring_submit_req")
int HELD_PROG(btf_submit_req)
{
	return request_start(arg(ctx, 0));
}

SEC("tp/io_uring/io_uring_submit_req")
int tp_submit_req(struct trace_event_raw_io_uring_submit_req___dlt *ctx)
{
	return request_start((__u64)ctx->req);
}

/* The same until 6.3 (commit 2ad57931db64). */
SEC("tp_btf/io_uring_submit_sqe")
int HELD_PROG(btf_submit_sqe)
{
	return request_start(arg(ctx, kernel.start_req));
}

SEC("tp/io_uring/io_uring_submit_sqe")
int tp_submit_sqe(struct trace_event_raw_io_uring_submit_sqe___dlt *ctx)
{
	return request_start((__u64)ctx->req);
}
