/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What ends a wait, noted where it is done: in sched_waking, which runs in the context of the waker. sched_wakeup may
 * run later, on the CPU of the thread that is woken (kernel commit fbd705a0c618).
 *
 * The current thread is the waker only in its own context. In an interrupt it is whatever thread was interrupted; then
 * timers and sockets say what has happened, whose tracepoints note it for their CPU.
 */
#ifndef SCHED_WAKER_BPF_H
#define SCHED_WAKER_BPF_H

#include "file.bpf.h"
#include "sched/sched_cells.bpf.h"
#include "sched/sched_life.bpf.h"

#define PF_EXITING 4 /* linux/sched.h */
#define SOCK_FRESH_NS 100000 /* a socket that became readable longer ago has nothing to do with a wake-up */
#define AF_INET 2 /* linux/socket.h */
#define AF_INET6 10

/*
 * Set by the daemon. The place of a CPU's preempt count, behind that of its run queue: both are in the section of
 * per-CPU data, and a thread has a pointer to its CPU's run queue. A symbol for the count would need a kernel with
 * CONFIG_KALLSYMS_ALL. COUNT_KNOWN 0: tracepoints tell of interrupts.
 */
const volatile __s64 count_from_queue = 0;
const volatile __u8 count_known = 0;
static volatile __u8 count_is_wrong; /* it was seen to be: no timer runs in the context of a task */

/* Set by the daemon: calls whose first argument is a descriptor, a bit for each number; calls that wait for requests of
 * the thread's own. */
const volatile __u64 calls_on_fd[DLT_SYSCALLS / 64] = {};
const volatile __u32 calls_for_disk[3] = {};

/* --- context ------------------------------------------------------------------------------------- */

/* linux/preempt.h: bits 8 to 15 count soft interrupts (bit 8: one is served), 16 to 19 interrupts, above that NMIs */
#define COUNT_SOFTIRQ 0x100
#define COUNT_HARDIRQ 0xff0000

static __always_inline __u32 context_by_count(__u32 count)
{
	if (count & COUNT_HARDIRQ)
		return DLT_CONTEXT_HARDIRQ;
	return count & COUNT_SOFTIRQ ? DLT_CONTEXT_SOFTIRQ : DLT_CONTEXT_TASK;
}

/* The count was in a struct from 6.2 to 6.14 (commits 64701838bf05, 46e8fff6d45f). */
struct pcpu_hot___dlt {
	int preempt_count;
} __attribute__((preserve_access_index));

static __always_inline __u64 count_in_struct(void)
{
	return bpf_core_field_exists(struct pcpu_hot___dlt, preempt_count) ?
		       bpf_core_field_offset(struct pcpu_hot___dlt, preempt_count) :
		       0;
}

/* The address of the CPU's run queue, by its thread TASK. */
static __always_inline __u64 queue_of(struct task_struct *task)
{
	__u64 queue = (__u64)KLOAD(task, se.cfs_rq);

	return queue ? load_u64(queue + bpf_core_field_offset(struct cfs_rq, rq)) : 0;
}

/* The context of the program, which has interrupted TASK or runs for it. */
static __always_inline __u32 context_here(struct dlt_sched_cpu *here, struct task_struct *task)
{
	__u64 queue;

#ifdef __TARGET_ARCH_arm64
	return context_by_count((__u32)KLOAD(task, thread_info.preempt_count));
#endif
	if (!count_known || count_is_wrong) {
		if (here->in_irq || (here->in_hrtimer && !here->in_softirq))
			return DLT_CONTEXT_HARDIRQ;
		return here->in_softirq ? DLT_CONTEXT_SOFTIRQ : DLT_CONTEXT_TASK;
	}
	if (!here->count_at) {
		queue = queue_of(task);
		if (!queue)
			return DLT_CONTEXT_TASK;
		here->count_at = queue + count_from_queue + count_in_struct();
	}
	return context_by_count((__u32)load_u64(here->count_at));
}

/* --- descriptors --------------------------------------------------------------------------------- */

