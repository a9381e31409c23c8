/* SPDX-License-Identifier: BSD-2-Clause */
/* An io_uring request has its result: this makes its row, like that of the equivalent system call. */
#ifndef IO_URING_DONE_BPF_H
#define IO_URING_DONE_BPF_H

#include "io_uring/io_uring_start.bpf.h"
#include "dlt/close.h"

/* Returns the task whose open files and root a request uses; it is alive as long as the request. */
static __always_inline struct task_struct *submitter(struct io_kiocb___dlt *kiocb)
{
	struct task_struct *task = kiocb ? kiocb_task(kiocb) : NULL;

	return task && KLOAD(task, fs) ? task : task_current();
}

/*
 * Returns the file that REQ was issued on; if it was not issued (canceled in a chain, refused), the file behind its
 * descriptor or in its slot of the ring's own files. NULL where there is none.
 */
static __always_inline struct file *request_file(struct dlt_uring_req *req, struct io_kiocb___dlt *kiocb,
						 struct task_struct *task)
{
	struct file *file = kiocb ? KLOAD(kiocb, file) : NULL;

	return file ? KCAST(file, file) : file_passed(req, task);
}

/*
 * Whether the kernel has chosen where a request on FILE that moved RES bytes began: one at the file's own position
 * (-1), or one that appends.
 */
static __always_inline bool position_is_chosen(const struct dlt_call *call, struct file *file, __s64 res)
{
	barrier_var(file); /* otherwise clang takes an earlier look at it for this one, and the verifier does not */
	return res > 0 && file && ((__s64)call->args[3] == -1 || appends(call, file));
}

/*
 * Returns where a request on FILE that moved RES bytes began, for side_look(). The kernel advances a position that it
 * has chosen in the request, whose struct kiocb is its first member (struct io_rw). The file's position stays where it
 * was if a later part of the request failed, and under direct I/O that ends later.
 */
static __always_inline __s64 began_at(struct io_kiocb___dlt *kiocb, const struct dlt_call *call, struct file *file,
				      __s64 res)
{
	__s64 offset = call->args[3];

	if (position_is_chosen(call, file, res)) {
		offset = BPF_CORE_READ((struct kiocb *)kiocb, ki_pos) - res;
		return offset < 0 ? DLT_NONE : offset; /* seekable in name only, see side_look() */
	}
	return offset == -1 ? DLT_NONE : offset;
}

/* linux/magic.h; fs/smb; Lustre's own. As in bpf/file_id.bpf.h: FUSE, NFS. */
#define CEPH_SUPER_MAGIC 0x00c36400
#define CIFS_SUPER_MAGIC 0xff534d42
#define SMB2_SUPER_MAGIC 0xfe534d42
#define LUSTRE_SUPER_MAGIC 0x0bd00bd0

static __always_inline __u32 inode_magic(struct inode *inode)
{
	struct super_block *sb = KLOAD(inode, i_sb);

	return KLOAD(sb, s_magic);
}

/*
 * May the position in a request on FILE, opened with FLAGS, have stayed where it was? The file systems of servers bring
 * it forward or not, as it comes: by their version, mode of the server, and whether they have waited for it
 * (fuse_direct_IO(), nfs_direct_wait()). Those of disks always do (iomap_dio_complete(), dio_complete()).
 */
static __noinline bool position_is_unsure(struct file *file, __u32 flags)
{
	struct inode *inode;
	struct scratch *s;
	__u32 magic;

	if (!(flags & O_DIRECT))
		return false;
	inode = KLOAD(file, f_inode);
	magic = inode_magic(inode);
	if (magic == OVERLAYFS_SUPER_MAGIC && ovl_is_known()) { /* it does what the one below has done */
		s = scratch_get();
		if (!s)
			return true;
		ovl_below(s, (__u64)inode);
		magic = inode_magic(KCAST(inode, s->data));
	}
	return magic == FUSE_SUPER_MAGIC || magic == NFS_SUPER_MAGIC || magic == CEPH_SUPER_MAGIC ||
	       magic == CIFS_SUPER_MAGIC || magic == SMB2_SUPER_MAGIC || magic == LUSTRE_SUPER_MAGIC ||
	       magic == OVERLAYFS_SUPER_MAGIC;
}

