/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The two tracepoints of all system calls, armed once for all probes: a number that nobody traces
 * and a process outside the target leave after one load each. A call is noted in its slot at the
 * entry; at the end the probe's handler is tail-called by number.
 */
#include "dlt.bpf.h"

/* By system call number; filled by the daemon from the probes' tables before the load. */
const volatile struct dlt_callinfo call_table[DLT_SYSCALLS] = {};

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, DLT_SYSCALLS);
	__type(key, __u32);
	__type(value, __u32);
} entry_handlers SEC(".maps"), exit_handlers SEC(".maps");

/* x86: the call came in by the 32-bit entry, whose numbers mean other calls. */
static __always_inline bool call_is_compat(struct task_struct *task)
{
#ifdef __TARGET_ARCH_x86
	return KLOAD(task, thread_info.status) & 2; /* TS_COMPAT, asm/thread_info.h */
#else
	return false;
#endif
}

static __noinline struct dlt_call *call_overflow(__u32 tid)
{
	static const struct dlt_call empty;
	struct dlt_shared *sh = shared();

	if (!sh || bpf_map_update_elem(&dlt_overflow, &tid, &empty, BPF_ANY))
		return NULL;
	__sync_fetch_and_add(&sh->overflow, 1);
	return bpf_map_lookup_elem(&dlt_overflow, &tid);
}

SEC("tp_btf/sys_enter")
int BPF_PROG(sys_enter, struct pt_regs *regs, long nr)
{
	struct dlt_callinfo info;
	struct task_struct *task;
	struct dlt_stats *stats;
	struct dlt_shared *sh;
	struct dlt_call *call;
	__u32 tgid, tid, i;
	__u64 pid_tgid;

	if ((unsigned long)nr >= DLT_SYSCALLS)
		return 0;
	*(__u32 *)&info = *(const volatile __u32 *)&call_table[nr];
	if (!info.probe)
		return 0;
	pid_tgid = bpf_get_current_pid_tgid();
	tgid = pid_tgid >> 32;
	tid = (__u32)pid_tgid;
	if (!target_has(tgid))
		return 0;
	task = task_current();
	sh = shared();
	if (!sh || sh->stopping)
		return 0;
	if (call_is_compat(task)) {
		__sync_fetch_and_add(&sh->compat, 1);
		return 0;
	}
	stats = stats_of(info.probe);
	if (!stats)
		return 0;
	stats->seen++;

	i = tid & dlt_cfg.slot_mask;
	call = bpf_map_lookup_elem(&dlt_calls, &i);
	if (!call)
		return 0;
	if (call->tid && call->tid != tid) {
		call = call_overflow(tid);
		if (!call) {
			stats->lost++;
			return 0;
		}
	}
	call->tgid = tgid;
	*(__u32 *)&call->probe = *(__u32 *)&info;
	call->nr = nr;
	call_args(call->args, regs);
	if (bpf_core_field_exists(task->ioac.read_bytes))
		call->disk_bytes = KLOAD(task, ioac.read_bytes);
	call->id.ino = 0;
	call->tid = tid;
	call->start_ns = bpf_ktime_get_ns();
	if (info.flags & DLT_CALL_ENTRY)
		bpf_tail_call(ctx, &entry_handlers, nr);
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(sys_exit, struct pt_regs *regs, long ret)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);

	if (!call)
		return 0;
	bpf_tail_call(ctx, &exit_handlers, call->nr);
	/* no handler: the daemon armed a number without one, or the tail-call limit */
	count_lost(call->probe);
	call_end(call, tid);
	return 0;
}
