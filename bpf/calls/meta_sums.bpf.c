/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends what has been added to the sums of meta.bpf.c each interval. */
#include "calls/meta.bpf.h"

/* Set when the trace ends: sums that find no room in a ring now are lost, as no later round sends them. */
volatile __u32 ended;

static __always_inline void count(bool sent)
{
	struct dlt_stats *st = stats_of(DLT_meta_sums);

	if (!st)
		return;
	__sync_fetch_and_add(&st->seen, 1);
	__sync_fetch_and_add(sent ? &st->emitted : &st->lost, 1);
}

/* Of the key that is sent, by all CPUs; the daemon runs one program at a time. */
volatile __u64 near_count, near_ns, near_max_ns;

enum near_step {
	NEAR_SUM,
	NEAR_CLEAR, /* the process is gone, so nobody adds; tags are odd: nobody has the one that is left */
	NEAR_FREE, /* last of all, as from then on it may be another key's */
};

/* Takes STEP with what CPU has for the key with TAG. Nonzero behind the last CPU. */
__noinline int near_of_cpu(__u64 tag, __u32 cpu, __u32 step)
{
	volatile struct dlt_meta_near *near = near_at(tag, cpu);

	if (!near)
		return 1;
	if (step == NEAR_SUM && near->tag == tag) {
		near_ns += near->ns; /* before the calls, as the hooks count the other way round */
		near_count += near->count;
		if (near_max_ns < near->max_ns)
			near_max_ns = near->max_ns;
	} else if (step == NEAR_CLEAR && near->tag == tag) {
		near->count = near->ns = near->max_ns = 0;
		near->tag = tag - 1;
	} else if (step == NEAR_FREE && near->tag == tag - 1) {
		near->claims = 0;
	}
	return 0;
}

/* Two levels of global functions: the verifier checks 32 + 32 turns, not 1024. */
#define BATCH 32
__noinline int near_of_batch(__u64 tag, __u32 first, __u32 step)
{
#pragma nounroll
	for (__u32 n = 0; n < BATCH; n++)
		if (near_of_cpu(tag, first + n, step))
			return 1;
	return 0;
}

static __always_inline void near_of_all(__u64 tag, __u32 step)
{
#pragma nounroll
	for (__u32 n = 0; n < DLT_META_NEAR_CPUS; n += BATCH)
		if (near_of_batch(tag, n, step))
			break;
}

/*
 * The daemon runs it with each key, and does not look at the cell itself: bpf(2) on an element keeps some hooks from
 * running meanwhile (struct dlt_stats). ENDED: the process is gone; once all is sent, its cell and its name go, too.
 */
SEC("raw_tp")
int meta_sums_send(struct bpf_raw_tracepoint_args *ctx)
{
	struct dlt_meta_key key = {
		.folder = ctx->args[0], .request = ctx->args[1], .tgid = ctx->args[2], .func = ctx->args[3]
	};
	bool process_ended = ctx->args[4], forget;
	volatile struct dlt_meta_cell *cell = bpf_map_lookup_elem(&dlt_meta_cells, &key);
	__u64 calls, failed, ns, tag = key_tag(&key);
	struct dlt_meta_sums *rec;
	void *ring;

	if (!cell)
		return 0;
	near_count = near_ns = near_max_ns = 0;
	near_of_all(tag, NEAR_SUM);
	failed = cell->failed; /* before the calls, as the hooks count the other way round */
	ns = cell->ns + near_ns;
	calls = cell->count + near_count;
	forget = calls == cell->sent_count && failed == cell->sent_failed && ns == cell->sent_ns;
	if (forget && !process_ended)
		return 0;
	ring = ring_here();
	rec = ring ? bpf_ringbuf_reserve(ring, sizeof(*rec), 0) : NULL;
	if (!rec) {
		if (ended && !forget)
			count(false);
		return 0;
	}
	rec->hdr.tgid = key.tgid;
	rec->hdr.tid = key.tgid;
	*(__u64 *)rec->hdr.comm = *(volatile __u64 *)cell->comm;
	*(__u64 *)(rec->hdr.comm + 8) = *(volatile __u64 *)(cell->comm + 8);
	rec->hdr.probe = DLT_meta_sums;
	rec->hdr.func = forget ? DLT_META_FORGET : DLT_META_SUMS;
	rec->hdr.size = sizeof(*rec);
	rec->hdr.ts_ns = bpf_ktime_get_ns(); /* after the reserve, as everywhere */
	rec->hdr.lat_ns = rec->hdr.ts_ns - cell->sent_at_ns;
	rec->key = key;
	rec->count = calls - cell->sent_count;
	rec->failed = failed - cell->sent_failed;
	rec->ns = ns - cell->sent_ns;
	rec->max_ns = near_max_ns > cell->max_ns ? near_max_ns : cell->max_ns;
	rec->error = failed ? (__s64)cell->error : DLT_NONE;
	*(__u64 *)&rec->segs = 0;
	if (forget) {
		near_of_all(tag, NEAR_CLEAR);
		bpf_map_delete_elem(&dlt_meta_cells, &key);
		near_of_all(tag, NEAR_FREE);
	} else {
		cell->sent_count = calls;
		cell->sent_failed = failed;
		cell->sent_ns = ns;
		cell->sent_at_ns = rec->hdr.ts_ns;
		count(true);
	}
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return 0;
}
