/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pids.out: process life. The kernel's record lacks facts that only /proc has: the cgroup's path and the
 * rank in the environment. They are read at exec, kept per process and inherited at fork.
 */
#include "dlt/pids.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/util.h"
#include "drain/decode.h"
#include "host/process.h"
#include "kernel/skel.h"
#include "pids.skel.h"
#include "trace/probe.h"

/* The record and the added facts; the table describes this. */
struct row {
	struct dlt_pids rec;
	char cgroup[512];
	int64_t rank;
	/* then the segment */
	char seg[DLT_ARGS_MAX + 64];
};

static const struct field_name event_names[] = {
	{ DLT_PIDS_SNAPSHOT, "snapshot" }, { DLT_PIDS_FORK, "fork" },	  { DLT_PIDS_THREAD, "thread" },
	{ DLT_PIDS_EXEC, "exec" },	   { DLT_PIDS_RENAME, "rename" }, { DLT_PIDS_EXIT, "exit" },
	{ DLT_PIDS_LEFT, "left" },	   { 0, NULL },
};

static const struct field fields[] = {
	FIELDS_TIME("CLOCK_MONOTONIC of the event, ns", offsetof(struct row, rec.hdr.ts_ns)),
	{ "PID", "process (tgid) that the event is about", FIELD_U32, offsetof(struct row, rec.hdr.tgid) },
	{ "TID", "thread", FIELD_U32, offsetof(struct row, rec.hdr.tid) },
	{ "PPID", "its parent", FIELD_U32, offsetof(struct row, rec.ppid) },
	{ "COMM", "name of the thread, after the event", FIELD_COMM, offsetof(struct row, rec.hdr.comm) },
	{ "EVENT", "snapshot fork thread exec rename exit left", FIELD_NAME, offsetof(struct row, rec.event), 0, 0, event_names },
	{ "STATUS", "waitpid's raw number, in the row that ends a process; - for a thread", FIELD_S64, offsetof(struct row, rec.status) },
	{ "NSPID", "process number in its own pid namespace", FIELD_U32, offsetof(struct row, rec.nspid) },
	{ "UID", "real user", FIELD_U32, offsetof(struct row, rec.uid) },
	{ "CGROUP", "path of its cgroup", FIELD_STR, offsetof(struct row, cgroup), 255 },
	{ "RANK", "RANK, SLURM_PROCID or OMPI_COMM_WORLD_RANK of its environment", FIELD_S64, offsetof(struct row, rank) },
	{ "ARGS", "exec, snapshot (of a process, not its other threads): arguments, NULs as \\000; rename: the old name; "
	  "exit: utime= stime= (ns) maxrss= (bytes) majflt= disk_read= disk_write= (bytes), "
	  "of the process where STATUS is given, else of the thread",
	  FIELD_USTR, offsetof(struct row, rec.segs), 0 },
};

/* --- facts per process ------------------------------------------------------------------------- */

struct proc {
	uint32_t pid; /* 0: free */
	int64_t rank;
	char cgroup[256];
};

#define PROCS 4096 /* a cache: evicted entries are read again */

static struct proc *proc_slot(struct decode *d, uint32_t pid)
{
	if (!d->pids)
		d->pids = calloc(PROCS, sizeof(struct proc));
	return d->pids ? (struct proc *)d->pids + pid % PROCS : NULL;
}

/*
 * Finds the most specific cgroup: v2's, or on v1 and hybrid hosts the longest path of any hierarchy. Lines
 * are "ID:CONTROLLERS:PATH" (cgroups(7)).
 */
static void read_cgroup(uint32_t pid, char *dst, size_t size)
{
	autofree char *text = NULL;
	size_t best = 0;

	if (process_text((pid_t)pid, "cgroup", PROCESS_TEXT_MAX, &text, NULL) < 0)
		return;
	for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
		char *path = strchr(line, ':');

		path = path ? strchr(path + 1, ':') : NULL;
		if (path && strlen(path + 1) > best) {
			best = strlen(path + 1);
			snprintf(dst, size, "%s", path + 1);
		}
	}
}

/*
 * The environment cannot be read: the process is gone, or a zombie, or its environment is empty. *RANK
 * stays.
 */
static void read_rank(uint32_t pid, int64_t *rank)
{
	static const char *const names[] = { "RANK=", "SLURM_PROCID=", "OMPI_COMM_WORLD_RANK=" };
	autofree char *env = NULL;
	size_t len;

	if (process_text((pid_t)pid, "environ", 1 << 20, &env, &len) < 0 || !len)
		return;
	*rank = DLT_NONE;
	for (size_t i = 0; i < ARRAY_SIZE(names) && *rank == DLT_NONE; i++) {
		size_t n = strlen(names[i]);

		for (char *s = env, *end; s < env + len; s += strlen(s) + 1) {
			if (strncmp(s, names[i], n))
				continue;
			*rank = strtoll(s + n, &end, 10);
			if (end == s + n || *end)
				*rank = DLT_NONE;
			break;
		}
	}
}

