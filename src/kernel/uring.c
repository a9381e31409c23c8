/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/uring.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "base/util.h"
#include "dlt/close.h"
#include "dlt/create_del.h"
#include "dlt/io_uring.h"
#include "dlt/sync.h"
#include "dlt/vfs_rw.h"
#include "io_uring.skel.h"
#include "kernel/btf.h"
#include "kernel/object.h"
#include "kernel/skel.h"
#include "kernel/tracer_impl.h"
#include "trace/probe_mask.h"

struct uring {
	struct io_uring_bpf *skel;
	struct object_links links; /* the ends first */
};

/* --- which operations ---------------------------------------------------------------------------- */

/* By IORING_OP_* (linux/io_uring.h): FUNC without its prefix, and the shape of the system call. */
static const struct op {
	uint8_t nr, probe, shape;
	const char *func;
} op_table[] = {
	{ 1, DLT_vfs_rw, DLT_RW_VEC | DLT_RW_POS | DLT_RW_RWF, "readv" },
	{ 2, DLT_vfs_rw, DLT_RW_VEC | DLT_RW_POS | DLT_RW_RWF | DLT_RW_WRITE, "writev" },
	{ 3, DLT_sync, DLT_SYNC_RANGE, "fsync" },
	{ 4, DLT_vfs_rw, DLT_RW_POS | DLT_RW_RWF, "read_fixed" },
	{ 5, DLT_vfs_rw, DLT_RW_POS | DLT_RW_RWF | DLT_RW_WRITE, "write_fixed" },
	{ 8, DLT_sync, DLT_SYNC_RANGE, "sync_file_range" },
	{ 17, DLT_sync, DLT_SYNC_FALLOCATE, "fallocate" },
	{ 18, DLT_open, 0, "openat" },
	{ 19, DLT_close, 0, "close" },
	{ 22, DLT_vfs_rw, DLT_RW_POS | DLT_RW_RWF, "read" },
	{ 23, DLT_vfs_rw, DLT_RW_POS | DLT_RW_RWF | DLT_RW_WRITE, "write" },
	{ 28, DLT_open, 0, "openat2" },
	{ 30, DLT_vfs_rw, DLT_RW_SPLICE, "splice" },
	{ 35, DLT_create_del, 0, "renameat" },
	{ 36, DLT_create_del, 0, "unlinkat" },
	{ 37, DLT_create_del, 0, "mkdirat" },
	{ 38, DLT_create_del, 0, "symlinkat" },
	{ 39, DLT_create_del, 0, "linkat" },
	{ 49, DLT_vfs_rw, DLT_RW_POS | DLT_RW_RWF, "read_multishot" },
	{ 55, DLT_sync, DLT_SYNC_FTRUNCATE, "ftruncate" },
	{ 60, DLT_vfs_rw, DLT_RW_VEC | DLT_RW_POS | DLT_RW_RWF, "readv_fixed" },
	{ 61, DLT_vfs_rw, DLT_RW_VEC | DLT_RW_POS | DLT_RW_RWF | DLT_RW_WRITE, "writev_fixed" },
};

static uint8_t func_index(unsigned int probe, const char *name)
{
	char func[64];

	snprintf(func, sizeof(func), "io_uring:%s", name);
	for (unsigned int c = 0; c < probes[probe]->n_calls; c++)
		if (!strcmp(probes[probe]->calls[c].name, func))
			return (uint8_t)c;
	return 0;
}

/* Fill OPS for the probes of MASK: returns how many there are. */
static unsigned int ops_fill(struct dlt_uring_op ops[DLT_URING_OPS], probe_mask mask)
{
	unsigned int n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(op_table); i++) {
		const struct op *op = &op_table[i];

		if (!(mask >> op->probe & 1))
			continue;
		ops[op->nr] = (struct dlt_uring_op){
			.probe = op->probe,
			.func = func_index(op->probe, op->func),
			.shape = op->shape,
		};
		n++;
	}
	return n;
}

/* --- the kernel's tracepoints -------------------------------------------------------------------- */

static bool arg_is_pointer(const struct kernel_btf *kernel, const char *tp, unsigned int i)
{
	const struct btf_type *t = btf_tp_arg(kernel, tp, i);

	return t && btf_is_ptr(t);
}

