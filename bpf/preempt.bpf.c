/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Can a BPF program be preempted on this kernel by another thread's run of the same program? The
 * kernel skips that run (prog->active, kernel/bpf/trampoline.c), so it would be lost. Asked by
 * trying: a call of one thread stays in here for some milliseconds, a second thread on the same CPU
 * calls all the time, and its calls are counted.
 */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "dlt/preempt.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct dlt_preempt);
} test SEC(".maps");

static __always_inline volatile struct dlt_preempt *test_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&test, &zero);
}

/* Global functions, each verified once: 2 million looks at the clock at most. */
__noinline int stay_1(void)
{
	volatile struct dlt_preempt *t = test_get();

	for (int i = 0; t && i < 128; i++)
		if (t->stop || bpf_ktime_get_ns() >= t->until)
			return 1;
	return !t;
}

__noinline int stay_2(void)
{
	for (int i = 0; i < 128; i++)
		if (stay_1())
			return 1;
	return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(preempt_test, struct pt_regs *regs, long nr)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	volatile struct dlt_preempt *t;

	t = test_get();
	if (!t || nr != t->call_nr)
		return 0;
	if (tid == t->calling_tid)
		t->seen++;
	if (tid != t->staying_tid)
		return 0;
	for (int i = 0; i < 128; i++)
		if (stay_2())
			break;
	return 0;
}
