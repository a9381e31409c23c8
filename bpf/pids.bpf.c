/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Process life: fork, exec, rename and exit of the target's processes, and the target itself. A child is
 * added before it runs; a process leaves when its last thread exits; a task that moves into a traced cgroup
 * is added at the move.
 */
#include "pids.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct dlt_cgroup_key);
	__type(value, __u8);
} dlt_cgroups SEC(".maps");

/* Cgroups that will be traced as soon as they are made. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, struct dlt_cgroup_path);
	__type(value, __u8);
} dlt_cgroup_paths SEC(".maps");

const volatile __u32 page_bytes = 4096; /* arm64 has pages of 64 KiB too */

#define CGROUP_DEPTH 32
#define PF_KTHREAD 0x00200000 /* linux/sched.h */

/* --- records ---------------------------------------------------------------------------------- */

/* Add what TASK has used so far. */
static __always_inline void usage_add(struct dlt_pids *rec, struct task_struct *task)
{
	rec->utime_ns += BPF_CORE_READ(task, utime);
	rec->stime_ns += BPF_CORE_READ(task, stime);
	rec->majflt += BPF_CORE_READ(task, maj_flt);
	if (bpf_core_field_exists(task->ioac.read_bytes)) {
		rec->disk_read += BPF_CORE_READ(task, ioac.read_bytes);
		rec->disk_write += BPF_CORE_READ(task, ioac.write_bytes);
	}
}

/* --- the target ------------------------------------------------------------------------------- */

static __always_inline void target_add(__u32 tgid)
{
	__u8 *in = target_byte(tgid);
	struct dlt_shared *sh = shared();

	if (!in || !sh || *in == DLT_TARGET_IN)
		return;
	*in = DLT_TARGET_IN;
	__sync_fetch_and_add(&sh->forks, 1);
}

static __always_inline void target_remove(__u32 tgid)
{
	__u8 *in = target_byte(tgid);

	if (in && *in)
		*in = 0;
}

/* Is CGRP or one of its ancestors traced? */
static __noinline bool cgroup_traced(struct cgroup *cgrp)
{
	struct dlt_cgroup_key key = {};
	struct cgroup_subsys_state *css;

	for (int i = 0; i < CGROUP_DEPTH && cgrp; i++) {
		key.id = BPF_CORE_READ(cgrp, kn, id);
		key.hierarchy = BPF_CORE_READ(cgrp, root, hierarchy_id);
		if (bpf_map_lookup_elem(&dlt_cgroups, &key))
			return true;
		css = BPF_CORE_READ(cgrp, self.parent);
		if (!css)
			break;
		cgrp = (void *)css - bpf_core_field_offset(struct cgroup, self);
	}
	return false;
}

static __always_inline int forked(struct task_struct *parent, struct task_struct *child)
{
	__u32 tgid = BPF_CORE_READ(child, tgid);
	__u32 ptgid = BPF_CORE_READ(parent, tgid);
	struct cgroup *cgrp;

	if (tgid == ptgid) {
		if (target_has(tgid))
			pids_emit(child, DLT_PIDS_THREAD);
		return 0;
	}
	if (dlt_cfg.all) {
		if (target_has(ptgid)) {
			target_remove(tgid); /* the number may have belonged to a helper before */
			pids_emit(child, DLT_PIDS_FORK);
		} else {
			target_add(tgid);
		}
		return 0;
	}
	if (target_has(ptgid)) {
		target_add(tgid);
		pids_emit(child, DLT_PIDS_FORK);
		return 0;
	}
	/* the number may have belonged to a traced process before */
	target_remove(tgid);
	if (!dlt_cfg.cgroups)
		return 0;
	/*
	 * CLONE_INTO_CGROUP moves no task: there is no cgroup_attach_task. Other children are in their
	 * parent's cgroup. A process in a traced cgroup that is not in the target is one of ours.
	 */
	cgrp = BPF_CORE_READ(child, cgroups, dfl_cgrp);
	if (cgrp != BPF_CORE_READ(parent, cgroups, dfl_cgrp) && cgroup_traced(cgrp)) {
		target_add(tgid);
		pids_emit(child, DLT_PIDS_FORK);
	}
	return 0;
}

/*
 * dlt_cfg.owned: does TASK now run with rights that the owner does not have: as another user or group, or
 * with capabilities? The new credentials are in force before the tracepoint. In a user namespace that the
 * owner has made, everything is the owner's.
 */
static __always_inline bool is_others(struct task_struct *task)
{
	const struct cred *cred = BPF_CORE_READ(task, cred);
	__u32 owner = dlt_cfg.owner, gid = BPF_CORE_READ(cred, gid.val);
	__u64 caps = 0;

	if (BPF_CORE_READ(cred, user_ns, level))
		return BPF_CORE_READ(cred, user_ns, owner.val) != owner;
	/* two words or one, 64 bits either way (commit f122a08b197d) */
	bpf_core_read(&caps, sizeof(caps), &cred->cap_permitted);
	return caps || BPF_CORE_READ(cred, uid.val) != owner || BPF_CORE_READ(cred, euid.val) != owner ||
	       BPF_CORE_READ(cred, suid.val) != owner || BPF_CORE_READ(cred, fsuid.val) != owner ||
	       BPF_CORE_READ(cred, egid.val) != gid || BPF_CORE_READ(cred, sgid.val) != gid ||
	       BPF_CORE_READ(cred, fsgid.val) != gid;
}

