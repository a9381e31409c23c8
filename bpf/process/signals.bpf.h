/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who sent the signal that ends a process. The sender is known when the signal is sent, and whether the signal ends the
 * process only at its exit: a map has the last one of each number, for a process, until then. Signals are rare.
 */
#ifndef SIGNALS_BPF_H
#define SIGNALS_BPF_H

#include "file.bpf.h"

#include "dlt/pids.h"

struct signal_key {
	__u32 tgid, sig;
};

struct signal_sent {
	__u64 start_ns; /* of the process: its number may be another's by now */
	__u64 limit_bytes; /* of the memory of its cgroup, if that was used up */
	__u32 by; /* enum dlt_pids_by */
	__u32 pid;
	char comm[DLT_COMM_LEN];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH); /* most signals end nothing, and nobody removes them */
	__uint(max_entries, 4096);
	__type(key, struct signal_key);
	__type(value, struct signal_sent);
} dlt_signals SEC(".maps");

#define SIGNALS 32 /* real-time signals follow */
#define SIGINT_NR 2
#define SIGKILL_NR 9
#define SIGTERM_NR 15
/* Those that a process ignores, stops or goes on by, if it does nothing about them: CHLD CONT STOP TSTP TTIN TTOU URG
 * WINCH */
#define HARMLESS (1U << 17 | 1U << 18 | 1U << 19 | 1U << 20 | 1U << 21 | 1U << 22 | 1U << 23 | 1U << 28)
#define SENT_IGNORED 1 /* TRACE_SIGNAL_*, include/trace/events/signal.h */
#define SENT_AGAIN 2
#define BY_NOBODY \
	1UL /* SEND_SIG_PRIV: the kernel's own; 0 is SEND_SIG_NOINFO, which has the current task as its sender */
#define CODE_QUEUE -1 /* SI_QUEUE: sigqueue(3) */
#define CODE_TKILL -6 /* SI_TKILL */

#define CGROUP_LEVELS 16
#define NEARLY 32 /* charges are made ahead: a cgroup at its limit may have a 32nd part left */

/* Returns the limit of memory of TASK's cgroup, or of one above it, that is used up, in bytes; 0: none is. */
static __always_inline __u64 memory_limit_of(struct task_struct *task, __u64 page)
{
	struct css_set *set = BPF_CORE_READ(task, cgroups);
	struct cgroup_subsys_state *css = NULL;
	struct page_counter *counter;

	if (!bpf_core_enum_value_exists(enum cgroup_subsys_id, memory_cgrp_id) ||
	    !bpf_core_type_exists(struct mem_cgroup))
		return 0;
	bpf_core_read(&css, sizeof(css), &set->subsys[bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id) & 31]);
	if (!css)
		return 0;
	counter = (void *)css - bpf_core_field_offset(struct mem_cgroup, css) +
		  bpf_core_field_offset(struct mem_cgroup, memory);
	for (int i = 0; i < CGROUP_LEVELS && counter; i++) {
		const __u64 max = BPF_CORE_READ(counter, max);
		const __u64 usage = (__u64)BPF_CORE_READ(counter, usage.counter);

		/* without a limit MAX is LONG_MAX, in pages or bytes */
		if (max < (1ULL << 50) && usage + usage / NEARLY >= max)
			return max * page;
		counter = BPF_CORE_READ(counter, parent);
	}
	return 0;
}

/*
 * Whether the kernel sent SIG with INFO by itself: a fault, a timer, a terminal. It sends SIGKILL of its own for what
 * the current task does: the end of a PID namespace's first process, or of a tracer; and out of memory, see
 * signal_add().
 */
static __always_inline bool by_kernel(int sig, __u64 info)
{
	int code;

	if (info <= BY_NOBODY)
		return info == BY_NOBODY && sig != SIGKILL_NR;
	code = BPF_CORE_READ((struct kernel_siginfo *)info, si_code);
	return code != 0 && code != CODE_QUEUE && code != CODE_TKILL;
}

/* A process may send some when it has ended for us: its children's (PR_SET_PDEATHSIG), or its namespace's. */
static __always_inline __u32 sender_of(__u32 to, __u32 from)
{
	const __u8 *in = target_byte(from);

	if (from == to)
		return DLT_PIDS_BY_SELF;
	return target_has(from) || (in && *in & DLT_TARGET_ENDED) ? DLT_PIDS_BY_JOB : DLT_PIDS_BY_OTHER;
}

static __always_inline int signal_sent(int sig, __u64 info, struct task_struct *task, int result, __u64 page)
{
	struct signal_key key = { .tgid = BPF_CORE_READ(task, tgid), .sig = sig };
	struct signal_sent sent = {};

	if (!target_has(key.tgid) || sig <= 0 || sig >= SIGNALS || HARMLESS >> sig & 1 || result == SENT_IGNORED ||
	    result == SENT_AGAIN)
		return 0;
	sent.start_ns = BPF_CORE_READ(task, group_leader, start_boottime);
	sent.by = DLT_PIDS_BY_KERNEL;
	if (!by_kernel(sig, info)) {
		sent.pid = bpf_get_current_pid_tgid() >> 32;
		sent.by = sender_of(key.tgid, sent.pid);
		bpf_get_current_comm(sent.comm, sizeof(sent.comm));
	}
	if (sig == SIGKILL_NR && info == BY_NOBODY)
		sent.limit_bytes = memory_limit_of(task, page);
	bpf_map_update_elem(&dlt_signals, &key, &sent, BPF_ANY);
	return 0;
}

/* Adds who sent signal SIG to the process, and returns whether somebody did. */
static __always_inline bool sender_add(struct dlt_pids *rec, struct signal_struct *signal, __u32 sig)
{
	struct signal_key key = { .tgid = rec->hdr.tgid, .sig = sig };
	struct signal_sent *sent = bpf_map_lookup_elem(&dlt_signals, &key);
	bool same;

	if (!sent)
		return false;
	same = sent->start_ns == rec->start_ns;
	if (same) {
		if (key.sig == SIGKILL_NR && BPF_CORE_READ(signal, oom_mm)) {
			rec->by = sent->limit_bytes ? DLT_PIDS_BY_OOM_LIMIT : DLT_PIDS_BY_OOM;
			rec->limit_bytes = sent->limit_bytes;
		} else {
			rec->by = sent->by;
			rec->by_pid = sent->pid;
			__builtin_memcpy(rec->by_comm, sent->comm, sizeof(rec->by_comm));
		}
	}
	bpf_map_delete_elem(&dlt_signals, &key);
	return same;
}

/*
 * Adds to REC, the end of a process, who sent the signal that ended it, or asked it to end with a status. The OOM
 * killer marks its victims: so its signal is told from others of the kernel without a hook of its own.
 */
static __always_inline void signal_add(struct dlt_pids *rec, struct signal_struct *signal)
{
	const __u32 sig = rec->status & 0x7f;

	if (sig)
		sender_add(rec, signal, sig);
	else if (rec->status && sender_add(rec, signal, SIGTERM_NR))
		rec->requested = SIGTERM_NR;
	else if (rec->status && sender_add(rec, signal, SIGINT_NR))
		rec->requested = SIGINT_NR;
}

#endif