static __always_inline bool is_on_fd(__u32 call)
{
	__u32 word = call / 64;

	asm volatile("" : "+r"(word)); /* the verifier needs the bound at its use */
	return call < DLT_SYSCALLS && calls_on_fd[word & (DLT_SYSCALLS / 64 - 1)] >> (call & 63) & 1;
}

/* The open file of TASK's CALL, whose registers are REGS; NULL: it is on none. */
static __always_inline struct file *file_of_call(struct task_struct *task, __u32 call, const struct pt_regs *regs)
{
	return is_on_fd(call) ? file_of_fd(task, call_arg0_of(regs)) : NULL;
}

#define MODE_SOCK 0140000

/* The address of the struct sock of FILE's socket; 0: it is none of IP. */
static __always_inline __u64 sock_of(struct file *file)
{
	struct inode *inode = KLOAD(file, f_inode);
	__u16 family = 0;
	__u64 sock;

	if ((KLOAD(inode, i_mode) & MODE_FMT) != MODE_SOCK)
		return 0;
	sock = load_u64((__u64)BPF_CORE_READ(file, private_data) + bpf_core_field_offset(struct socket, sk));
	if (sock)
		bpf_probe_read_kernel(&family, sizeof(family),
				      (void *)(sock + bpf_core_field_offset(struct sock, __sk_common.skc_family)));
	return family == AF_INET || family == AF_INET6 ? sock : 0;
}

/* A socket's ports, as the kernel has them: the local one in its own byte order, the remote one in that of the network.
 */
struct ports {
	__u16 local, remote;
};

static __always_inline struct ports ports_of(__u64 sock)
{
	const struct sock *sk = (void *)sock;

	return (struct ports){ BPF_CORE_READ(sk, __sk_common.skc_num),
			       __builtin_bswap16(BPF_CORE_READ(sk, __sk_common.skc_dport)) };
}

/* Whether SOCK's ends have the same address: on one machine, that is. */
static __always_inline bool is_looped(__u64 sock)
{
	const struct sock *sk = (void *)sock;
	__u32 to = BPF_CORE_READ(sk, __sk_common.skc_daddr), from = BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr);
	struct in6_addr to6, from6;

	if (BPF_CORE_READ(sk, __sk_common.skc_family) == AF_INET)
		return to && (to == from || (to & 0xff) == 127);
	to6 = BPF_CORE_READ(sk, __sk_common.skc_v6_daddr);
	from6 = BPF_CORE_READ(sk, __sk_common.skc_v6_rcv_saddr);
	return to6.in6_u.u6_addr32[3] && to6.in6_u.u6_addr32[0] == from6.in6_u.u6_addr32[0] &&
	       to6.in6_u.u6_addr32[1] == from6.in6_u.u6_addr32[1] &&
	       to6.in6_u.u6_addr32[2] == from6.in6_u.u6_addr32[2] && to6.in6_u.u6_addr32[3] == from6.in6_u.u6_addr32[3];
}

