/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pids.out: process life. The kernel's record lacks facts that only /proc has: the cgroup's path, and of a process that
 * joins the target its arguments and the rank in its environment. They are kept per process and inherited at fork.
 */
#include "dlt/pids.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/util.h"
#include "drain/alloc.h"
#include "drain/decode.h"
#include "drain/regions.h"
#include "host/process.h"
#include "host/process_look.h"
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
	{ "PID", "process (tgid) of the event", FIELD_U32, offsetof(struct row, rec.hdr.tgid) },
	{ "TID", "thread", FIELD_U32, offsetof(struct row, rec.hdr.tid) },
	{ "PPID", "its parent", FIELD_U32, offsetof(struct row, rec.ppid) },
	{ "COMM", "name of the thread, after the event", FIELD_COMM, offsetof(struct row, rec.hdr.comm) },
	{ "EVENT", "snapshot fork thread exec rename exit left", FIELD_NAME, offsetof(struct row, rec.event), 0, 0, event_names },
	{ "STATUS", "raw wait status, in the row that ends a process; - for a thread", FIELD_S64, offsetof(struct row, rec.status) },
	{ "NSPID", "PID in its own PID namespace", FIELD_U32, offsetof(struct row, rec.nspid) },
	{ "UID", "real user", FIELD_U32, offsetof(struct row, rec.uid) },
	{ "CGROUP", "path of its cgroup", FIELD_STR, offsetof(struct row, cgroup), 255 },
	{ "RANK", "RANK, SLURM_PROCID or OMPI_COMM_WORLD_RANK from its environment", FIELD_S64, offsetof(struct row, rank) },
	{ "ARGS", "exec, snapshot (of a process, not its other threads): arguments, NULs as \\000; rename: the old name; "
	  "exit: utime= stime= (ns) maxrss= (bytes) majflt= disk_read= disk_write= (bytes) minflt=, "
	  "of the process if STATUS is given, else of the thread",
	  FIELD_USTR, offsetof(struct row, rec.segs), 0 },
};

/* --- facts per process ------------------------------------------------------------------------- */

struct proc {
	uint32_t pid; /* 0: free */
	uint64_t start_ns;
	int64_t rank;
	char cgroup[256];
};

