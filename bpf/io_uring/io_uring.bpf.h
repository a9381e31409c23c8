/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_uring in the kernel: the differences between kernels, and the ABI of submission entries. The types are dltraced's
 * own, so that this builds against a kernel without io_uring.
 */
#ifndef IO_URING_BPF_H
#define IO_URING_BPF_H

#include "compat.bpf.h"

/* --- ABI (linux/io_uring.h) --------------------------------------------------------------------- */

enum {
	OP_FSYNC = 3,
	OP_SYNC_FILE_RANGE = 8,
	OP_FALLOCATE = 17,
	OP_OPENAT2 = 28,
	OP_SPLICE = 30,
	OP_UNLINKAT = 36,
	OP_MKDIRAT = 37,
	OP_SYMLINKAT = 38,
	OP_READ_MULTISHOT = 49,
	OP_FTRUNCATE = 55,
};

#define SQE_FIXED_FILE 1
#define SQE_CQE_SKIP_SUCCESS 64
#define CQE_MORE 2
#define FSYNC_DATASYNC 1
#define SPLICE_FD_IN_FIXED 0x80000000u
#define RING_SQE128 0x400
#define RING_NO_SQARRAY 0x10000

#define O_MAKES_FILE 020000100 /* O_CREAT, and O_TMPFILE's own bit */
#define O_TMPFILE_BIT 020000000
#define O_PATH_BIT 010000000

/* The beginning of a submission entry. */
struct uring_sqe {
	__u8 opcode;
	__u8 flags;
	__u16 ioprio;
	__s32 fd;
	__u64 off; /* or addr2 */
	__u64 addr;
	__u32 len;
	__u32 op_flags;
	__u64 user_data;
	__u16 buf;
	__u16 personality;
	__u32 file_index; /* or splice_fd_in */
};
#define SQE_BYTES 64

struct io_uring_cqe___dlt {
	__u64 user_data;
	__s32 res;
	__u32 flags;
};

/* --- the kernel's structs ------------------------------------------------------------------------ */

#define KERNEL_TYPE __attribute__((preserve_access_index))

struct io_wq_work_node___dlt {
	struct io_wq_work_node___dlt *next;
} KERNEL_TYPE;
struct io_wq_work_list___dlt {
	struct io_wq_work_node___dlt *first;
} KERNEL_TYPE;
struct io_submit_state___v5_16 {
	struct io_wq_work_list___dlt compl_reqs;
} KERNEL_TYPE;

struct io_ring_ctx___dlt {
	unsigned int flags;
	unsigned int cached_sq_head;
	unsigned int sq_entries;
	__u32 *sq_array;
	struct io_uring_sqe *sq_sqes;
	struct io_submit_state___v5_16 submit_state;
} KERNEL_TYPE;

struct io_kiocb___dlt {
	struct file *file;
	struct io_ring_ctx___dlt *ctx;
} KERNEL_TYPE;

struct io_cqe___v5_19 {
	__u64 user_data;
	__s32 res;
} KERNEL_TYPE;
struct io_kiocb___v5_19 {
	struct io_cqe___v5_19 cqe;
} KERNEL_TYPE;
struct io_kiocb___v5_18 {
	__u64 user_data;
} KERNEL_TYPE;

/* Returns the program's name for the request: in a struct with its result since 5.19 (commit cef216fc32d7). */
static __always_inline __u64 kiocb_user_data(struct io_kiocb___dlt *kiocb)
{
	struct io_kiocb___v5_19 *with_cqe = KCAST_AS(io_kiocb, io_kiocb___v5_19, kiocb);
	struct io_kiocb___v5_18 *before = KCAST_AS(io_kiocb, io_kiocb___v5_18, kiocb);

	if (bpf_core_field_exists(with_cqe->cqe))
		return KLOAD(with_cqe, cqe.user_data);
	return KLOAD(before, user_data);
}

static __always_inline __s32 kiocb_res(__u64 kiocb)
{
	struct io_kiocb___v5_19 *with_cqe = KCAST_AS(io_kiocb, io_kiocb___v5_19, kiocb);

	return bpf_core_field_exists(with_cqe->cqe) ? KLOAD(with_cqe, cqe.res) : 0;
}

/*
 * Returns the result of a request whose chain has failed before it was issued: its own if the kernel has refused it
 * (bit 8 of its flags, after the entry's byte), else -ECANCELED.
 */
