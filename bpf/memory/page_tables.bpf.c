/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Page tables of processes, read and never written: a list of all processes' memory, and copies of pages of the
 * kernel's view of physical memory. The daemon follows the tables (src/kernel/access/page_walk.c). An address that is
 * not mapped gives zeros.
 */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "dlt/page_tables.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DLT_PAGE_TABLES_BATCH);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, __u64);
} from SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DLT_PAGE_TABLES_BATCH);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(key_size, 4);
	__uint(value_size, DLT_PAGE_TABLES_PAGE);
} pages SEC(".maps");

#define PF_FORKNOEXEC 0x40 /* linux/sched.h */

/* Once for each process: by its main thread, or if that has ended, by each other one. */
SEC("iter/task")
int page_tables_list(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct dlt_memory_of of = {};
	struct mm_struct *mm;

	if (!task || (task->pid != task->tgid && task->group_leader->mm))
		return 0;
	mm = task->mm;
	if (!mm)
		return 0;
	of.tgid = task->tgid;
	of.tid = task->pid;
	of.pgd = (__u64)mm->pgd;
	of.start_ns = task->group_leader->start_time;
	of.start_brk = mm->start_brk;
	of.brk = mm->brk;
	of.start_stack = mm->start_stack;
	of.env_end = mm->env_end;
	of.task_size = mm->task_size;
	of.total_vm = mm->total_vm;
	of.mappings = mm->map_count;
	of.forked = !!(task->group_leader->flags & PF_FORKNOEXEC);
	bpf_seq_write(ctx->meta->seq, &of, sizeof(of));
	return 0;
}

/* Argument: how many pages. One after the other: the last one is read last. */
SEC("raw_tp")
int page_tables_copy(__u64 *ctx)
{
	__u64 n = ctx[0], *addr;
	void *page;

	for (__u32 i = 0; i < DLT_PAGE_TABLES_BATCH; i++) {
		__u32 at = i;

		if (i >= n)
			break;
		addr = bpf_map_lookup_elem(&from, &at);
		page = bpf_map_lookup_elem(&pages, &at);
		if (!addr || !page)
			break;
		bpf_probe_read_kernel(page, DLT_PAGE_TABLES_PAGE, (void *)*addr);
	}
	return 0;
}
