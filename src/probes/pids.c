/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pids.out: process life. The kernel's record lacks facts that only /proc has (drain/rows/process_facts.h). A record
 * waits for them, and all later records of this file behind it.
 */
#include "dlt/pids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/util.h"
#include "drain/memory/alloc.h"
#include "drain/rows/decode.h"
#include "drain/rows/process_facts.h"
#include "drain/rows/regions.h"
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
	{ DLT_PIDS_SNAPSHOT, "snapshot" }, { DLT_PIDS_FORK, "fork" },
	{ DLT_PIDS_THREAD, "thread" },     { DLT_PIDS_EXEC, "exec" },
	{ DLT_PIDS_RENAME, "rename" },     { DLT_PIDS_EXIT, "exit" },
	{ DLT_PIDS_LEFT, "left" },         { 0, NULL },
};

static const struct field fields[] = {
	FIELDS_TIME("CLOCK_MONOTONIC of the event, ns", offsetof(struct row, rec.hdr.ts_ns)),
	{ "PID", "process (tgid) of the event", FIELD_U32, offsetof(struct row, rec.hdr.tgid) },
	{ "TID", "thread", FIELD_U32, offsetof(struct row, rec.hdr.tid) },
	{ "PPID", "its parent", FIELD_U32, offsetof(struct row, rec.ppid) },
	{ "COMM", "name of the thread, after the event", FIELD_COMM, offsetof(struct row, rec.hdr.comm) },
	{ "EVENT", "snapshot fork thread exec rename exit left", FIELD_NAME, offsetof(struct row, rec.event), 0, 0,
	  event_names },
	{ "STATUS", "raw wait status, in the row that ends a process; - for a thread", FIELD_S64,
	  offsetof(struct row, rec.status) },
	{ "NSPID", "PID in its own PID namespace", FIELD_U32, offsetof(struct row, rec.nspid) },
	{ "UID", "real user", FIELD_U32, offsetof(struct row, rec.uid) },
	{ "CGROUP", "path of its cgroup", FIELD_STR, offsetof(struct row, cgroup), 255 },
	{ "RANK", "RANK, SLURM_PROCID or OMPI_COMM_WORLD_RANK from its environment", FIELD_S64,
	  offsetof(struct row, rank) },
	{ "ARGS",
	  "exec, snapshot (of a process, not its other threads): arguments, NULs as \\000; rename: the old name; "
	  "exit: utime= stime= (ns) maxrss= (bytes) majflt= disk_read= disk_write= (bytes) minflt=, "
	  "of the process if STATUS is given, else of the thread",
	  FIELD_USTR, offsetof(struct row, rec.segs), 0 },
};

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
	return process_rank(env, n);
}

/* --- rows -------------------------------------------------------------------------------------- */

static size_t exit_text(char *seg, size_t size, const struct dlt_pids *rec)
{
	return (size_t)snprintf(
		seg, size, "utime=%llu stime=%llu maxrss=%llu majflt=%llu disk_read=%llu disk_write=%llu minflt=%llu",
		rec->utime_ns, rec->stime_ns, rec->maxrss_bytes, rec->majflt, rec->disk_read, rec->disk_write,
		rec->minflt);
}

static void row_write(struct decode *decode, const struct dlt_pids *rec, const struct process_facts *facts,
		      struct process_fact *fact)
{
	size_t len = MIN(MIN((size_t)rec->segs.len[0], rec->hdr.size - sizeof(*rec)), DLT_ARGS_MAX);
	struct row row = { .rec = *rec };

	if (rec->event == DLT_PIDS_EXEC && rec->environ_read)
		fact->rank = exec_rank(rec, len);
	row.rank = fact->rank;
	snprintf(row.cgroup, sizeof(row.cgroup), "%s", fact->cgroup);
	memset(row.rec.segs.len, 0, sizeof(row.rec.segs.len));
	if (rec->event == DLT_PIDS_EXIT)
		len = exit_text(row.seg, sizeof(row.seg), rec);
	else if (rec->event == DLT_PIDS_SNAPSHOT)
		memcpy(row.seg, facts->args, len = facts->args_len);
	else
		memcpy(row.seg, rec + 1, len);
	if (rec->event == DLT_PIDS_RENAME)
		len = strnlen(row.seg, len);
	row.rec.segs.len[0] = (uint16_t)len;
	row.rec.hdr.size = (uint32_t)(offsetof(struct row, seg) + len);
	decode_row(decode, DLT_pids, &row.rec.hdr);
}

