/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether, on this kernel, another thread's run of the same BPF program can preempt a first run. The kernel skips the
 * second run (prog->active, kernel/bpf/trampoline.c), so that it would be lost. The test is an experiment: one thread's
 * call stays in this program for some ticks, while a second thread on the same CPU makes calls all the time. Either the
 * first thread is preempted in here, by any thread, or a call of the second is missed. Time alone proves nothing: on a
 * busy machine there may be no tick in it, or other threads may get the CPU. So ticks are counted.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
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

/*
 * Whether the kernel has accounted for a tick since the last look. It also does so when other threads wake up on this
 * CPU.
 */
static __always_inline bool tick(volatile struct dlt_preempt *t, struct task_struct *task, __u64 now)
{
	__u64 ran = BPF_CORE_READ(task, se.sum_exec_runtime);

	if (ran == t->ran || now - t->ran_at < t->tick_ns)
		return false;
	t->ran = ran;
	t->ran_at = now;
	return true;
}

/* Global functions, each verified once: 2 million looks at the clock at most. */
__noinline int stay_1(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	volatile struct dlt_preempt *t = test_get();
	__u64 now;

	for (int i = 0; t && i < 128; i++) {
		now = bpf_ktime_get_ns();
		if (t->stop || now >= t->until)
			return 1;
		if (BPF_CORE_READ(task, nivcsw) != t->switches) {
			t->preempted = 1;
			return 1;
		}
		if (tick(t, task, now) && ++t->ticks >= DLT_PREEMPT_TICKS)
			return 1;
	}
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
	struct task_struct *task;

	t = test_get();
	if (!t || nr != t->call_nr)
		return 0;
	if (tid == t->calling_tid)
		t->seen++;
	if (tid != t->staying_tid)
		return 0;
	task = (void *)bpf_get_current_task();
	t->switches = BPF_CORE_READ(task, nivcsw);
	t->ran = BPF_CORE_READ(task, se.sum_exec_runtime);
	t->ran_at = bpf_ktime_get_ns();
	for (int i = 0; i < 128; i++)
		if (stay_2())
			break;
	return 0;
}
