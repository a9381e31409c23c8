/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every BPF object uses: rings, counters, the target filter, calls in flight, the record header. The
 * daemon creates the maps once and shares them (bpf_map__reuse_fd). The configuration is constant in each
 * object, so that the verifier skips whatever is switched off.
 */
#ifndef DLT_BPF_H
#define DLT_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "compat.bpf.h"
#include "dlt/dlt.h"

#define PF_KTHREAD 0x00200000 /* linux/sched.h */

/* linux/stat.h: S_IFMT and the rest */
#define MODE_FMT 0170000
#define MODE_BLK 0060000
#define MODE_DIR 0040000
#define MODE_LNK 0120000
#define MODE_REG 0100000

/* asm/fcntl.h */
#ifdef __TARGET_ARCH_arm64
#define O_DIRECT 0200000
#else
#define O_DIRECT 040000
#endif

/* asm-generic/errno-base.h, asm-generic/errno.h */
#define EPERM 1
#define EAGAIN 11
#define ENOMEM 12
#define EEXIST 17
#define EINPROGRESS 115

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile struct dlt_config dlt_cfg SEC(".rodata") = {};

/* Whether the trace has the rows of PROBE. */
static __always_inline bool traces(enum dlt_probe probe)
{
	return dlt_cfg.probes >> probe & 1;
}

/* The ring of CPU c is element c mod n_rings. */
struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct ring);
} dlt_rings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct dlt_stats);
} dlt_stats SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct dlt_shared);
} dlt_shared SEC(".maps");

/*
 * One byte per tgid, eight to an element. Set before a process runs, cleared when its last thread exits, by several
 * CPUs and the daemon at once: storing a byte does not change its neighbors. With dlt_cfg.all the meaning is inverted:
 * the bytes mark dltraced and its helpers.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, __u64);
} dlt_targets SEC(".maps");

/*
 * Calls in flight by tid & slot_mask: no hash on the hot path. Where two threads' tids meet in one slot,
 * the later one goes to the overflow hash, so that no call is mispaired or lost.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct dlt_call);
} dlt_calls SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct dlt_call);
} dlt_overflow SEC(".maps");

static __always_inline struct dlt_shared *shared(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&dlt_shared, &zero);
}

static __always_inline struct dlt_stats *stats_of(__u32 probe)
{
	__u32 at = bpf_get_smp_processor_id() * DLT_STATS_STRIDE + probe;

	return bpf_map_lookup_elem(&dlt_stats, &at);
}

/* Counts a record that is lost because a ring was full. */
static __always_inline void count_lost(__u32 probe)
{
	struct dlt_stats *st = stats_of(probe);

	if (st)
		st->lost++;
}

/* Counts a call that is lost because the kernel did not run the program at its start or at its end. */
static __always_inline void count_lost_unseen(__u32 probe)
{
	struct dlt_stats *st = stats_of(probe);

	if (st) {
		st->lost++;
		st->lost_unseen++;
	}
}

/* Counts a call that is lost because the table of calls in flight was full. */
static __always_inline void count_lost_room(__u32 probe)
{
	struct dlt_stats *st = stats_of(probe);

	if (st) {
		st->lost++;
		st->lost_room++;
	}
}

/* Counts a lost row beyond a call's first: the call itself is counted elsewhere. */
static __always_inline void count_row_lost(__u32 probe)
{
	struct dlt_stats *st = stats_of(probe);

	if (st)
		st->rows_lost++;
}

static __always_inline void *ring_here(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	if (cpu >= dlt_cfg.n_rings)
		cpu %= dlt_cfg.n_rings;
	return bpf_map_lookup_elem(&dlt_rings, &cpu);
}

/* High-rate probes leave the last eighth of a ring to rare records. */
static __always_inline bool ring_crowded(void *ring)
{
	return bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) > dlt_cfg.ring_bytes - dlt_cfg.ring_reserve;
}

/* --- the target ------------------------------------------------------------------------------ */

static __always_inline __u8 *target_byte(__u32 tgid)
{
	__u32 i = tgid >> 3;
	__u8 *eight = bpf_map_lookup_elem(&dlt_targets, &i);

	return eight ? eight + (tgid & 7) : NULL;
}

static __always_inline bool target_has(__u32 tgid)
{
	__u8 *byte = target_byte(tgid);
	bool set = byte && *byte == DLT_TARGET_IN;

	return dlt_cfg.all ? !set && tgid != 0 : set;
}