static __always_inline int executed(struct task_struct *task)
{
	struct scratch *s = scratch_get();
	__u64 start, end, len;
	struct dlt_pids *rec;

	if (!s || !target_has(BPF_CORE_READ(task, tgid)))
		return 0;
	if (dlt_cfg.owned && is_others(task)) {
		target_remove(BPF_CORE_READ(task, tgid));
		pids_emit(task, DLT_PIDS_LEFT);
		return 0;
	}
	rec = pids_begin(s, task, DLT_PIDS_EXEC);
	if (!dlt_cfg.no_args) {
		start = BPF_CORE_READ(task, mm, arg_start);
		end = BPF_CORE_READ(task, mm, arg_end);
		len = end - start;
		if (len > DLT_ARGS_MAX)
			len = DLT_ARGS_MAX;
		if (len && !bpf_probe_read_user(s->rec + sizeof(*rec), len & (2 * DLT_ARGS_MAX - 1),
						(void *)start)) {
			rec->segs.len[0] = len;
			s->used += len;
		}
	}
	pids_send();
	return 0;
}

SEC("tp_btf/task_rename")
int HELD_PROG(pids_rename, struct task_struct *task, const char *comm)
{
	struct scratch *s = scratch_get();
	struct dlt_pids *rec;

	if (!s || !target_has(BPF_CORE_READ(task, tgid)))
		return 0;
	/* an exec renames as well, and has a row of its own */
	if (BPF_CORE_READ_BITFIELD_PROBED(task, in_execve))
		return 0;
	rec = pids_begin(s, task, DLT_PIDS_RENAME);
	__builtin_memcpy(s->rec + sizeof(*rec), rec->hdr.comm, DLT_COMM_LEN);
	rec->segs.len[0] = DLT_COMM_LEN;
	s->used += DLT_COMM_LEN;
	__builtin_memset(rec->hdr.comm, 0, DLT_COMM_LEN);
	bpf_probe_read_kernel_str(rec->hdr.comm, DLT_COMM_LEN, comm);
	pids_send();
	return 0;
}

/* No thread ends within a call that has a row: the kernel skipped our program at the call's end. */
static __always_inline void call_drop(__u32 tid)
{
	struct dlt_call *call = call_find(tid);

	if (!call)
		return;
	call_count_unseen(call);
	call_end(call, tid);
}

static __always_inline int exited(struct task_struct *task)
{
	__u32 tgid = BPF_CORE_READ(task, tgid);
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);
	struct signal_struct *signal;
	struct scratch *s = scratch_get();
	__u8 *in = target_byte(tgid);
	struct dlt_pids *rec;
	bool ended;

	if (!s || !in)
		return 0;
	ended = !dlt_cfg.all && *in & DLT_TARGET_ENDED;
	if (!ended && !target_has(tgid))
		return 0;
	call_drop(BPF_CORE_READ(task, pid));
	signal = BPF_CORE_READ(task, signal);
	rec = pids_begin(s, task, DLT_PIDS_EXIT);
	usage_add(rec, task);
	rec->maxrss_bytes = BPF_CORE_READ(signal, maxrss) * page_bytes;
	/* live was decremented before the tracepoint: 0 is the last thread, or one that it overtook */
	if (!ended && BPF_CORE_READ(signal, live.counter) == 0) {
		rec->hdr.tid = tgid;
		rec->status = (__u32)BPF_CORE_READ(task, exit_code);
		if (BPF_CORE_READ(signal, flags) & 4 /* SIGNAL_GROUP_EXIT */)
			rec->status = (__u32)BPF_CORE_READ(signal, group_exit_code);
		/* a leader that ended first has been a zombie: it is not yet in the signal's sums */
		if (leader != task)
			usage_add(rec, leader);
		rec->utime_ns += BPF_CORE_READ(signal, utime);
		rec->stime_ns += BPF_CORE_READ(signal, stime);
		rec->majflt += BPF_CORE_READ(signal, maj_flt);
		if (bpf_core_field_exists(task->ioac.read_bytes)) {
			rec->disk_read += BPF_CORE_READ(signal, ioac.read_bytes);
			rec->disk_write += BPF_CORE_READ(signal, ioac.write_bytes);
		}
		/* it counts as alive until its row is sent */
		if (!dlt_cfg.all)
			*in |= DLT_TARGET_ENDED;
		pids_send();
		if (!dlt_cfg.all)
			*in = DLT_TARGET_ENDED;
		return 0;
	}
	pids_send();
	return 0;
}

