/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Process life: fork, exec, rename and exit of the target's processes, and the target itself. A child is
 * added before it runs; a process leaves when its last thread exits; a task that moves into a traced cgroup
 * is added at the move.
 */
#include "process/pids.bpf.h"
#include "process/signals.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct dlt_cgroup_key);
	__type(value, __u8);
} dlt_cgroups SEC(".maps");

/* Cgroups that are traced as soon as they are made, and the number of the option that names each; 0: none does. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, struct dlt_cgroup_path);
	__type(value, __u8);
} dlt_cgroup_paths SEC(".maps");

/* Processes whose last thread is being recorded. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u8);
} dlt_ending SEC(".maps");

const volatile __u32 page_bytes = 4096; /* arm64 has pages of 64 KiB too */

#define CGROUP_DEPTH 32
/* asm-generic/resource.h */
#define RLIMIT_CPU 0
#define RLIMIT_FSIZE 1
#define RLIMIT_NPROC 6
#define RLIMIT_NOFILE 7
#define RLIMIT_MEMLOCK 8
#define RLIMIT_AS 9

/* --- records ---------------------------------------------------------------------------------- */

/* Adds the resources that TASK has used so far. */
static __always_inline void usage_add(struct dlt_pids *rec, struct task_struct *task)
{
	rec->utime_ns += BPF_CORE_READ(task, utime);
	rec->stime_ns += BPF_CORE_READ(task, stime);
	rec->majflt += BPF_CORE_READ(task, maj_flt);
	rec->minflt += BPF_CORE_READ(task, min_flt);
	if (bpf_core_field_exists(task->ioac.read_bytes)) {
		rec->disk_read += BPF_CORE_READ(task, ioac.read_bytes);
		rec->disk_write += BPF_CORE_READ(task, ioac.write_bytes);
	}
}

/* --- an environment --------------------------------------------------------------------------- */

/* Where in rec strings are read to, and where those to keep are: after any arguments. */
#define ENV_TEXT 16384
#define ENV_KEPT 20480
#define ENV_STEPS 4096 /* strings, or pieces of 4 KiB of long ones */

static const char rank_name[] = "RANK=", slurm_name[] = "SLURM_PROCID=", ompi_name[] = "OMPI_COMM_WORLD_RANK=";

#define BEGINS(text, name)                                                                       \
	({                                                                                       \
		bool same_ = true;                                                               \
                                                                                                 \
		_Pragma("unroll") for (unsigned int i_ = 0; i_ < sizeof(name) - 1; i_++) same_ = \
			same_ && (text)[i_] == (name)[i_];                                       \
		same_;                                                                           \
	})

/* Like getenv(3): the first string with a name counts. */
static __always_inline void env_keep(struct scratch *s, __u32 variable, long n)
{
	if (s->env_found.len[variable])
		return;
	s->env_found.len[variable] = n > DLT_VARIABLE_MAX ? DLT_VARIABLE_MAX : n;
	bpf_probe_read_kernel(s->rec + ENV_KEPT + variable * DLT_VARIABLE_MAX, DLT_VARIABLE_MAX, s->rec + ENV_TEXT);
}

/* Reads one string. Nonzero at the end. A global function, like path_step(). */
__noinline int env_step(void)
{
	struct scratch *s = scratch_get();
	const char *text;
	__u32 inside;
	long n;

	if (!s || s->env_at >= s->env_end)
		return 1;
	text = s->rec + ENV_TEXT;
	n = bpf_probe_read_user_str(s->rec + ENV_TEXT, DLT_PATH_MAX, (void *)s->env_at);
	if (n <= 0) {
		s->env_failed = 1;
		return 1;
	}
	inside = s->env_inside;
	s->env_inside = n == DLT_PATH_MAX;
	s->env_at += n == DLT_PATH_MAX ? n - 1 : n;
	if (inside)
		return 0;
	if (BEGINS(text, rank_name))
		env_keep(s, DLT_PIDS_RANK, n);
	else if (BEGINS(text, slurm_name))
		env_keep(s, DLT_PIDS_SLURM_PROCID, n);
	else if (BEGINS(text, ompi_name))
		env_keep(s, DLT_PIDS_OMPI_RANK, n);
	return 0;
}

#define ENV_BATCH 32
__noinline int env_steps(void)
{
	for (int i = 0; i < ENV_BATCH; i++)
		if (env_step())
			return 1;
	return 0;
}

static __always_inline void env_append(struct scratch *s, struct dlt_pids *rec, __u32 variable)
{
	__u32 used = s->used, len = s->env_found.len[variable];

	if (!len || used > REC_MAX - DLT_PATH_MAX)
		return;
	bpf_probe_read_kernel(&s->rec[used], DLT_VARIABLE_MAX, s->rec + ENV_KEPT + variable * DLT_VARIABLE_MAX);
	s->rec[(used + len - 1) & (2 * DLT_ARGS_MAX - 1)] = '\0';
	rec->segs.len[variable] = len;
	s->used = used + len;
}

