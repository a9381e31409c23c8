/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * System calls of the target, counted and timed by process and call in the kernel: two hooks on all calls of the
 * machine, and a program that sends what has been added each interval. There are some hundred rows a second, however
 * many calls there are.
 */
#include "dlt.bpf.h"
#include "dlt/syscalls.h"

/* rt_sigreturn returns whatever the interrupted code had in that register. */
const volatile __u32 sigreturn_nr = 0;
/* These do not return: if they were noted, they would keep their thread's slot for good. */
const volatile __u32 exit_nr = 0, exit_group_nr = 0;

/* Set when the trace ends: sums that find no room in a ring now are lost, as no later round sends them. */
volatile __u32 ended;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dlt_syscalls_start);
} starts SEC(".maps");

/* Calls whose slot another thread holds. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct dlt_syscalls_start);
} starts_overflow SEC(".maps");
static volatile __u32 overflowed; /* the overflow hash has been used */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DLT_SYSCALLS_CELLS);
	__type(key, struct dlt_syscalls_key);
	__type(value, struct dlt_syscalls_cell);
} cells SEC(".maps");

/* Counts what the probe saw: a record, or a call that is in no sum. */
static __always_inline void count(bool sent)
{
	struct dlt_stats *st = stats_of(DLT_syscalls);

	if (!st)
		return;
	__sync_fetch_and_add(&st->seen, 1);
	__sync_fetch_and_add(sent ? &st->emitted : &st->lost, 1);
}

/* Counts a call that is in no sum, as a table had no room for it. */
static __always_inline void count_no_room(void)
{
	struct dlt_stats *st = stats_of(DLT_syscalls);

	count(false);
	if (st)
		__sync_fetch_and_add(&st->lost_room, 1);
}

static __always_inline int call_enters(__u32 nr)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	__u32 tid = (__u32)pid_tgid, i = tid & dlt_cfg.slot_mask;
	struct dlt_syscalls_start *slot, start = { .tid = tid, .nr = nr };
	struct dlt_shared *sh;

	if (!target_has(pid_tgid >> 32))
		return 0;
	sh = shared();
	if (!sh || sh->stopping)
		return 0;
	if (call_is_compat(task_current()))
		start.nr = DLT_SYSCALLS_COMPAT;
	else if (nr == exit_nr || nr == exit_group_nr)
		return 0;
	slot = bpf_map_lookup_elem(&starts, &i);
	if (!slot)
		return 0;
	start.ns = bpf_ktime_get_ns();
	if (!slot->tid || slot->tid == tid) {
		*slot = start;
		return 0;
	}
	overflowed = 1;
	if (bpf_map_update_elem(&starts_overflow, &tid, &start, BPF_ANY))
		count_no_room();
	return 0;
}

SEC("tp_btf/sys_enter")
int syscalls_enter(__u64 *ctx)
{
	return call_enters((__u32)ctx[1]);
}

/* The hooks where the kernel would skip runs of the typed ones (dlt_cfg.perf). */
SEC("tp/raw_syscalls/sys_enter")
int syscalls_enter_perf(struct trace_event_raw_sys_enter *ctx)
{
	return call_enters((__u32)ctx->id);
}

/* Ends TID's call in flight. Returns false when it began before the trace. */
static __always_inline bool start_take(__u32 tid, struct dlt_syscalls_start *ret)
{
	__u32 i = tid & dlt_cfg.slot_mask;
	struct dlt_syscalls_start *slot = bpf_map_lookup_elem(&starts, &i);

	if (slot && slot->tid == tid) {
		*ret = *slot;
		slot->tid = 0;
		return true;
	}
	if (!overflowed)
		return false;
	slot = bpf_map_lookup_elem(&starts_overflow, &tid);
	if (!slot)
		return false;
	*ret = *slot;
	bpf_map_delete_elem(&starts_overflow, &tid);
	return true;
}

