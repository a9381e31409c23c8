/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Direct reclaim: a thread of the target asks for memory and must first free some itself, as the machine has too
 * little, or as a cgroup is at its limit. What the kernel's own threads reclaim (kswapd) has no rows, and stops nobody.
 *
 * Reclaim takes microseconds at least and is rare, so a hash has those in flight: no thread needs memory for it before.
 * No thread reclaims within a reclaim (PF_MEMALLOC). So where one is still in flight when the next begins, its end was
 * not seen.
 */
#include "dlt.bpf.h"

#include "dlt/reclaim.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DLT_RECLAIMS);
	__type(key, __u32); /* tid */
	__type(value, struct dlt_reclaim);
} reclaims SEC(".maps");

static __always_inline int begins(enum dlt_reclaim_kind kind)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	__u32 tid = (__u32)pid_tgid;
	struct dlt_reclaim rec = {
		.hdr = { .tgid = pid_tgid >> 32, .tid = tid, .probe = DLT_reclaim, .size = sizeof(rec) },
		.kind = kind,
		.pages = DLT_UNKNOWN,
	};
	struct dlt_stats *st = stats_of(DLT_reclaim);
	struct dlt_shared *sh = shared();

	if (!target_has(rec.hdr.tgid) || !st || !sh || sh->stopping)
		return 0;
	st->seen++;
	if (bpf_map_lookup_elem(&reclaims, &tid))
		count_lost_unseen(DLT_reclaim);
	comm_read(rec.hdr.comm, task_current());
	rec.hdr.ts_ns = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&reclaims, &tid, &rec, BPF_ANY))
		count_lost_room(DLT_reclaim);
	return 0;
}

static __always_inline int ends(__u64 pages)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_reclaim *begun = bpf_map_lookup_elem(&reclaims, &tid), *rec;

	if (!begun)
		return 0;
	rec = rec_reserve(DLT_reclaim, sizeof(*rec), false);
	if (rec) {
		*rec = *begun;
		rec->pages = (__s64)pages;
		rec->hdr.ts_ns = bpf_ktime_get_ns();
		rec->hdr.lat_ns = rec->hdr.ts_ns - begun->hdr.ts_ns;
		rec_submit(rec, DLT_reclaim);
	}
	bpf_map_delete_elem(&reclaims, &tid);
	return 0;
}

/*
 * A begin's arguments differ between kernels, and none is used. The first one of an end is the number of pages: in the
 * events of perf it follows the header, which has 8 bytes.
 */
SEC("tp_btf/mm_vmscan_direct_reclaim_begin")
int HELD_PROG(reclaim_begin)
{
	return begins(DLT_RECLAIM_MACHINE);
}

SEC("tp_btf/mm_vmscan_direct_reclaim_end")
int HELD_PROG(reclaim_end)
{
	return ends(ctx[0]);
}

SEC("tp_btf/mm_vmscan_memcg_reclaim_begin")
int HELD_PROG(reclaim_cgroup_begin)
{
	return begins(DLT_RECLAIM_CGROUP);
}

SEC("tp_btf/mm_vmscan_memcg_reclaim_end")
int HELD_PROG(reclaim_cgroup_end)
{
	return ends(ctx[0]);
}

/* The same where the kernel would skip runs of the typed ones (dlt_cfg.perf). */
SEC("tp/vmscan/mm_vmscan_direct_reclaim_begin")
int reclaim_begin_perf(void *ctx)
{
	return begins(DLT_RECLAIM_MACHINE);
}

SEC("tp/vmscan/mm_vmscan_direct_reclaim_end")
int reclaim_end_perf(__u64 *ctx)
{
	return ends(ctx[1]);
}

SEC("tp/vmscan/mm_vmscan_memcg_reclaim_begin")
int reclaim_cgroup_begin_perf(void *ctx)
{
	return begins(DLT_RECLAIM_CGROUP);
}

SEC("tp/vmscan/mm_vmscan_memcg_reclaim_end")
int reclaim_cgroup_end_perf(__u64 *ctx)
{
	return ends(ctx[1]);
}
