/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pids.out: process life. The kernel's record lacks facts that only /proc has (drain/rows/process_facts.h):
 * drain/rows/process_rows.c adds them.
 */
#include "dlt/pids.h"

#include <unistd.h>

#include "drain/rows/process_rows.h"
#include "kernel/skel.h"
#include "pids.skel.h"
#include "trace/probe.h"

static const struct field_name event_names[] = {
	{ DLT_PIDS_SNAPSHOT, "snapshot" }, { DLT_PIDS_FORK, "fork" },       { DLT_PIDS_THREAD, "thread" },
	{ DLT_PIDS_EXEC, "exec" },         { DLT_PIDS_RENAME, "rename" },   { DLT_PIDS_EXIT, "exit" },
	{ DLT_PIDS_LEFT, "left" },         { DLT_PIDS_REFUSED, "refused" }, { 0, NULL },
};

static const struct field fields[] = {
	FIELDS_TIME("CLOCK_MONOTONIC of the event, ns", offsetof(struct process_row, rec.hdr.ts_ns)),
	{ "PID", "process (tgid) of the event", FIELD_U32, offsetof(struct process_row, rec.hdr.tgid) },
	{ "TID", "thread", FIELD_U32, offsetof(struct process_row, rec.hdr.tid) },
	{ "PPID", "its parent", FIELD_U32, offsetof(struct process_row, rec.ppid) },
	{ "COMM", "name of the thread, after the event", FIELD_COMM, offsetof(struct process_row, rec.hdr.comm) },
	{ "EVENT", "snapshot fork thread exec rename exit left refused", FIELD_NAME,
	  offsetof(struct process_row, rec.event), 0, 0, event_names },
	{ "STATUS", "raw wait status, where a process ends; - for a thread; refused: -errno", FIELD_S64,
	  offsetof(struct process_row, rec.status) },
	{ "NSPID", "PID in its own PID namespace", FIELD_U32, offsetof(struct process_row, rec.nspid) },
	{ "UID", "real user", FIELD_U32, offsetof(struct process_row, rec.uid) },
	{ "CGROUP", "path of its cgroup", FIELD_STR, offsetof(struct process_row, cgroup), 255 },
	{ "RANK", "RANK, SLURM_PROCID or OMPI_COMM_WORLD_RANK from its environment", FIELD_S64,
	  offsetof(struct process_row, rank) },
	{ "ARGS",
	  "exec, snapshot (of a process): arguments, NULs as \\000; rename: old name; exit: utime= stime= "
	  "maxrss= majflt= disk_read= disk_write= minflt= (ns, bytes), of the process if STATUS is given, else the "
	  "thread; cpus= as= requested= by= by_pid= limit= by_comm=",
	  FIELD_USTR, offsetof(struct process_row, rec.segs), 0 },
};

static int pids_open(struct probe_object *object, const struct dlt_config *cfg, const struct kernel_btf *kernel)
{
	bool tp = cfg->perf & DLT_PERF_TP, kprobe = cfg->perf & DLT_PERF_KPROBE;
	int r = SKEL_OPEN(pids, object, cfg, kernel);
	struct pids_bpf *skel = object->owner;

	if (r < 0)
		return r;
	skel->rodata->page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
	bpf_program__set_autoload(skel->progs.pids_fork, !kprobe);
	bpf_program__set_autoload(skel->progs.pids_fork_perf, kprobe);
	bpf_program__set_autoload(skel->progs.pids_exec, !tp);
	bpf_program__set_autoload(skel->progs.pids_exec_perf, tp);
	bpf_program__set_autoload(skel->progs.pids_exit, !tp);
	bpf_program__set_autoload(skel->progs.pids_exit_perf, tp);
	/* no other hook has the process that a signal is for; it runs seldom, and shortly */
	bpf_program__set_autoload(skel->progs.pids_signal, kernel_btf_tp(kernel, "signal_generate") >= 0);
	return 0;
}

const struct probe pids_probe = {
	.name = "pids",
	.help = "lives of processes: fork, exec, rename, exit, and processes that were running before the trace",
	PROBE_FIELDS(fields),
	.rec_size = sizeof(struct dlt_pids),
	.flags = PROBE_REFERENCE | PROBE_WHOLE | PROBE_LIFE | PROBE_OWN_SCRATCH,
	.when = WHEN_ALWAYS,
	.ahead_bytes = 64U << 10, /* a crowd of processes may make many rows: these stop at --min-free */
	.seg_at = offsetof(struct process_row, seg),
	.open = pids_open,
	.decode = process_rows_take,
};