static __noinline struct dlt_syscalls_cell *cell_make(const struct dlt_syscalls_key *key, __u64 now)
{
	struct dlt_syscalls_cell cell = { .sent_at_ns = now };

	if (!key)
		return NULL;
	bpf_get_current_comm(cell.comm, sizeof(cell.comm));
	bpf_map_update_elem(&cells, key, &cell, BPF_NOEXIST); /* unless another thread has done so */
	return bpf_map_lookup_elem(&cells, key);
}

static __always_inline int call_returns(long ret)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid(), now, ns;
	struct dlt_syscalls_key key = { .tgid = pid_tgid >> 32 };
	volatile struct dlt_syscalls_cell *cell;
	struct dlt_syscalls_start start;

	if (!target_has(key.tgid) || !start_take((__u32)pid_tgid, &start))
		return 0;
	now = bpf_ktime_get_ns();
	key.nr = start.nr;
	cell = bpf_map_lookup_elem(&cells, &key);
	if (!cell)
		cell = cell_make(&key, start.ns);
	if (!cell) {
		count_no_room();
		return 0;
	}
	ns = now - start.ns;
	/* Threads of one process meet here from several CPUs. */
	__sync_fetch_and_add(&cell->ns, ns);
	if (ret < 0 && ret >= -4095 && start.nr != sigreturn_nr)
		__sync_fetch_and_add(&cell->failed, 1);
	for (int i = 0; i < 4 && cell->max_ns < ns; i++) /* version 2 of the instructions has no compare and swap */
		cell->max_ns = ns;
	__sync_fetch_and_add(&cell->count, 1);
	return 0;
}

SEC("tp_btf/sys_exit")
int syscalls_exit(__u64 *ctx)
{
	return call_returns((long)ctx[1]);
}

SEC("tp/raw_syscalls/sys_exit")
int syscalls_exit_perf(struct trace_event_raw_sys_exit *ctx)
{
	return call_returns(ctx->ret);
}

/*
 * The daemon runs it with each key. PROCESS_ENDED: once all has been sent, the cell makes room. (A number that is
 * another process's by now keeps it: the sums then go on as they are.)
 */
SEC("raw_tp")
int syscalls_send(struct bpf_raw_tracepoint_args *ctx)
{
	struct dlt_syscalls_key key = { .tgid = ctx->args[0], .nr = ctx->args[1] };
	volatile struct dlt_syscalls_cell *cell = bpf_map_lookup_elem(&cells, &key);
	bool process_ended = ctx->args[2];
	__u64 calls, failed, ns;
	struct dlt_syscalls *rec;
	void *ring;

	if (!cell)
		return 0;
	if (cell->count == cell->sent_count) {
		if (process_ended)
			bpf_map_delete_elem(&cells, &key);
		return 0;
	}
	ring = ring_here();
	rec = ring ? bpf_ringbuf_reserve(ring, sizeof(*rec), 0) : NULL;
	if (!rec) {
		if (ended)
			count(false);
		return 0;
	}
	count(true);
	calls = cell->count;
	failed = cell->failed;
	ns = cell->ns;
	rec->hdr.tgid = key.tgid;
	rec->hdr.tid = key.tgid;
	*(__u64 *)rec->hdr.comm = *(volatile __u64 *)cell->comm;
	*(__u64 *)(rec->hdr.comm + 8) = *(volatile __u64 *)(cell->comm + 8);
	rec->hdr.probe = DLT_syscalls;
	rec->hdr.func = 0;
	rec->hdr.size = sizeof(*rec);
	rec->hdr.ts_ns = bpf_ktime_get_ns(); /* after the reserve, as everywhere */
	rec->hdr.lat_ns = rec->hdr.ts_ns - cell->sent_at_ns;
	rec->nr = key.nr;
	rec->pad = 0;
	rec->count = calls - cell->sent_count;
	rec->failed = failed - cell->sent_failed;
	rec->ns = ns - cell->sent_ns;
	rec->max_ns = cell->max_ns;
	cell->sent_count = calls;
	cell->sent_failed = failed;
	cell->sent_ns = ns;
	cell->sent_at_ns = rec->hdr.ts_ns;
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return 0;
}