/* The command line, as in exec's row: a BPF program cannot read another process's memory. */
static size_t read_args(uint32_t pid, char *dst, size_t size)
{
	autofree char *text = NULL;
	size_t len;

	if (process_text((pid_t)pid, "cmdline", size, &text, &len) < 0)
		return 0;
	memcpy(dst, text, len);
	return len;
}

/* Fresh from /proc; a process that is gone already keeps its parent's values. */
static void proc_read(struct proc *p, uint32_t pid)
{
	p->pid = pid;
	read_rank(pid, &p->rank);
	read_cgroup(pid, p->cgroup, sizeof(p->cgroup));
}

static struct proc *proc_get(struct decode *d, const struct dlt_pids *rec)
{
	struct proc *p = proc_slot(d, rec->hdr.tgid), *parent = proc_slot(d, rec->ppid);
	bool is_new = p && (p->pid != rec->hdr.tgid || rec->event == DLT_PIDS_FORK);
	bool fresh = is_new || rec->event == DLT_PIDS_EXEC ||
		     (rec->event == DLT_PIDS_SNAPSHOT && rec->hdr.tid == rec->hdr.tgid);

	if (!p)
		return NULL;
	if (rec->event == DLT_PIDS_FORK && parent && parent->pid == rec->ppid) {
		struct proc copy = *parent;

		*p = copy;
		p->pid = rec->hdr.tgid;
	} else if (fresh) {
		if (is_new)
			*p = (struct proc){ .rank = DLT_NONE };
		proc_read(p, rec->hdr.tgid);
	}
	return p;
}

/* --- rows -------------------------------------------------------------------------------------- */

static void decode(struct decode *d, const struct dlt_hdr *hdr)
{
	const struct dlt_pids *rec = (const void *)hdr;
	const struct proc *p = proc_get(d, rec);
	struct row row = { .rec = *rec, .rank = p ? p->rank : DLT_NONE };
	size_t len = MIN(MIN((size_t)rec->segs.len[0], hdr->size - sizeof(*rec)), DLT_ARGS_MAX);

	if (rec->event == DLT_PIDS_EXIT)
		len = (size_t)snprintf(row.seg, sizeof(row.seg),
				       "utime=%llu stime=%llu maxrss=%llu majflt=%llu disk_read=%llu disk_write=%llu",
				       rec->utime_ns, rec->stime_ns, rec->maxrss_bytes, rec->majflt,
				       rec->disk_read, rec->disk_write);
	else if (rec->event == DLT_PIDS_SNAPSHOT)
		len = rec->hdr.tid != rec->hdr.tgid || d->cfg->no_args ? 0 :
		      read_args(rec->hdr.tgid, row.seg, DLT_ARGS_MAX);
	else
		memcpy(row.seg, rec + 1, len);
	if (rec->event == DLT_PIDS_RENAME)
		len = strnlen(row.seg, len);
	if (rec->event == DLT_PIDS_EXEC && memchr(row.seg, '\0', len))
		escape_note(&d->escape, row.seg);
	row.rec.segs.len[0] = (uint16_t)len;
	row.rec.hdr.size = (uint32_t)(offsetof(struct row, seg) + len);
	if (p)
		snprintf(row.cgroup, sizeof(row.cgroup), "%s", p->cgroup);
	decode_row(d, DLT_pids, &row.rec.hdr);
}

static int pids_open(struct probe_object *o, const struct dlt_config *cfg, const struct kernel_btf *kernel)
{
	bool tp = cfg->perf & DLT_PERF_TP, kprobe = cfg->perf & DLT_PERF_KPROBE;
	int r = SKEL_OPEN(pids, o, cfg, kernel);
	struct pids_bpf *skel = o->owner;

	if (r < 0)
		return r;
	skel->rodata->page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
	bpf_program__set_autoload(skel->progs.pids_fork, !kprobe);
	bpf_program__set_autoload(skel->progs.pids_fork_perf, kprobe);
	bpf_program__set_autoload(skel->progs.pids_exec, !tp);
	bpf_program__set_autoload(skel->progs.pids_exec_perf, tp);
	bpf_program__set_autoload(skel->progs.pids_exit, !tp);
	bpf_program__set_autoload(skel->progs.pids_exit_perf, tp);
	return 0;
}

const struct probe pids_probe = {
	.name = "pids",
	.help = "process life: fork, exec, rename, exit, and who was there before",
	PROBE_FIELDS(fields),
	.rec_size = sizeof(struct dlt_pids),
	.flags = PROBE_REFERENCE,
	.seg_at = offsetof(struct row, seg),
	.open = pids_open,
	.decode = decode,
};
