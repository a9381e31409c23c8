/* SPDX-License-Identifier: BSD-2-Clause */
/* What bpf/memory/page_tables.bpf.c sends, and takes. */
#ifndef DLT_PAGE_TABLES_H
#define DLT_PAGE_TABLES_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define DLT_PAGE_TABLES_BATCH 64 /* pages that one run copies */
#define DLT_PAGE_TABLES_PAGE 4096

/* The memory of a process. */
struct dlt_memory_of {
	__u64 pgd; /* virtual address of the topmost page table */
	__u64 start_ns; /* of the process, CLOCK_MONOTONIC */
	__u64 start_brk, brk, start_stack, env_end;
	__u64 task_size;
	__u64 total_vm; /* mapped pages */
	__u32 mappings; /* number of them */
	__u32 tgid;
	__u32 tid; /* a thread that has it: the main thread may have ended */
	__u32 forked; /* it has executed no program since it was forked: its memory began as its parent's */
};

_Static_assert(sizeof(struct dlt_memory_of) == 80, "dlt_memory_of");

#endif