/* Whether the call came by the 32-bit entry, whose numbers mean other calls. */
static __always_inline bool call_is_compat(struct task_struct *task)
{
	return KLOAD(task, thread_info.COMPAT_IN) & COMPAT_BIT;
}

/* --- calls in flight -------------------------------------------------------------------------- */

static __always_inline struct dlt_call *call_find(__u32 tid)
{
	__u32 i = tid & dlt_cfg.slot_mask;
	struct dlt_call *call = bpf_map_lookup_elem(&dlt_calls, &i);
	struct dlt_shared *sh;

	if (!call)
		return NULL;
	if (call->tid == tid)
		return call;
	sh = shared();
	if (!sh || !sh->overflow)
		return NULL;
	return bpf_map_lookup_elem(&dlt_overflow, &tid);
}

/* The kernel skipped the end of the call. A call without a row of its own was not counted as seen. */
static __always_inline void call_count_unseen(const struct dlt_call *call)
{
	if (!(call->flags & DLT_CALL_NO_ROW))
		count_lost_unseen(call->probe);
}

static __always_inline void call_end(struct dlt_call *call, __u32 tid)
{
	__u32 i = tid & dlt_cfg.slot_mask;
	struct dlt_shared *sh;

	call->tid = 0;
	if (bpf_map_lookup_elem(&dlt_calls, &i) == call)
		return;
	if (bpf_map_delete_elem(&dlt_overflow, &tid) == 0) {
		sh = shared();
		if (sh)
			__sync_fetch_and_add(&sh->overflow, -1);
	}
}

/*
 * Handlers of system calls, tail-called by the dispatcher (calls.bpf.c): at the start of a call, and at its end with
 * the result. libbpf knows no type for these sections: the daemon gives them the type of the backend's hooks
 * (dispatcher.c). The types differ only in the position of the result in the context.
 */
#define CALL_BEGIN(name) SEC("call_begin") int HELD_PROG(name)
#define CALL_END(name) SEC("call_end") int HELD_PROG(name)

static __always_inline long call_result(const unsigned long long *ctx)
{
	long ret;

	/*
	 * trace_event_raw_sys_exit: header, id, ret; fexit of f(regs) and tp_btf: regs, ret. The asm keeps
	 * clang from making one load with a computed offset, which the verifier does not accept as context
	 * access.
	 */
	if (dlt_cfg.tp) {
		ret = ctx[2];
		asm volatile("" : "+r"(ret));
	} else {
		ret = ctx[1];
	}
	return ret;
}

/* --- records ---------------------------------------------------------------------------------- */

static __always_inline void comm_read(char comm[DLT_COMM_LEN], struct task_struct *task)
{
	if (DLT_DIRECT) {
		/* two loads; the helper measured 54 ns slower */
		*(__u64 *)comm = *(__u64 *)task->comm;
		*(__u64 *)(comm + 8) = *(__u64 *)(task->comm + 8);
	} else {
		/* the helper of 6.1 leaves the bytes behind the name as they are */
		*(__u64 *)comm = *(__u64 *)(comm + 8) = 0;
		bpf_get_current_comm(comm, DLT_COMM_LEN);
	}
}

/* For the end of a call: the clock is read after the reserve, so that no record appears behind the drain's clock. */
static __always_inline void hdr_fill(struct dlt_hdr *h, const struct dlt_call *call, struct task_struct *task,
				     __u32 tid, __u32 size)
{
	h->tgid = call->tgid;
	h->tid = tid;
	h->probe = call->probe;
	h->func = call->func;
	h->size = size;
	comm_read(h->comm, task);
	h->ts_ns = bpf_ktime_get_ns();
	h->lat_ns = h->ts_ns - call->start_ns;
}

/*
 * Returns room for a record of the call's probe, or NULL after counting the record as lost. RARE records
 * may use the whole ring.
 */
static __always_inline void *rec_reserve(__u32 probe, __u64 size, bool rare)
{
	void *ring = ring_here();
	void *rec;

	if (!ring)
		return NULL;
	if (!rare && ring_crowded(ring))
		rec = NULL;
	else
		rec = bpf_ringbuf_reserve(ring, size, 0);
	if (!rec)
		count_lost(probe);
	return rec;
}

/* Never the default wake-up: an interrupt per record would be the whole cost. The drain has a timer. */
static __always_inline void rec_submit(void *rec, __u32 probe)
{
	struct dlt_stats *st = stats_of(probe);

	if (st)
		st->emitted++;
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
}

#endif
