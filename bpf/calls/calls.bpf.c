/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * System calls, for all probes: the call is noted in its slot at the start; at the end the probe's
 * handler is tail-called by number. Each backend has its own hooks around the same two bodies:
 *
 *   fentry      fentry and fexit of the calls' functions (__x64_sys_read ...)
 *   kprobe      kprobes of the calls' functions, the end of all calls by tp/raw_syscalls/sys_exit
 *   tracepoint  the start and the end of all calls, by tp_btf or by tp/raw_syscalls: a number that
 *               nobody traces and a process outside the target leave after one load each
 *
 * The daemon opens this object once per backend in use and switches the others' programs off.
 */
#include "dlt.bpf.h"

#include "dlt/regions.h"

/* Indexed by system call number; the daemon fills it from the probes' tables before the load. */
const volatile struct dlt_callinfo call_table[DLT_SYSCALLS] = {};

/* With several backends in a trace, each ends the calls whose start it saw. */
const volatile __u8 dispatcher = 0;

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, DLT_SYSCALLS);
	__type(key, __u32);
	__type(value, __u32);
} entry_handlers SEC(".maps"), exit_handlers SEC(".maps");

/* Where a hook finds the call's arguments. */
enum call_args_in {
	ARGS_IN_REGS, /* struct pt_regs, typed */
	ARGS_UNTYPED, /* struct pt_regs, a number to the verifier */
	ARGS_IN_TP, /* the context of tp/raw_syscalls/sys_enter: header, id, args; a word each */
};

/* Returns the entry of TID's call in the overflow hash, for a slot that another thread holds, or NULL. */
static BESIDE_TAIL_CALLS struct dlt_call *call_overflow(__u32 tid)
{
	static const struct dlt_call empty;
	struct dlt_call *call = bpf_map_lookup_elem(&dlt_overflow, &tid);
	struct dlt_shared *sh = shared();

	if (call) {
		call_count_unseen(call);
		return call;
	}
	if (!sh || bpf_map_update_elem(&dlt_overflow, &tid, &empty, BPF_NOEXIST))
		return NULL;
	__sync_fetch_and_add(&sh->overflow, 1);
	return bpf_map_lookup_elem(&dlt_overflow, &tid);
}

/* Whether this prctl is a region's. Others, such as the names of threads, are neither counted nor slowed down. */
static __always_inline bool call_is_region(const void *args, enum call_args_in in)
{
	if (in == ARGS_IN_REGS)
		return call_arg0(args) == DLT_REGIONS_PRCTL;
	if (in == ARGS_UNTYPED)
		return call_arg0_of(KCAST(pt_regs, args)) == DLT_REGIONS_PRCTL;
	return ((const volatile __u64 *)args)[2] == DLT_REGIONS_PRCTL;
}

/*
 * A tracer that replaces a call's result sets its number to -1, at the begin and at the end: which call it was is not
 * known. A program can make such a call itself.
 */
static BESIDE_TAIL_CALLS int count_injected(void)
{
	struct dlt_stats *st = target_has(bpf_get_current_pid_tgid() >> 32) ? stats_of(DLT_NO_PROBE) : NULL;

	if (st)
		st->refused++;
	return 0;
}

static __always_inline int call_begin(void *ctx, long nr, const void *args, enum call_args_in in)
{
	struct dlt_callinfo info;
	struct task_struct *task;
	struct dlt_stats *stats;
	struct dlt_shared *sh;
	struct dlt_call *call;
	__u32 tgid, tid, i;
	__u64 pid_tgid;

	if ((unsigned long)nr >= DLT_SYSCALLS)
		return (int)nr == -1 ? count_injected() : 0;
	*(__u32 *)&info = *(const volatile __u32 *)&call_table[nr];
	if (!info.probe)
		return 0;
	pid_tgid = bpf_get_current_pid_tgid();
	tgid = pid_tgid >> 32;
	tid = (__u32)pid_tgid;
	if (!target_has(tgid))
		return 0;
	if (info.flags & DLT_CALL_REGION && !call_is_region(args, in))
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
	if (!(info.flags & DLT_CALL_NO_ROW))
		stats->seen++;

	i = tid & dlt_cfg.slot_mask;
	call = bpf_map_lookup_elem(&dlt_calls, &i);
	if (!call)
		return 0;
	if (call->tid == tid) {
		call_count_unseen(call);
	} else if (call->tid) {
		call = call_overflow(tid);
		if (!call) {
			stats->lost++;
			stats->lost_room++;
			return 0;
		}
	}
	call->tgid = tgid;
	*(__u32 *)&call->probe = *(__u32 *)&info;
	call->nr = nr;
	if (in == ARGS_IN_REGS)
		call_args(call->args, args);
	else if (in == ARGS_UNTYPED)
		call_args_of(call->args, KCAST(pt_regs, args));
	else
		for (i = 0; i < 6; i++) /* volatile: the verifier wants each access as context plus constant */
			call->args[i] = ((const volatile __u64 *)args)[2 + i];
	if (bpf_core_field_exists(task->ioac.read_bytes))
		call->disk_bytes = KLOAD(task, ioac.read_bytes);
	call->id = (struct dlt_file_id){};
	call->tid = tid;
	call->start_ns = bpf_ktime_get_ns();
	if (info.flags & DLT_CALL_ENTRY)
		bpf_tail_call(ctx, &entry_handlers, nr);
	return 0;
}

