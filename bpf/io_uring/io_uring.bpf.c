/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_uring requests that are file operations, as rows of the probes that trace the equivalent system calls.
 * A request is noted when the kernel accepts or refuses it, and becomes a row when its completion is
 * posted. Its address identifies it until then.
 *
 * What it requests is read from the ring's submission entry: that is ABI, while the kernel's own structs
 * differ. The entry is the last one fetched while the tracepoint runs.
 */
#include "cache/cache_call.bpf.h"
#include "calls/rw.bpf.h"

#include "io_uring/io_uring.bpf.h"
#include "io_uring/io_uring_start.bpf.h"
#include "io_uring/io_uring_done.bpf.h"

const volatile struct dlt_uring_kernel kernel = {};

/* Requests whose completion does not contain the address. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, struct dlt_uring_name);
	__type(value, struct dlt_uring_named);
} by_user_data SEC(".maps");

/* Without io_uring_req_failed: how many entries of a ring had been fetched when the last one was noted. */
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

/* One of the requests with this user_data has ended: returns its address if that is known, else 0. MORE: it goes on. */
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

/* The request KEY has ended, as another hook has shown. */
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

/* --- the course of a request ------------------------------------------------------------------- */

static __always_inline bool stopping(void)
{
	struct dlt_shared *sh = shared();

	return !sh || sh->stopping;
}

static __always_inline int request_done(__u64 key, __s64 res, bool more)
{
	struct dlt_uring_req *req = bpf_map_lookup_elem(&requests, &key);
	struct dlt_stats *stats;

	if (!req)
		return 0;
	request_row(key, res, true);
	if (more) {
		/* one completion of several: the request itself has not ended */
		stats = stats_of(req->call.probe);
		if (stats)
			stats->seen++;
		return 0;
	}
	bpf_map_delete_elem(&requests, &key);
	return 0;
}

/*
 * The entry at KEY has ended unnoticed, since its memory now belongs to another request. If only its failure was to be
 * reported, it has succeeded.
 */
static __always_inline void request_replaced(__u64 key)
{
	struct dlt_uring_req *req = bpf_map_lookup_elem(&requests, &key);

	if (!req)
		return;
	if (req->flags & DLT_URING_SKIP)
		request_row_silent(key);
	else
		count_lost_unseen(req->call.probe); /* its user_data was not unique, or its end was skipped */
	if (req->flags & DLT_URING_SHORT)
		bpf_map_delete_elem(&short_records, &key);
	if (req->flags & DLT_URING_LONG)
		bpf_map_delete_elem(&long_records, &key);
	bpf_map_delete_elem(&requests, &key);
}

/*
 * Before io_uring_req_failed: an entry that is refused outright completes while it is the last one fetched,
 * without having been noted. Returns whether it is noted now, as the request KEY; its row is the caller's, as both do
 * not fit on the stack.
 */
static __noinline bool refused(__u64 ctx, __u64 user_data, __s64 res, __u64 key)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32, head, *last;
	struct uring_sqe sqe;

	if (res >= 0 || !target_has(tgid) || stopping() ||
	    !sqe_fetched(KCAST_AS(io_ring_ctx, io_ring_ctx___dlt, ctx), &sqe, &head) || sqe.user_data != user_data)
		return false;
	last = bpf_map_lookup_elem(&fetched, &ctx);
	if (last && *last == head)
		return false;
	bpf_map_update_elem(&fetched, &ctx, &head, BPF_ANY);
	return request_begin(key, ctx, &sqe);
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
	key = ctx + 1; /* not the address of a request */
	if (!kernel.done_req && refused(ctx, user_data, res, key)) {
		request_row(key, res, false);
		bpf_map_delete_elem(&requests, &key);
	}
	return 0;
}

enum note {
	NOTE_NONE, /* not of the target, or noted before */
	NOTE_REPLACES, /* another request has its place: it must go first */
	NOTE_NEW,
};

/*
 * Notes the entry of KEY as a request, as far as there is room. What it has on the stack is gone when rows are made. A
 * global function: verified once, not at each caller.
 */