/* Returns whether REC has its row: false where a look at its process is not over within WAIT_MS. */
static bool row_try(struct decode *d, struct process_facts *f, const struct dlt_pids *rec, int wait_ms)
{
	bool args = rec->event == DLT_PIDS_SNAPSHOT && rec->hdr.tid == rec->hdr.tgid && !d->cfg->no_args;
	struct process_fact *p;

	if (process_facts_get(f, rec, args, wait_ms, &p) < 0)
		return false;
	row_write(d, rec, f, p);
	d->counts[DLT_pids].unread = f->others;
	return true;
}

/* --- records that wait ------------------------------------------------------------------------- */

/*
 * A look at a process that answers takes some 50 us, for which its record does not wait in line. Behind one that takes
 * longer all records wait, as rows are in the order of time.
 */
#define WAIT_MS 5
#define TURN_MS 20 /* as much of a round of the drain, 50 ms */
#define LINE_BYTES (4U << 20)

struct pids {
	struct process_facts facts;
	uint32_t begin, end; /* of the line's bytes that are in use */
	_Alignas(8) char line[LINE_BYTES];
};

static uint32_t room_of(const struct dlt_pids *rec)
{
	return (rec->hdr.size + 7) & ~7U;
}

static const struct dlt_pids *line_first(const struct pids *p)
{
	return (const void *)(p->line + p->begin);
}

/* Writes the first record's row and removes it, if that is possible within WAIT_MS. */
static bool line_advance(struct decode *d, struct pids *p, int wait_ms)
{
	const struct dlt_pids *rec = line_first(p);

	if (!row_try(d, &p->facts, rec, wait_ms))
		return false;
	p->begin += room_of(rec);
	if (p->begin == p->end)
		p->begin = p->end = 0;
	return true;
}

static void line_append(struct decode *decode, struct pids *pids, const struct dlt_pids *rec)
{
	uint32_t room = room_of(rec);

	while (pids->end - pids->begin + room > LINE_BYTES)
		line_advance(decode, pids, -1);
	if (pids->end + room > LINE_BYTES) {
		memmove(pids->line, pids->line + pids->begin, pids->end - pids->begin);
		pids->end -= pids->begin;
		pids->begin = 0;
	}
	memcpy(pids->line + pids->end, rec, rec->hdr.size);
	pids->end += room;
}

static void turn(struct decode *d, bool end)
{
	uint64_t until_ns = clock_now_ns(CLOCK_MONOTONIC) + TURN_MS * NSEC_PER_MSEC;
	struct pids *p = d->pids;

	while (p && p->end && line_advance(d, p, end ? -1 : WAIT_MS) &&
	       (end || clock_now_ns(CLOCK_MONOTONIC) < until_ns))
		;
}

/* What others need to know at once. */
static void pass_on(struct decode *decode, const struct dlt_pids *rec)
{
	if (rec->event == DLT_PIDS_EXEC)
		untraced_note(&decode->untraced, rec->hdr.comm);
	if (rec->event == DLT_PIDS_FORK)
		alloc_forked(decode->alloc, &rec->hdr, rec->ppid);
	if (rec->event == DLT_PIDS_EXEC)
		alloc_executed(decode->alloc, &rec->hdr);
	if (rec->event == DLT_PIDS_EXIT && rec->status != DLT_NONE) {
		regions_end(decode, rec->hdr.tgid, rec->hdr.ts_ns);
		alloc_exited(decode->alloc, &rec->hdr);
	}
}

static void decode(struct decode *d, const struct dlt_hdr *hdr)
{
	const struct dlt_pids *rec = (const void *)hdr;
	struct pids *p = d->pids = d->pids ?: calloc(1, sizeof(*p));

	if (!p)
		util_count(&d->sinks[DLT_pids].lost, 1);
	else if (p->end || !row_try(d, &p->facts, rec, WAIT_MS))
		line_append(d, p, rec);
	pass_on(d, rec);
}

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
	.turn = turn,
};