/*
 * At the end of every call of the machine: an untraced call leaves without a look at the thread's slot. The number is
 * the one that the call began with, except for rt_sigreturn, whose registers are those of the interrupted code.
 */
static __always_inline bool call_is_traced(long nr)
{
	return (unsigned long)nr < DLT_SYSCALLS && call_table[nr].probe;
}

#define SECCOMP_MODE_FILTER 2 /* linux/seccomp.h */

/*
 * Counts a call that a seccomp filter has refused: it has an end, with its number and the filter's error, but no begin.
 * Nor has a call that began before the trace: so the thread's slot must show that its process has made one since. The
 * ends of calls by function are not seen where the function has not run.
 */
static BESIDE_TAIL_CALLS int count_refused(__u32 nr)
{
	const __u64 pid_tgid = bpf_get_current_pid_tgid();
	struct task_struct *task = task_current();
	__u32 i = (__u32)pid_tgid & dlt_cfg.slot_mask;
	struct dlt_call *slot = bpf_map_lookup_elem(&dlt_calls, &i);
	struct dlt_shared *sh = shared();
	struct dlt_callinfo info = {};
	struct dlt_stats *st;

	if (!bpf_core_field_exists(task->seccomp.mode))
		return 0;
	barrier_var(nr); /* the caller's bounds are not known here */
	nr &= DLT_SYSCALLS - 1;
	*(__u32 *)&info = *(const volatile __u32 *)&call_table[nr];
	if (info.flags & (DLT_CALL_NO_ROW | DLT_CALL_REGION) || !sh || sh->stopping || !slot || slot->tid ||
	    slot->tgid != pid_tgid >> 32 || !target_has(pid_tgid >> 32))
		return 0;
	if (KLOAD(task, seccomp.mode) != SECCOMP_MODE_FILTER || call_is_compat(task))
		return 0;
	st = stats_of(info.probe);
	if (st)
		st->refused++;
	return 0;
}

/* NR: -1 where it does not come by itself, but with the function. */
static __always_inline int call_finish(void *ctx, long nr)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);

	if (!call && nr >= 0)
		return count_refused(nr);
	if (!call || call->flags / DLT_CALL_OWNER != dispatcher)
		return 0;
	bpf_tail_call(ctx, &exit_handlers, call->nr);
	/* there is no handler: the daemon has armed a number without one, or it is the limit of tail calls */
	call_count_unseen(call);
	call_end(call, tid);
	return 0;
}

/* --- tracepoint -------------------------------------------------------------------------------- */

SEC("tp_btf/sys_enter")
int BPF_PROG(tp_btf_enter, struct pt_regs *regs, long nr)
{
	return call_begin(ctx, nr, regs, ARGS_IN_REGS);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(tp_btf_exit, struct pt_regs *regs)
{
	return call_is_traced(regs->CALL_NR) ? call_finish(ctx, regs->CALL_NR) : 0;
}

SEC("tp/raw_syscalls/sys_enter")
int tp_enter(__u64 *ctx)
{
	return call_begin(ctx, ctx[1], ctx, ARGS_IN_TP);
}

/* Ends calls for kprobe as well. */
SEC("tp/raw_syscalls/sys_exit")
int tp_exit(__u64 *ctx)
{
	return call_is_traced(ctx[1]) ? call_finish(ctx, ctx[1]) : 0;
}

/* --- by function: the daemon sets the function's name, and attaches the program to each --------- */

SEC("fentry")
int BPF_PROG(fentry_enter, struct pt_regs *regs)
{
	return call_begin(ctx, regs->CALL_NR, regs, ARGS_IN_REGS);
}

#ifdef __TARGET_ARCH_x86
#define THREAD_SIZE (4 * 4096) /* arch/x86/include/asm/page_64_types.h */

/*
 * For functions whose BTF does not give pt_regs a type (seen on 5.10): the program may not read through the
 * context. The caller's registers are at the top of the stack (task_pt_regs; bpf_task_pt_regs needs 5.15).
 */
SEC("fentry")
int fentry_enter_opaque(void *ctx)
{
	struct task_struct *task = task_current();
	__u64 top = (__u64)KLOAD(task, stack) + THREAD_SIZE;
	const struct pt_regs *regs = KCAST(pt_regs, top - sizeof(*regs));

	return call_begin(ctx, KLOAD(regs, CALL_NR), regs, ARGS_UNTYPED);
}
#endif

SEC("fexit")
int fexit_exit(void *ctx)
{
	return call_finish(ctx, -1);
}

SEC("kprobe")
int kprobe_enter(struct pt_regs *ctx)
{
	const struct pt_regs *regs = KCAST(pt_regs, PT_REGS_PARM1(ctx));

	return call_begin(ctx, KLOAD(regs, CALL_NR), regs, ARGS_UNTYPED);
}