/* The registers of the call in which TASK, the current thread, was interrupted. */
static __always_inline const struct pt_regs *regs_here(struct task_struct *task)
{
	if (DLT_DIRECT) /* which takes no pointer that was cast */
		return (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	return stack_regs(task);
}

static __always_inline __u32 call_here(struct task_struct *task, const struct pt_regs *regs)
{
	long nr = KLOAD(regs, CALL_NR);

	return KLOAD(task, flags) & PF_KTHREAD || nr < 0 ? DLT_SCHED_NO_CALL : (__u32)nr;
}

/*
 * Packets to the same machine are received in a soft interrupt, most often inside the sender's call: whether TASK,
 * which was interrupted, is in one on the other end of SOCK. Of 0, which is not known before 6.3, any socket to the
 * same machine will do; an unconnected one has no ports to compare.
 */
static __noinline bool sends_to(struct task_struct *task, __u64 sock)
{
	const struct pt_regs *regs = regs_here(task);
	struct file *file = file_of_call(task, call_here(task, regs), regs);
	__u64 own = file ? sock_of(file) : 0;
	struct ports there, here;

	if (!own)
		return false;
	if (!sock)
		return is_looped(own);
	there = ports_of(sock);
	here = ports_of(own);
	return !here.remote || !there.remote ? here.remote == there.local || !here.remote :
					       here.remote == there.local && here.local == there.remote;
}

/* --- the waker ----------------------------------------------------------------------------------- */

/* Whether a signal waits for TASK: it is there before the thread is woken for it (kernel/signal.c). */
static __always_inline bool is_signaled(struct task_struct *task)
{
	__u64 shared = (__u64)KLOAD(task, signal), own = KLOAD(task, pending.signal.sig[0]);

	if (shared)
		own |= load_u64(shared + bpf_core_field_offset(struct signal_struct, shared_pending.signal));
	return own && own & ~KLOAD(task, blocked.sig[0]);
}

static __always_inline bool sock_is_fresh(const struct dlt_sched_cpu *here, __u32 context, __u32 tid, __u64 now)
{
	return now - here->sock_ns < SOCK_FRESH_NS && here->sock_context == context &&
	       (context != DLT_CONTEXT_TASK || here->sock_tid == tid);
}

static __always_inline enum dlt_wait_by by_task(struct task_struct *task, struct task_struct *waker)
{
	__u32 flags = KLOAD(waker, flags);

	if (flags & PF_EXITING)
		return DLT_BY_EXIT;
	if (is_signaled(task))
		return DLT_BY_SIGNAL;
	if (!KLOAD(waker, pid))
		return DLT_BY_INTERRUPT; /* the idle task wakes for interrupts */
	return flags & PF_KTHREAD ? DLT_BY_KERNEL : DLT_BY_THREAD;
}

static __always_inline enum dlt_wait_by by_interrupt(struct dlt_sched_slot *slot, const struct dlt_sched_cpu *here,
						     __u32 context, struct task_struct *task, struct task_struct *waker)
{
	if (is_signaled(task))
		return DLT_BY_SIGNAL;
	if (here->in_hrtimer || (here->in_timer && context == DLT_CONTEXT_SOFTIRQ))
		return DLT_BY_TIMER;
	if (context == DLT_CONTEXT_SOFTIRQ && sends_to(waker, slot->sock))
		return DLT_BY_THREAD;
	return slot->sock ? DLT_BY_NET : DLT_BY_INTERRUPT;
}

static __always_inline void waker_is(struct dlt_sched_slot *slot, struct task_struct *waker)
{
	__u32 tgid = KLOAD(waker, tgid);

	slot->by_tgid = may_name(tgid) ? tgid : 0;
	slot->by_tid = KLOAD(waker, pid);
	comm_read(slot->by_comm, waker);
}

/*
 * Notes in SLOT the call in which WAKER ends a wait that gets a row: a lock, an answer and a page are given in
 * different ones.
 */
static __noinline int waker_call_note(struct dlt_sched_slot *slot, struct task_struct *waker)
{
	__u32 call = call_here(waker, regs_here(waker));

	slot->by_call = call < DLT_SYSCALLS ? call : DLT_SCHED_BY_NO_CALL;
	return 0;
}

/* Notes in SLOT, which is TASK's, what wakes it NOW. */
static __always_inline int waker_note(struct dlt_sched_slot *slot, struct task_struct *task, __u64 now)
{
	struct task_struct *waker = task_current();
	__u32 cpu = bpf_get_smp_processor_id(), context;
	struct dlt_sched_cpu *here = bpf_map_lookup_elem(&cpus, &cpu);

	if (!here)
		return 0;
	context = context_here(here, waker);
	slot->sock = sock_is_fresh(here, context, KLOAD(waker, pid), now) ? here->sock : 0;
	slot->by = context == DLT_CONTEXT_TASK ? by_task(task, waker) : by_interrupt(slot, here, context, task, waker);
	if (context == DLT_CONTEXT_TASK ? slot->by != DLT_BY_INTERRUPT : slot->by == DLT_BY_THREAD)
		waker_is(slot, waker);
	else
		slot->by_tgid = slot->by_tid = 0;
	slot->by_call = DLT_SCHED_BY_NO_CALL;
	if (slot->by_tgid && slot->kind == DLT_SCHED_TARGET && now >= slot_since(slot) + DLT_WAITS_MIN_NS)
		waker_call_note(slot, waker);
	return 0;
}

/* An interrupt has ended TASK's wait in CALL, and that is all that the waker could tell. */
static __noinline int by_call(struct task_struct *task, __u32 call)
{
	struct file *file;

	if (call == calls_for_disk[0] || call == calls_for_disk[1] || call == calls_for_disk[2])
		return DLT_BY_DISK;
	file = file_of_call(KCAST(task_struct, task), call, task_regs(task));
	return file && sock_of(file) ? DLT_BY_NET : DLT_BY_INTERRUPT;
}

/*
 * What has ended the wait of TASK, whose slot is SLOT. A thread that slept in io_schedule() was woken for its page or
 * request, whoever did that.
 */
static __always_inline enum dlt_wait_by waker_by(struct task_struct *task, const struct dlt_sched_slot *slot)
{
	__u32 by = slot->by;

	if (!slot_waits(slot))
		return DLT_BY_NOTHING;
	if (slot->state == DLT_SCHED_DISK && by != DLT_BY_SIGNAL && by != DLT_BY_TIMER)
		return DLT_BY_DISK;
	if (!by)
		return DLT_BY_UNKNOWN;
	return by == DLT_BY_INTERRUPT ? by_call(task, slot->call) : by;
}

/* --- what interrupts do -------------------------------------------------------------------------- */

static __always_inline struct dlt_sched_cpu *cpu_here(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&cpus, &cpu);
}