#define REQ_FAIL 0x100
#define CANCELED (-125) /* -ECANCELED */
struct io_kiocb___flags {
	__u32 flags; /* the lower half of 64 bits on newer kernels */
} KERNEL_TYPE;

static __always_inline __s32 kiocb_canceled(__u64 kiocb)
{
	struct io_kiocb___flags *with_flags = KCAST_AS(io_kiocb, io_kiocb___flags, kiocb);
	__s32 res = kiocb_res(kiocb);
	__u32 flags = 0;

	bpf_core_read(&flags, sizeof(flags), &with_flags->flags);
	return flags & REQ_FAIL && res < 0 ? res : CANCELED;
}

/* Returns the task that submitted it: by its io_uring state since 6.13 (commit b6f58a3f4aa8). */
struct io_kiocb___v6_12 {
	struct task_struct *task;
} KERNEL_TYPE;
struct io_uring_task___v6_13 {
	struct task_struct *task;
} KERNEL_TYPE;
struct io_kiocb___v6_13 {
	struct io_uring_task___v6_13 *tctx;
} KERNEL_TYPE;

static __always_inline struct task_struct *kiocb_task(struct io_kiocb___dlt *kiocb)
{
	struct io_kiocb___v6_13 *with_tctx = KCAST_AS(io_kiocb, io_kiocb___v6_13, kiocb);
	struct io_kiocb___v6_12 *before = KCAST_AS(io_kiocb, io_kiocb___v6_12, kiocb);
	struct io_uring_task___v6_13 *tctx;
	struct task_struct *task;

	if (bpf_core_field_exists(with_tctx->tctx)) {
		tctx = KLOAD(with_tctx, tctx);
		if (!tctx)
			return NULL;
		task = KLOAD(tctx, task);
	} else {
		task = KLOAD(before, task);
	}
	return task ? KCAST(task_struct, task) : NULL;
}

/* The list of requests that are done but not posted, since 5.16 (commit f5ed3bcd5b11). */
struct io_kiocb___v5_16 {
	struct io_wq_work_node___dlt comp_list;
} KERNEL_TYPE;
#define COMPL_REQS_MAX 256
#define COMPL_REQS_AT_ONCE 16

static __always_inline bool compl_reqs_known(void)
{
	return bpf_core_field_exists(((struct io_submit_state___v5_16 *)0)->compl_reqs.first) &&
	       bpf_core_field_exists(((struct io_kiocb___v5_16 *)0)->comp_list) &&
	       bpf_core_field_exists(((struct io_kiocb___v5_19 *)0)->cqe);
}

static __always_inline __u64 compl_reqs_first(struct io_ring_ctx___dlt *ring)
{
	__u64 first = 0; /* a number, for arithmetic */

	bpf_core_read(&first, sizeof(first), &ring->submit_state.compl_reqs.first);
	return first;
}

/*
 * A worker posts the completions of its own work, on 6.1 to 6.12 or so also when the ring has no room: the
 * request is the work that it is doing.
 */
#define PF_IO_WORKER 0x10
struct io_worker___dlt {
	struct io_wq_work *cur_work;
} KERNEL_TYPE;
struct io_kiocb___work {
	struct io_wq_work_node___dlt work;
} KERNEL_TYPE;
struct task_struct___v5_17 {
	void *worker_private;
} KERNEL_TYPE;

/* Returns the request that the current task, an io_uring worker, is working on, or 0. */
static __always_inline __u64 worker_request(struct task_struct *task)
{
	struct task_struct___v5_17 *with_worker = KCAST_AS(task_struct, task_struct___v5_17, task);
	struct io_worker___dlt *worker;
	__u64 work = 0;

	if (!bpf_core_field_exists(with_worker->worker_private) ||
	    !bpf_core_field_exists(((struct io_worker___dlt *)0)->cur_work) || !(KLOAD(task, flags) & PF_IO_WORKER))
		return 0;
	worker = KLOAD(with_worker, worker_private);
	bpf_core_read(&work, sizeof(work), &worker->cur_work);
	return work ? work - bpf_core_field_offset(struct io_kiocb___work, work) : 0;
}

/*
 * A ring's own files: an array of pointers with flags in their low bits; an array of nodes since 6.13
 * (commit 3597f2786b68).
 */
