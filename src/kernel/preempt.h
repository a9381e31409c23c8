/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Does this kernel preempt BPF programs, and so skip runs of them? On kernels whose preemption is
 * full or lazy, and not for kprobes and perf's tracepoints, which run with preemption off.
 */
#ifndef KERNEL_PREEMPT_H
#define KERNEL_PREEMPT_H

#include <stdbool.h>

/* As far as the kernel's build and debugfs show. */
bool preempt_is_possible(void);

struct kernel_btf;

/* Takes six ticks of one CPU where the kernel could preempt; false also where no program can be attached. */
bool preempt_skips_runs(const struct kernel_btf *kernel);

#endif