static __always_inline int sock_note(__u64 sock)
{
	struct task_struct *task = task_current();
	struct dlt_sched_cpu *here = cpu_here();

	if (!here)
		return 0;
	here->sock_context = context_here(here, task);
	here->sock_tid = KLOAD(task, pid);
	here->sock = sock;
	here->sock_ns = bpf_ktime_get_ns();
	return 0;
}

/* 6.3, commit 40e0b0908142 */
SEC("tp_btf/sk_data_ready")
int sched_sock(__u64 *ctx)
{
	return sock_note(ctx[0]);
}

/* Connections that are there, or gone, wake without data. */
SEC("tp_btf/inet_sock_set_state")
int sched_sock_state(__u64 *ctx)
{
	return sock_note(ctx[0]);
}

#define CPU_NOTE(name, tp, member, value)                \
	SEC("tp_btf/" tp)                                \
	int sched_##name(__u64 *ctx)                     \
	{                                                \
		struct dlt_sched_cpu *here = cpu_here(); \
                                                         \
		if (here)                                \
			here->member = (value);          \
		return 0;                                \
	}

SEC("tp_btf/hrtimer_expire_entry")
int sched_hrtimer_begins(__u64 *ctx)
{
	struct dlt_sched_cpu *here = cpu_here();

	if (!here)
		return 0;
	if (context_here(here, task_current()) == DLT_CONTEXT_TASK)
		count_is_wrong = 1;
	here->in_hrtimer = 1;
	return 0;
}

CPU_NOTE(hrtimer_ends, "hrtimer_expire_exit", in_hrtimer, 0)
CPU_NOTE(timer_begins, "timer_expire_entry", in_timer, 1)
CPU_NOTE(timer_ends, "timer_expire_exit", in_timer, 0)
CPU_NOTE(irq_begins, "irq_handler_entry", in_irq, 1)
CPU_NOTE(irq_ends, "irq_handler_exit", in_irq, 0)
CPU_NOTE(softirq_begins, "softirq_entry", in_softirq, 1)
CPU_NOTE(softirq_ends, "softirq_exit", in_softirq, 0)

#endif