/* Reads the ranks in the environment of TASK, which has just executed a program and has not run it yet. */
static __always_inline void env_read(struct scratch *s, struct task_struct *task, struct dlt_pids *rec)
{
	int i;

	s->env_at = BPF_CORE_READ(task, mm, env_start);
	s->env_end = BPF_CORE_READ(task, mm, env_end);
	s->env_inside = s->env_failed = 0;
	__builtin_memset(&s->env_found, 0, sizeof(s->env_found));
	for (i = 0; i < ENV_STEPS / ENV_BATCH; i++)
		if (env_steps())
			break;
	rec->environ_read = i < ENV_STEPS / ENV_BATCH && !s->env_failed;
	for (__u32 variable = DLT_PIDS_RANK; variable < DLT_PIDS_VARIABLES; variable++)
		env_append(s, rec, variable);
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

/* Whether CGRP or one of its ancestors is traced. */
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
	 * With CLONE_INTO_CGROUP no task is moved: there is no cgroup_attach_task. Other children are in their parent's
	 * cgroup. A process in a traced cgroup that is not in the target belongs to dltraced.
	 */
	cgrp = BPF_CORE_READ(child, cgroups, dfl_cgrp);
	if (cgrp != BPF_CORE_READ(parent, cgroups, dfl_cgrp) && cgroup_traced(cgrp)) {
		target_add(tgid);
		pids_emit(child, DLT_PIDS_FORK);
	}
	return 0;
}

/*
 * dlt_cfg.owned: whether TASK now runs with rights that the owner does not have: as another user or group, or with
 * capabilities. The new credentials are in force before the tracepoint. In a user namespace that the owner has made,
 * everything is the owner's.
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

/*
 * Whether TASK now runs a program that the owner may not read (mode 0711): the kernel lets its user look into the
 * memory of none (would_dump() of exec(2)), so its strings, such as names of files, are not for the owner.
 */
static __always_inline bool is_hidden(struct task_struct *task)
{
	return !mm_is_dumpable(BPF_CORE_READ(task, mm));
}