#define PROCS 4096 /* a cache: evicted entries are read again */
#define ENVIRON_MAX (1 << 20)

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
static void read_cgroup(const struct process_look *look, char *dst, size_t size)
{
	autofree char *text = NULL;
	size_t best = 0;

	if (process_look_text(look, "cgroup", PROCESS_TEXT_MAX, &text, NULL) < 0)
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

static const char *const rank_names[DLT_PIDS_VARIABLES] = {
	[DLT_PIDS_RANK] = "RANK=",
	[DLT_PIDS_SLURM_PROCID] = "SLURM_PROCID=",
	[DLT_PIDS_OMPI_RANK] = "OMPI_COMM_WORLD_RANK=",
};

/* The rank that the strings of an environment, or of a part of one, give: DLT_NONE where they give none. */
static int64_t rank_in(const char *env, size_t len)
{
	int64_t rank = DLT_NONE;

	for (size_t i = DLT_PIDS_RANK; i < DLT_PIDS_VARIABLES && rank == DLT_NONE; i++) {
		size_t n = strlen(rank_names[i]);
		char *end;

		for (const char *s = env; s < env + len; s += strlen(s) + 1) {
			if (strncmp(s, rank_names[i], n))
				continue;
			rank = strtoll(s + n, &end, 10);
			if (end == s + n || *end)
				rank = DLT_NONE;
			break;
		}
	}
	return rank;
}

/* An environment that cannot be read, or is empty, as a zombie's is, changes nothing. */
static void read_rank(const struct process_look *look, int64_t *rank)
{
	autofree char *env = NULL;
	size_t len;

	if (process_look_text(look, "environ", ENVIRON_MAX, &env, &len) == 0 && len)
		*rank = rank_in(env, len);
}

/* The command line, as in exec's row: a BPF program cannot read another process's memory. */
static size_t read_args(const struct process_look *look, char *dst, size_t size)
{
	autofree char *text = NULL;
	size_t len;

	if (process_look_text(look, "cmdline", size, &text, &len) < 0)
		return 0;
	memcpy(dst, text, len);
	return len;
}

/*
 * Fresh from /proc: P's facts and, where ARGS is not NULL, the length of what is read into that. A process that is gone
 * already keeps its parent's facts. Where its number is another's, or it has executed something else or become another
 * user's since REC, nothing is known of it.
 */
static size_t proc_look(struct decode *d, struct proc *p, const struct dlt_pids *rec, char *args)
{
	const struct process_seen seen = {
		.pid = (pid_t)rec->hdr.tgid, .uid = rec->uid, .start_ns = rec->start_ns, .args_at = rec->args_at,
	};
	struct process_look look;
	struct proc found = *p;
	size_t len = 0;
	int r = process_look_begin(&look, &seen);

	if (!r) {
		if (!rec->environ_read)
			read_rank(&look, &found.rank);
		read_cgroup(&look, found.cgroup, sizeof(found.cgroup));
		len = args ? read_args(&look, args, DLT_ARGS_MAX) : 0;
		r = process_look_end(&look);
	}
	if (!r) {
		*p = found;
		return len;
	}
	if (r == -ESTALE) {
		util_count(&d->counts[DLT_pids].unread, 1);
		p->rank = DLT_NONE;
		p->cgroup[0] = '\0';
	}
	return 0;
}

/* ARGS: see proc_look(); *ARGS_LEN is set where there are some. */
static struct proc *proc_get(struct decode *d, const struct dlt_pids *rec, char *args, size_t *args_len)
{
	struct proc *p = proc_slot(d, rec->hdr.tgid), *parent = proc_slot(d, rec->ppid);
	bool is_new = p && (p->pid != rec->hdr.tgid || p->start_ns != rec->start_ns || rec->event == DLT_PIDS_FORK);
	bool fresh = is_new || args || rec->event == DLT_PIDS_EXEC ||
		     (rec->event == DLT_PIDS_SNAPSHOT && rec->hdr.tid == rec->hdr.tgid);

	if (!p)
		return NULL;
	if (rec->event == DLT_PIDS_FORK && parent && parent->pid == rec->ppid) {
		*p = (struct proc){ .rank = parent->rank };
		memcpy(p->cgroup, parent->cgroup, sizeof(p->cgroup));
	} else if (fresh) {
		if (is_new)
			*p = (struct proc){ .rank = DLT_NONE };
		*args_len = proc_look(d, p, rec, args);
	}
	p->pid = rec->hdr.tgid;
	p->start_ns = rec->start_ns;
	return p;
}

/* What an exec's record has of the environment, behind its arguments of LEN bytes: none where it is cut off. */
static int64_t exec_rank(const struct dlt_pids *rec, size_t len)
{
	char env[(DLT_PIDS_VARIABLES - 1) * DLT_VARIABLE_MAX + 1];
	size_t n = 0, all = rec->hdr.size - sizeof(*rec) - len;

	for (unsigned int i = DLT_PIDS_RANK; i < DLT_PIDS_VARIABLES; i++)
		n += rec->segs.len[i];
	if (n > all || n >= sizeof(env))
		return DLT_NONE;
	memcpy(env, (const char *)(rec + 1) + len, n);
	env[n] = '\0';
	return rank_in(env, n);
}

/* --- rows -------------------------------------------------------------------------------------- */

static void decode(struct decode *d, const struct dlt_hdr *hdr)
{
	const struct dlt_pids *rec = (const void *)hdr;
	bool snapshot = rec->event == DLT_PIDS_SNAPSHOT;
	struct row row = { .rec = *rec };
	size_t len = MIN(MIN((size_t)rec->segs.len[0], hdr->size - sizeof(*rec)), DLT_ARGS_MAX), args_len = 0;
	struct proc *p = proc_get(d, rec, snapshot && rec->hdr.tid == rec->hdr.tgid && !d->cfg->no_args ? row.seg : NULL, &args_len);

	if (p && rec->event == DLT_PIDS_EXEC && rec->environ_read)
		p->rank = exec_rank(rec, len);
	row.rank = p ? p->rank : DLT_NONE;
	memset(row.rec.segs.len, 0, sizeof(row.rec.segs.len));
	if (rec->event == DLT_PIDS_EXIT)
		len = (size_t)snprintf(row.seg, sizeof(row.seg),
				       "utime=%llu stime=%llu maxrss=%llu majflt=%llu disk_read=%llu disk_write=%llu minflt=%llu",
				       rec->utime_ns, rec->stime_ns, rec->maxrss_bytes, rec->majflt,
				       rec->disk_read, rec->disk_write, rec->minflt);
	else if (snapshot)
		len = args_len;
	else
		memcpy(row.seg, rec + 1, len);
	if (rec->event == DLT_PIDS_RENAME)
		len = strnlen(row.seg, len);
	if (rec->event == DLT_PIDS_EXEC)
		escape_note(&d->escape, rec->hdr.comm);
	row.rec.segs.len[0] = (uint16_t)len;
	row.rec.hdr.size = (uint32_t)(offsetof(struct row, seg) + len);
	if (p)
		snprintf(row.cgroup, sizeof(row.cgroup), "%s", p->cgroup);
	decode_row(d, DLT_pids, &row.rec.hdr);
	if (rec->event == DLT_PIDS_FORK)
		alloc_forked(d->alloc, hdr, rec->ppid);
	if (rec->event == DLT_PIDS_EXEC)
		alloc_executed(d->alloc, hdr);
	if (rec->event == DLT_PIDS_EXIT && rec->status != DLT_NONE) {
		regions_end(d, rec->hdr.tgid, rec->hdr.ts_ns);
		alloc_exited(d->alloc, hdr);
	}
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
	.help = "lives of processes: fork, exec, rename, exit, and processes that were running before the trace",
	PROBE_FIELDS(fields),
	.rec_size = sizeof(struct dlt_pids),
	.flags = PROBE_REFERENCE | PROBE_WHOLE,
	.seg_at = offsetof(struct row, seg),
	.open = pids_open,
	.decode = decode,
};