/* -ENOENT: no io_uring, or one whose tracepoint does not pass the request. */
static int kernel_look(const struct kernel_btf *kernel, struct dlt_uring_kernel *uring_kernel)
{
	/*
	 * (req) since 6.4 (commit 2ad57931db64), before that (req, bool), (ctx, req, ...), or without it.
	 * Completions have the request since 5.18 (502c87d65564).
	 */
	bool sqe = !btf_tp_proto(kernel, "io_uring_submit_req");
	const char *submit = sqe ? "io_uring_submit_sqe" : "io_uring_submit_req", *complete = "io_uring_complete";
	const struct btf_type *start = btf_tp_proto(kernel, submit), *link = btf_tp_proto(kernel, "io_uring_fail_link");

	if (!start || !btf_tp_proto(kernel, complete))
		return -ENOENT;
	*uring_kernel = (struct dlt_uring_kernel){
		.start_req = arg_is_pointer(kernel, submit, 1),
		.done_req = arg_is_pointer(kernel, complete, 1),
		.done_cqe = arg_is_pointer(kernel, complete, 2),
		/* (sqe, ctx, req, error) in 5.18, (sqe, req, error) since; (sqe, error) before */
		.failed_req = arg_is_pointer(kernel, "io_uring_req_failed", 2) ? 2 : 1,
		/* (req, link), and with more before it in 5.18; the first parameter of a prototype is the hook's own */
		.fail_link = link ? (uint8_t)(btf_vlen(link) - 2) : 0,
	};
	return uring_kernel->start_req || btf_vlen(start) <= 3 ? 0 : -ENOENT;
}

/* --- loading and attachment ---------------------------------------------------------------------- */

enum { HOOK_COMPLETE, HOOK_OVERFLOW, HOOK_FAIL_LINK, HOOK_FAILED, HOOK_SUBMIT, HOOK_SUBMIT_SQE };
static const struct hook_names {
	const char *name, *tp;
} hooks[] = {
	[HOOK_COMPLETE] = { "complete", "io_uring_complete" },
	[HOOK_OVERFLOW] = { "overflow", "io_uring_cqe_overflow" },
	[HOOK_FAIL_LINK] = { "fail_link", "io_uring_fail_link" },
	[HOOK_FAILED] = { "failed", "io_uring_req_failed" },
	[HOOK_SUBMIT] = { "submit_req", "io_uring_submit_req" },
	[HOOK_SUBMIT_SQE] = { "submit_sqe", "io_uring_submit_sqe" },
};

static struct bpf_program *prog_find(struct io_uring_bpf *skel, const char *kind, const char *name)
{
	char prog[64];

	snprintf(prog, sizeof(prog), "%s_%s", kind, name);
	return bpf_object__find_program_by_name(skel->obj, prog);
}

/* As for process life; and perf's where typed hooks on system calls were not requested. */
static bool typed_hooks(const struct tracer *t)
{
	return !(t->cfg.perf & DLT_PERF_TP) && (!t->n_order || backend_kinds[t->order[0]].skips);
}

static int configure(struct uring *uring, struct tracer *tracer, bool hold)
{
	struct io_uring_bpf *skel = uring->skel;
	struct dlt_uring_kernel k;
	bool typed = typed_hooks(tracer);
	int r = kernel_look(&tracer->kernel, &k);

	if (r < 0)
		return r;
	skel->rodata->dlt_cfg = tracer->cfg;
	skel->rodata->dlt_cfg.hold = hold;
	skel->rodata->kernel = k;
	ops_fill((struct dlt_uring_op *)skel->rodata->ops, tracer->loaded);
	skel->rodata->fdatasync_func = func_index(DLT_sync, "fdatasync");
	for (size_t i = 0; i < ARRAY_SIZE(hooks); i++) {
		const struct hook_names *h = &hooks[i];
		/* where completions have no request these have none either, or completions report them */
		bool there =
			btf_tp_proto(&tracer->kernel, h->tp) && (k.done_req || i == HOOK_COMPLETE || i >= HOOK_SUBMIT);

		bpf_program__set_autoload(prog_find(skel, "btf", h->name), there && typed);
		bpf_program__set_autoload(prog_find(skel, "tp", h->name), there && !typed);
	}
	bpf_map__set_autocreate(skel->maps.fetched, !k.done_req);
	/* a buffer of its own: it may run in the middle of another program of ours */
	return tracer_share_maps(tracer, skel->obj, 1U << TRACER_SCRATCH);
}