static __always_inline int executed(struct task_struct *task)
{
	struct scratch *s = scratch_get();
	__u64 start, end, len;
	struct dlt_pids *rec;

	if (!s || !target_has(BPF_CORE_READ(task, tgid)))
		return 0;
	if (dlt_cfg.owned && (is_others(task) || is_hidden(task))) {
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
		if (len && !bpf_probe_read_user(s->rec + sizeof(*rec), len & (2 * DLT_ARGS_MAX - 1), (void *)start)) {
			rec->segs.len[0] = len;
			s->used += len;
		}
	}
	env_read(s, task, rec);
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
	/* an exec renames as well, but has a row of its own */
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

/* No thread ends within a call that has a row: the kernel skipped the program at the call's end. */
static __always_inline void call_drop(__u32 tid)
{
	struct dlt_call *call = call_find(tid);

	if (!call)
		return;
	call_count_unseen(call);
	call_end(call, tid);
}

/*
 * The kernel decrements the number of live threads before the tracepoint: if threads end at the same time, several may
 * find 0. Returns true for one of them, the last one; end_release() follows. IN is the process's byte.
 */
static __always_inline bool end_claim(__u32 tgid, __u8 *in)
{
	__u8 one = 1;

	if (bpf_map_update_elem(&dlt_ending, &tgid, &one, BPF_NOEXIST) == -EEXIST)
		return false;
	/* another thread may have claimed, recorded and released it since the caller looked */
	if (*in & DLT_TARGET_ENDED) {
		bpf_map_delete_elem(&dlt_ending, &tgid);
		return false;
	}
	*in |= DLT_TARGET_ENDED;
	return true;
}

static __always_inline void end_release(__u32 tgid, __u8 *in)
{
	/* only now: the process counts as alive until its row is sent */
	*in = DLT_TARGET_ENDED;
	bpf_map_delete_elem(&dlt_ending, &tgid);
}

static __always_inline void rlimits_add(struct dlt_pids *rec, const struct signal_struct *signal)
{
	rec->rlimits[DLT_RLIMIT_AS] = BPF_CORE_READ(signal, rlim[RLIMIT_AS].rlim_cur) + 1;
	rec->rlimits[DLT_RLIMIT_CPU] = BPF_CORE_READ(signal, rlim[RLIMIT_CPU].rlim_cur) + 1;
	rec->rlimits[DLT_RLIMIT_FSIZE] = BPF_CORE_READ(signal, rlim[RLIMIT_FSIZE].rlim_cur) + 1;
	rec->rlimits[DLT_RLIMIT_MEMLOCK] = BPF_CORE_READ(signal, rlim[RLIMIT_MEMLOCK].rlim_cur) + 1;
	rec->rlimits[DLT_RLIMIT_NOFILE] = BPF_CORE_READ(signal, rlim[RLIMIT_NOFILE].rlim_cur) + 1;
	rec->rlimits[DLT_RLIMIT_NPROC] = BPF_CORE_READ(signal, rlim[RLIMIT_NPROC].rlim_cur) + 1;
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
	ended = *in & DLT_TARGET_ENDED;
	if (!ended && !target_has(tgid))
		return 0;
	call_drop(BPF_CORE_READ(task, pid));
	signal = BPF_CORE_READ(task, signal);
	rec = pids_begin(s, task, DLT_PIDS_EXIT);
	usage_add(rec, task);
	rec->maxrss_bytes = BPF_CORE_READ(signal, maxrss) * page_bytes;
	rec->cpus = BPF_CORE_READ(task, nr_cpus_allowed);
	if (!ended && BPF_CORE_READ(signal, live.counter) == 0 && end_claim(tgid, in)) {
		rec->hdr.tid = tgid;
		rec->status = (__u32)BPF_CORE_READ(task, exit_code);
		if (BPF_CORE_READ(signal, flags) & 4 /* SIGNAL_GROUP_EXIT */)
			rec->status = (__u32)BPF_CORE_READ(signal, group_exit_code);
		signal_add(rec, signal);
		rlimits_add(rec, signal);
		/* a leader that ended earlier is a zombie: the signal's sums do not include it yet */
		if (leader != task)
			usage_add(rec, leader);
		rec->utime_ns += BPF_CORE_READ(signal, utime);
		rec->stime_ns += BPF_CORE_READ(signal, stime);
		rec->majflt += BPF_CORE_READ(signal, maj_flt);
		rec->minflt += BPF_CORE_READ(signal, min_flt);
		if (bpf_core_field_exists(task->ioac.read_bytes)) {
			rec->disk_read += BPF_CORE_READ(signal, ioac.read_bytes);
			rec->disk_write += BPF_CORE_READ(signal, ioac.write_bytes);
		}
		pids_send();
		end_release(tgid, in);
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
 * signal, info, task, group, result. For a typed pointer a comparison with SEND_SIG_NOINFO (0) is dead code to the
 * verifier, so INFO is read as a number.
 */
SEC("tp_btf/signal_generate")
int HELD_PROG(pids_signal)
{
	__u64 info = 0;

	bpf_probe_read_kernel(&info, sizeof(info), &ctx[1]);
	return signal_sent((int)ctx[0], info, (struct task_struct *)ctx[2], (int)ctx[4], page_bytes);
}

/*
 * The hooks where the kernel would skip runs of the typed ones (dlt_cfg.perf): kprobes and perf's tracepoints run with
 * preemption off. A fork is hooked by the function between its tracepoint and the child's first run, as perf's
 * tracepoint has no pointer; the other events concern the current task.
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

	if (!dlt_cfg.cgroups || target_has(tgid) || tgid == dlt_cfg.self_tgid || !cgroup_traced(dst))
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
	/* libpod-conmon-<id>.scope has podman's process beside the container */
	return at < 7 || s->rec[(at - 1) & 255] != '-' || s->rec[(at - 7) & 255] != 'c' ||
	       s->rec[(at - 2) & 255] != 'n';
}

/* Returns the number of the cgroup at PATH, from the root of its HIERARCHY, if it is to be traced; NULL: it is not. */
static __always_inline __u8 *path_awaited(struct scratch *s, __u32 hierarchy, const char *path)
{
	/* too large for the stack */
	struct dlt_cgroup_path *key = (struct dlt_cgroup_path *)s->rec;

	__builtin_memset(key, 0, sizeof(*key));
	key->hierarchy = hierarchy;
	bpf_probe_read_kernel_str(key->path, sizeof(key->path), path);
	return bpf_map_lookup_elem(&dlt_cgroup_paths, key);
}

/*
 * --cgroup with a path that did not exist yet, and --container new: every container's cgroup that is made during the
 * trace. It cannot have members yet.
 */
SEC("tp_btf/cgroup_mkdir")
int HELD_PROG(pids_cgroup_mkdir, struct cgroup *cgrp, const char *path)
{
	struct scratch *s = scratch_get();
	struct dlt_shared *sh = shared();
	struct dlt_cgroup_key key = {};
	__u8 one = 1, *awaited;

	if (!s || !sh || !dlt_cfg.cgroups)
		return 0;
	key.id = BPF_CORE_READ(cgrp, kn, id);
	key.hierarchy = BPF_CORE_READ(cgrp, root, hierarchy_id);
	awaited = path_awaited(s, key.hierarchy, path);
	if (awaited && *awaited)
		sh->cgroups_came |= 1U << ((*awaited - 1) & 31); /* not atomic: the kernel makes one cgroup at a time */
	if (!awaited) {
		if (!dlt_cfg.new_containers || !name_is_container(s, BPF_CORE_READ(cgrp, kn, name)))
			return 0;
		sh->new_containers++;
	}
	bpf_map_update_elem(&dlt_cgroups, &key, &one, BPF_ANY);
	return 0;
}

/* Removes cgroups that are gone: containers come and go for days. */
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