__noinline int request_note(__u64 key)
{
	struct io_kiocb___dlt *kiocb = KCAST_AS(io_kiocb, io_kiocb___dlt, key);
	__u64 ctx = (__u64)KLOAD(kiocb, ctx), user_data = kiocb_user_data(kiocb);
	__u32 tgid = bpf_get_current_pid_tgid() >> 32, head;
	struct dlt_uring_req *req;
	struct uring_sqe sqe;

	if (!target_has(tgid) || stopping())
		return NOTE_NONE;
	if (!sqe_fetched(KCAST_AS(io_ring_ctx, io_ring_ctx___dlt, ctx), &sqe, &head) || sqe.user_data != user_data)
		return NOTE_NONE; /* its file operations, if any, are not traced: see docs/design.md */
	/*
	 * in a chain, an accepted request may be refused later, where its vector cannot be copied: io_req_prep_async()
	 * of 6.1
	 */
	req = bpf_map_lookup_elem(&requests, &key);
	if (req)
		return req->ctx == ctx && req->head == head ? NOTE_NONE : NOTE_REPLACES;
	req = request_begin(key, ctx, &sqe);
	if (req)
		req->head = head;
	if (!kernel.done_req)
		bpf_map_update_elem(&fetched, &ctx, &head, BPF_ANY);
	return NOTE_NEW;
}

/* The kernel has accepted or refused the entry of KEY. */
static __always_inline int request_start(__u64 key)
{
	struct io_kiocb___dlt *kiocb = KCAST_AS(io_kiocb, io_kiocb___dlt, key);
	__u64 ctx = (__u64)KLOAD(kiocb, ctx), user_data = kiocb_user_data(kiocb);
	struct dlt_uring_req *req;
	int note = request_note(key);

	if (note == NOTE_REPLACES) {
		request_replaced(key);
		note = request_note(key);
	}
	if (note != NOTE_NEW)
		return 0;
	req = bpf_map_lookup_elem(&requests, &key);
	if (req && req->flags & DLT_URING_SKIP && !row_keep(key)) {
		count_lost_room(req->call.probe);
		bpf_map_delete_elem(&requests, &key);
		req = NULL;
	}
	if (!kernel.done_req || (req && req->flags & DLT_URING_MULTISHOT)) {
		user_data_add(key, ctx, user_data);
		if (req)
			req->flags |= DLT_URING_BY_USER;
	}
	return 0;
}

/* Whether KEY is the request whose completion has USER_DATA and RES. If so it has ended. */
static __always_inline bool overflowed_is(__u64 key, __u64 user_data, __s32 res)
{
	struct dlt_uring_req *req = bpf_map_lookup_elem(&requests, &key);

	if (!req || req->user_data != user_data || kiocb_res(key) != res || (req->flags & DLT_URING_SKIP && res >= 0))
		return false;
	if (req->flags & DLT_URING_BY_USER)
		user_data_remove(key, req->ctx, user_data);
	request_done(key, res, false);
	return true;
}

/*
 * Looks at some requests of the list from NODE on. Returns the next one to look at, 0 when found or at the end. A
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
 * The ring has no room: newer kernels post nothing yet, and do not report which request has ended. It is either the
 * worker's current request, or one of the ring's list of those that are done but not posted, in their order.
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
 * --- hooks: typed ones, and those of perf, which run with preemption off and are never skipped. The ends
 * first, so that no entry is made whose end would be missed.
 */

/* Returns argument I as a number, which global functions need: a typed one is a pointer. */
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

/* In a chain that has failed, each later request, including those without a completion. */
SEC("tp_btf/io_uring_fail_link")
int HELD_PROG(btf_fail_link)
{
	__u64 link = arg(ctx, kernel.fail_link);

	return request_done(link, kiocb_canceled(link), false);
}

SEC("tp/io_uring/io_uring_fail_link")
int tp_fail_link(struct trace_event_raw_io_uring_fail_link___dlt *ctx)
{
	return request_done((__u64)ctx->link, kiocb_canceled((__u64)ctx->link), false);
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

/* io_uring_submit_req until 6.3 (commit 2ad57931db64). */
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
