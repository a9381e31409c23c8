/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The record of process life: pids.bpf.c sends it when something happens to a process, snapshot.bpf.c for a
 * process that joins the target. Counted by atomic adds: a snapshot's program may be preempted by one of
 * the others.
 */
#ifndef PIDS_BPF_H
#define PIDS_BPF_H

#include "file.bpf.h"

#include "dlt/pids.h"

static __always_inline struct dlt_pids *pids_begin(struct scratch *s, struct task_struct *task, __u32 event)
{
	struct dlt_pids *rec = (struct dlt_pids *)s->rec;
	struct task_struct *parent;
	const struct cred *cred;
	struct pid *pid;
	__u32 level;

	__builtin_memset(rec, 0, sizeof(*rec));
	rec->hdr.tgid = BPF_CORE_READ(task, tgid);
	rec->hdr.tid = BPF_CORE_READ(task, pid);
	rec->hdr.probe = DLT_pids;
	bpf_core_read(rec->hdr.comm, sizeof(rec->hdr.comm), &task->comm);
	rec->event = event;
	parent = BPF_CORE_READ(task, real_parent);
	rec->ppid = BPF_CORE_READ(parent, tgid);
	rec->status = DLT_NONE;
	cred = BPF_CORE_READ(task, cred);
	rec->uid = BPF_CORE_READ(cred, uid.val);
	pid = BPF_CORE_READ(task, group_leader, thread_pid);
	if (pid) {
		level = BPF_CORE_READ(pid, level);
		bpf_core_read(&rec->nspid, sizeof(rec->nspid), &pid->numbers[level & 31].nr);
	}
	rec->start_ns = BPF_CORE_READ(task, group_leader, start_boottime);
	rec->args_at = BPF_CORE_READ(task, mm, arg_start);
	s->used = sizeof(*rec);
	s->start_ns = 0;
	return rec;
}

static __always_inline void pids_send(void)
{
	struct dlt_stats *st = stats_of(DLT_pids);
	struct dlt_shared *sh = shared();

	if (!st || !sh || sh->quiet)
		return;
	__sync_fetch_and_add(&st->seen, 1);
	__sync_fetch_and_add(vrec_send() ? &st->emitted : &st->lost, 1);
}

static __noinline void pids_emit(struct task_struct *task, __u32 event)
{
	struct scratch *s = scratch_get();

	if (!s)
		return;
	pids_begin(s, task, event);
	pids_send();
}

#endif