static __noinline int rw_done(struct dlt_uring_req *req, struct io_kiocb___dlt *kiocb, __s64 res)
{
	struct task_struct *task = submitter(kiocb);
	struct file *file = request_file(req, kiocb, task);
	const struct dlt_call *call = &req->call;
	struct dlt_vfs_rw *rec;
	struct side side;

	side_look(&side, task, file, call, call->tid, call->args[0], began_at(kiocb, call, file, res), res);
	if (position_is_chosen(call, file, res) && position_is_unsure(file, side.f_flags))
		side.offset = DLT_NONE;
	cache_touch(file, &side.id, side.f_flags, side.offset, res, 0, call->shape & DLT_RW_WRITE);
	rec = rec_reserve(DLT_vfs_rw, sizeof(*rec), false);
	if (!rec)
		return 0;
	rw_fill(rec, &side, call->shape & DLT_RW_WRITE ? DLT_RW_W : DLT_RW_R, req->requested, rwf_flags(call->args[5]),
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
	struct dlt_vfs_rw_pair *rec;
	struct side in, out;
	__s64 at = call->args[1];

	side_look(&in, task, file_spliced(req, task), call, call->tid, fixed ? DLT_NONE32 : (__s32)call->args[0],
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

/* Sends what scratch holds for REQ, and counts it. */
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
	sync_fill(rec, req, &id, res);
	record_send(s, req, DLT_sync);
	return 0;
}

/* Returns the record kept for KEY, in scratch, or NULL. */
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

static __noinline int open_done(struct dlt_uring_req *req, struct io_kiocb___dlt *kiocb, __u64 key, __s64 res)
{
	struct task_struct *task = submitter(kiocb);
	struct scratch *s = record_take(req, key);
	struct file *file = NULL;
	struct dlt_open *rec;

	if (!s) {
		count_lost_room(DLT_open);
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
			file_mark_seen(&rec->file);
	} else if (rec->created) {
		count_row_lost(DLT_create_del);
	}
	return 0;
}

static __noinline int create_del_done(struct dlt_uring_req *req, struct io_kiocb___dlt *kiocb, __u64 key, __s64 res)
{
	struct task_struct *task = submitter(kiocb);
	struct scratch *s = record_take(req, key);

	if (!s) {
		count_lost_room(DLT_create_del);
		return 0;
	}
	((struct dlt_create_del *)s->rec)->ret = res;
	if (!(req->flags & DLT_URING_SKIP)) /* otherwise the folders are in the record */
		folders_append(s, task, req->fd, (__s32)req->call.args[2]);
	record_send(s, req, DLT_create_del);
	return 0;
}

/*
 * Sends the row of request KEY, which has ended without a completion: it was kept, but for a close's. A global
 * function: verified once, and without what only rows of completions need.
 */
__noinline int request_row_silent(__u64 key)
{
	struct dlt_uring_req *req = bpf_map_lookup_elem(&requests, &key);
	struct scratch *s;
	__u32 probe;

	if (!req)
		return 0;
	probe = req->call.probe;
	if (probe == DLT_close)
		return close_done(req, DLT_NONE);
	s = record_take(req, key);
	if (!s) {
		count_lost_room(probe);
		return 0;
	}
	if (probe == DLT_open)
		((struct dlt_open *)s->rec)->ret = DLT_NONE;
	else if (probe == DLT_create_del)
		((struct dlt_create_del *)s->rec)->ret = DLT_NONE;
	if (record_send(s, req, probe))
		return 0;
	if (probe == DLT_vfs_rw && req->call.nr == OP_SPLICE)
		count_row_lost(probe);
	return 0;
}

/*
 * Sends the row of request KEY, which has the result RES. ALIVE: the kernel still has the request; otherwise another
 * one may be at its address. A global function: verified once, not at each caller.
 */
__noinline int request_row(__u64 key, __u64 res, __u32 alive)
{
	struct dlt_uring_req *req = bpf_map_lookup_elem(&requests, &key);
	struct io_kiocb___dlt *kiocb = alive ? KCAST_AS(io_kiocb, io_kiocb___dlt, key) : NULL;
	bool kept;

	if (!req)
		return 0;
	kept = req->flags & DLT_URING_SHORT && (req->call.probe == DLT_vfs_rw || req->call.probe == DLT_sync);
	if (kept)
		bpf_map_delete_elem(&short_records, &key);
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

#endif