#define FILE_PTR_FLAGS 7UL
struct io_fixed_file___v6_12 {
	unsigned long file_ptr;
} KERNEL_TYPE;
struct io_file_table___v6_12 {
	struct io_fixed_file___v6_12 *files;
} KERNEL_TYPE;
struct io_ring_ctx___v6_12 {
	struct io_file_table___v6_12 file_table;
	unsigned int nr_user_files;
} KERNEL_TYPE;
struct io_rsrc_node___v6_13 {
	unsigned long file_ptr;
} KERNEL_TYPE;
struct io_rsrc_data___v6_13 {
	unsigned int nr;
	struct io_rsrc_node___v6_13 **nodes;
} KERNEL_TYPE;
struct io_file_table___v6_13 {
	struct io_rsrc_data___v6_13 data;
} KERNEL_TYPE;
struct io_ring_ctx___v6_13 {
	struct io_file_table___v6_13 file_table;
} KERNEL_TYPE;

static __noinline struct file *ring_file(struct io_ring_ctx___dlt *ring, __u32 slot)
{
	struct io_ring_ctx___v6_13 *with_nodes = KCAST_AS(io_ring_ctx, io_ring_ctx___v6_13, ring);
	struct io_ring_ctx___v6_12 *before = KCAST_AS(io_ring_ctx, io_ring_ctx___v6_12, ring);
	struct io_rsrc_node___v6_13 **nodes, *node = NULL;
	struct io_fixed_file___v6_12 *files;
	unsigned long ptr = 0;

	if (bpf_core_field_exists(((struct io_file_table___v6_13 *)0)->data)) {
		nodes = KLOAD(with_nodes, file_table.data.nodes);
		if (!nodes || slot >= KLOAD(with_nodes, file_table.data.nr))
			return NULL;
		bpf_probe_read_kernel(&node, sizeof(node), nodes + slot);
		if (node)
			bpf_core_read(&ptr, sizeof(ptr), &node->file_ptr);
	} else if (bpf_core_field_exists(((struct io_file_table___v6_12 *)0)->files)) {
		files = KLOAD(before, file_table.files);
		if (!files || slot >= KLOAD(before, nr_user_files))
			return NULL;
		bpf_probe_read_kernel(&ptr, sizeof(ptr),
				      (char *)files + slot * bpf_core_type_size(struct io_fixed_file___v6_12));
	}
	ptr &= ~FILE_PTR_FLAGS;
	return ptr ? KCAST(file, ptr) : NULL;
}

/*
 * Finds the last entry that the kernel fetched from the ring: during a submission, the one being submitted.
 * HEAD: how many have been fetched. False where it cannot be read.
 */
static __always_inline bool sqe_fetched(struct io_ring_ctx___dlt *ring, struct uring_sqe *sqe, __u32 *head)
{
	__u32 flags = KLOAD(ring, flags), entries = KLOAD(ring, sq_entries), i;
	__u32 *array = KLOAD(ring, sq_array);
	char *sqes = (char *)KLOAD(ring, sq_sqes);

	*head = KLOAD(ring, cached_sq_head);
	i = (*head - 1) & (entries - 1);
	if (!(flags & RING_NO_SQARRAY) && bpf_probe_read_kernel(&i, sizeof(i), array + i))
		return false;
	if (i >= entries)
		return false;
	if (flags & RING_SQE128)
		i <<= 1;
	return !bpf_probe_read_kernel(sqe, sizeof(*sqe), sqes + (__u64)i * SQE_BYTES);
}

/* --- contexts of perf's tracepoints --------------------------------------------------------------- */

struct trace_event_raw_io_uring_complete___dlt {
	void *ctx, *req;
	__u64 user_data;
	int res;
	unsigned int cflags;
} KERNEL_TYPE;
struct trace_event_raw_io_uring_cqe_overflow___dlt {
	void *ctx;
	unsigned long long user_data;
	__s32 res;
} KERNEL_TYPE;
struct trace_event_raw_io_uring_fail_link___dlt {
	void *link;
} KERNEL_TYPE;
struct trace_event_raw_io_uring_req_failed___dlt {
	void *req;
} KERNEL_TYPE;
struct trace_event_raw_io_uring_submit_req___dlt {
	void *req;
} KERNEL_TYPE;
struct trace_event_raw_io_uring_submit_sqe___dlt {
	void *req;
} KERNEL_TYPE;

#endif