/* --- hooks ------------------------------------------------------------------------------------ */

SEC("tp_btf/sched_process_fork")
int HELD_PROG(pids_fork, struct task_struct *parent, struct task_struct *child)
{
	return forked(parent, child);
}

SEC("tp_btf/sched_process_exec")
int HELD_PROG(pids_exec, struct task_struct *task)
{
	return executed(task);
}

SEC("tp_btf/sched_process_exit")
int HELD_PROG(pids_exit, struct task_struct *task)
{
	return exited(task);
}

/*
 * The same hooks where the kernel would skip runs of the typed ones (dlt_cfg.perf): kprobes and perf's
 * tracepoints run with preemption off. A fork is hooked by the function between its tracepoint and the
 * child's first run, as perf's tracepoint gives no pointer; the other events happen to the current task.
 */
SEC("kprobe/wake_up_new_task")
int pids_fork_perf(struct pt_regs *ctx)
{
	return forked(task_current(), (struct task_struct *)PT_REGS_PARM1(ctx));
}

SEC("tp/sched/sched_process_exec")
int pids_exec_perf(void *ctx)
{
	return executed(task_current());
}

SEC("tp/sched/sched_process_exit")
int pids_exit_perf(void *ctx)
{
	return exited(task_current());
}

/* --- cgroups ---------------------------------------------------------------------------------- */

SEC("tp_btf/cgroup_attach_task")
int HELD_PROG(pids_attach, struct cgroup *dst, const char *path, struct task_struct *task)
{
	__u32 tgid = BPF_CORE_READ(task, tgid);

	if (!dlt_cfg.cgroups || target_has(tgid) || tgid == dlt_cfg.self_tgid ||
	    !cgroup_traced(dst))
		return 0;
	/* vhost and kvm workers are moved to their user's cgroup */
	if (BPF_CORE_READ(task, flags) & PF_KTHREAD)
		return 0;
	target_add(tgid);
	pids_emit(task, DLT_PIDS_SNAPSHOT);
	return 0;
}

#define CONTAINER_ID 64 /* hex digits */

/*
 * Runtimes name a container's cgroup by the container's id: <id> (cgroupfs driver), docker-<id>.scope,
 * libpod-<id>.scope, cri-containerd-<id>.scope (systemd driver).
 */
static __always_inline bool name_is_container(struct scratch *s, const char *name)
{
	const int suffix = sizeof(".scope") - 1;
	long n = bpf_probe_read_kernel_str(s->rec, 256, name);
	__u32 at;

	if (n <= CONTAINER_ID)
		return false;
	at = n - 1 - CONTAINER_ID;
	if (s->rec[(n - 2) & 255] == 'e' && at > suffix && s->rec[(n - 1 - suffix) & 255] == '.')
		at -= suffix;
	for (int i = 0; i < CONTAINER_ID; i++) {
		char c = s->rec[(at & 255) + i];

		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
			return false;
	}
	return true;
}

/* Is a cgroup at PATH, from the root of its HIERARCHY, to be traced? */
static __always_inline bool path_awaited(struct scratch *s, __u32 hierarchy, const char *path)
{
	/* too large for the stack */
	struct dlt_cgroup_path *key = (struct dlt_cgroup_path *)s->rec;

	__builtin_memset(key, 0, sizeof(*key));
	key->hierarchy = hierarchy;
	bpf_probe_read_kernel_str(key->path, sizeof(key->path), path);
	return bpf_map_lookup_elem(&dlt_cgroup_paths, key);
}

/*
 * --cgroup of a path that did not exist yet, and --container new: every container's cgroup that is made
 * while tracing. It cannot have members yet.
 */
SEC("tp_btf/cgroup_mkdir")
int HELD_PROG(pids_cgroup_mkdir, struct cgroup *cgrp, const char *path)
{
	struct scratch *s = scratch_get();
	struct dlt_cgroup_key key = {};
	__u8 one = 1;

	if (!s || !dlt_cfg.cgroups)
		return 0;
	key.id = BPF_CORE_READ(cgrp, kn, id);
	key.hierarchy = BPF_CORE_READ(cgrp, root, hierarchy_id);
	if (path_awaited(s, key.hierarchy, path) ||
	    (dlt_cfg.new_containers && name_is_container(s, BPF_CORE_READ(cgrp, kn, name))))
		bpf_map_update_elem(&dlt_cgroups, &key, &one, BPF_ANY);
	return 0;
}

/* Containers come and go for days. */
SEC("tp_btf/cgroup_rmdir")
int HELD_PROG(pids_cgroup_rmdir, struct cgroup *cgrp, const char *path)
{
	struct dlt_cgroup_key key = {};

	if (!dlt_cfg.cgroups)
		return 0;
	key.id = BPF_CORE_READ(cgrp, kn, id);
	key.hierarchy = BPF_CORE_READ(cgrp, root, hierarchy_id);
	bpf_map_delete_elem(&dlt_cgroups, &key);
	return 0;
}