static int load(struct uring *uring, struct tracer *tracer, bool hold)
{
	int r;

	uring->skel = SKEL_OPEN_ONLY(io_uring, &tracer->kernel);
	if (!uring->skel)
		return -errno;
	r = configure(uring, tracer, hold);
	if (!r && object_load(uring->skel->skeleton, &tracer->kernel, NULL, NULL) < 0)
		r = -EINVAL;
	if (r < 0) {
		io_uring_bpf__destroy(uring->skel);
		uring->skel = NULL;
	}
	return r;
}

int uring_open(struct uring **ret, struct tracer *tracer)
{
	struct dlt_uring_op ops[DLT_URING_OPS] = {};
	struct uring *uring;
	int r;

	*ret = NULL;
	if (!ops_fill(ops, tracer->loaded))
		return 0;
	uring = calloc(1, sizeof(*uring));
	if (!uring)
		return -ENOMEM;
	r = load(uring, tracer, tracer->cfg.hold);
	if (r < 0 && r != -ENOENT && tracer->cfg.hold)
		r = load(uring, tracer, false);
	if (r < 0) {
		tracer->uring_why =
			r == -ENOENT ? "this kernel has no io_uring, or not the tracepoints that are needed (5.12)" :
				       "the kernel refused its programs (run with -v for why)";
		uring_close(uring);
		return 0;
	}
	tracer->uring_hooks = typed_hooks(tracer) ? "tp_btf/io_uring" : "tp/io_uring";
	*ret = uring;
	return 0;
}

int uring_attach(struct uring *u, struct tracer *t)
{
	const char *name;

	if (u && object_attach(&u->links, u->skel->obj, &name) < 0) {
		t->uring_why = "its tracepoints cannot be attached";
		t->uring_hooks = NULL;
		uring_detach(u);
	}
	return 0;
}

void uring_detach(struct uring *u)
{
	if (u)
		object_detach(&u->links);
}

void uring_close(struct uring *u)
{
	if (!u)
		return;
	uring_detach(u);
	io_uring_bpf__destroy(u->skel);
	free(u);
}

uint64_t uring_skipped(const struct uring *u)
{
	return u ? object_skipped(u->skel->obj, NULL) : 0;
}

/* --- the end -------------------------------------------------------------------------------------- */

/* Has it ended, by a completion that did not show which of several with its user_data it was? */
static bool ended_unknown(const struct uring *u, const struct dlt_uring_req *req)
{
	struct dlt_uring_name name = { req->ctx, req->user_data };
	struct dlt_uring_named named;

	return req->flags & DLT_URING_BY_USER &&
	       (bpf_map_lookup_elem(bpf_map__fd(u->skel->maps.by_user_data), &name, &named) < 0 || named.mixed);
}

/* One that has paths: the kept part of its row, as of NOW_NS. */
static void record_send(const struct uring *uring, uint64_t key, const struct dlt_uring_req *req, uint64_t now_ns,
			void (*fn)(void *ctx, const struct dlt_hdr *rec), void *ctx)
{
	const struct bpf_map *map =
		req->flags & DLT_URING_SHORT ? uring->skel->maps.short_records : uring->skel->maps.long_records;
	union {
		struct dlt_hdr hdr;
		char bytes[DLT_URING_LONG_BYTES];
	} rec;

	if (bpf_map_lookup_elem(bpf_map__fd(map), &key, &rec) < 0)
		return;
	rec.hdr.size = req->rec_used;
	rec.hdr.ts_ns = now_ns;
	rec.hdr.lat_ns = now_ns - req->call.start_ns;
	memcpy(rec.hdr.comm, req->comm, DLT_COMM_LEN);
	if (req->flags & DLT_URING_SKIP)
		probe_silence(&rec.hdr);
	fn(ctx, &rec.hdr);
}

void uring_in_flight(const struct uring *uring, uint64_t now_ns, unsigned int max,
		     void (*call)(void *ctx, const struct dlt_call *call),
		     void (*rec)(void *ctx, const struct dlt_hdr *rec), void *ctx)
{
	int fd = uring ? bpf_map__fd(uring->skel->maps.requests) : -1;
	uint64_t key, *prev = NULL;
	struct dlt_uring_req req;

	for (; uring && max-- && !bpf_map_get_next_key(fd, prev, &key); prev = &key) {
		if (bpf_map_lookup_elem(fd, &key, &req) || ended_unknown(uring, &req))
			continue;
		if (req.flags & (DLT_URING_SHORT | DLT_URING_LONG)) {
			record_send(uring, key, &req, now_ns, rec, ctx);
			continue;
		}
		if (req.flags & DLT_URING_SKIP)
			req.call.flags |= DLT_CALL_SILENT;
		call(ctx, &req.call);
	}
}
