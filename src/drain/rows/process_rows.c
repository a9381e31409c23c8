/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/rows/process_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "drain/rows/decode.h"
#include "drain/rows/process_facts.h"
#include "drain/rows/stage.h"
#include "kernel/syscalls.h"
#include "trace/rlimits.h"

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

/* The end of a process that a signal ended or asked to end: a name may hold anything, so it comes last. */
static size_t sender_text(char *seg, size_t size, const struct dlt_pids *rec)
{
	size_t len = 0;
	static const char *const by[DLT_PIDS_BYS] = {
		[DLT_PIDS_BY_KERNEL] = "kernel", [DLT_PIDS_BY_OOM] = "oom", [DLT_PIDS_BY_OOM_LIMIT] = "oom-limit",
		[DLT_PIDS_BY_SELF] = "itself",   [DLT_PIDS_BY_JOB] = "job", [DLT_PIDS_BY_OTHER] = "other",
	};

	if (rec->by >= DLT_PIDS_BYS || !by[rec->by])
		return 0;
	if (rec->requested)
		len = (size_t)snprintf(seg, size, " requested=%llu", rec->requested);
	return len + (size_t)snprintf(seg + len, size - len, " by=%s by_pid=%u limit=%llu by_comm=%.*s", by[rec->by],
				      rec->by_pid, rec->limit_bytes, DLT_COMM_LEN, rec->by_comm);
}

/* What the thread and the process might use at last, which they can have changed since they began. */
static size_t allowed_text(char *seg, size_t size, const struct dlt_pids *rec)
{
	size_t len = 0;

	if (rec->cpus)
		len += (size_t)snprintf(seg, size, " cpus=%u", rec->cpus);
	for (unsigned int i = 0; i < DLT_RLIMITS; i++)
		if (rec->rlimits[i])
			len += (size_t)snprintf(seg + len, size - len, " %s%llu", rlimit_names[i].arg,
						rec->rlimits[i] - 1);
	return len;
}

static size_t exit_text(char *seg, size_t size, const struct dlt_pids *rec)
{
	size_t len = (size_t)snprintf(
		seg, size, "utime=%llu stime=%llu maxrss=%llu majflt=%llu disk_read=%llu disk_write=%llu minflt=%llu",
		rec->utime_ns, rec->stime_ns, rec->maxrss_bytes, rec->majflt, rec->disk_read, rec->disk_write,
		rec->minflt);

	len += allowed_text(seg + len, size - len, rec);
	return len + sender_text(seg + len, size - len, rec);
}

static size_t refused_text(char *seg, size_t size, const struct dlt_pids *rec)
{
	static const struct {
		int nr;
		const char *name;
	} calls[] = {
		{ SYS_clone, "clone" },   { SYS_clone3, "clone3" },     { SYS_fork, "fork" },   { SYS_mlock, "mlock" },
		{ SYS_mlock2, "mlock2" }, { SYS_mlockall, "mlockall" }, { SYS_vfork, "vfork" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].nr == (int)rec->call)
			return (size_t)snprintf(seg, size, "call=%s", calls[i].name);
	return 0;
}

static void row_write(struct decode *decode, const struct dlt_pids *rec, const struct process_facts *facts,
		      struct process_fact *fact)
{
	size_t len = MIN(MIN((size_t)rec->segs.len[0], rec->hdr.size - sizeof(*rec)), DLT_ARGS_MAX);
	struct process_row row = { .rec = *rec };

	if (rec->event == DLT_PIDS_EXEC && rec->environ_read)
		fact->rank = exec_rank(rec, len);
	row.rank = fact->rank;
	snprintf(row.cgroup, sizeof(row.cgroup), "%s", fact->cgroup);
	memset(row.rec.segs.len, 0, sizeof(row.rec.segs.len));
	if (rec->event == DLT_PIDS_EXIT)
		len = exit_text(row.seg, sizeof(row.seg), rec);
	else if (rec->event == DLT_PIDS_REFUSED)
		len = refused_text(row.seg, sizeof(row.seg), rec);
	else if (rec->event == DLT_PIDS_SNAPSHOT)
		memcpy(row.seg, facts->args, len = facts->args_len);
	else
		memcpy(row.seg, rec + 1, len);
	if (rec->event == DLT_PIDS_RENAME)
		len = strnlen(row.seg, len);
	row.rec.segs.len[0] = (uint16_t)len;
	row.rec.hdr.size = (uint32_t)(offsetof(struct process_row, seg) + len);
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

static struct pids *pids_of(const struct decode *d)
{
	return d->state[DLT_pids];
}

/* Writes the rows of waiting records: until a look at a process takes longer than WAIT_MS, or the time is up. */
static void turn(struct decode *d, uint64_t reached_ns)
{
	uint64_t until_ns = clock_now_ns(CLOCK_MONOTONIC) + TURN_MS * NSEC_PER_MSEC;
	struct pids *p = pids_of(d);

	while (p && p->end && line_advance(d, p, WAIT_MS) && clock_now_ns(CLOCK_MONOTONIC) < until_ns)
		;
}

static void end(struct decode *d, uint64_t end_ns)
{
	struct pids *p = pids_of(d);

	while (p && p->end && line_advance(d, p, -1))
		;
}

void process_rows_take(struct decode *d, const struct dlt_hdr *hdr)
{
	const struct dlt_pids *rec = (const void *)hdr;
	struct pids *p = d->state[DLT_pids] = d->state[DLT_pids] ?: calloc(1, sizeof(*p));

	if (!p)
		util_count(&d->sinks[DLT_pids].lost, 1);
	else if (p->end || !row_try(d, &p->facts, rec, WAIT_MS))
		line_append(d, p, rec);
	if (rec->event == DLT_PIDS_EXEC)
		untraced_note(&d->untraced, rec->hdr.comm);
	decode_life(d, rec);
}

const struct drain_stage process_rows_stage = {
	.probe = DLT_pids,
	.turn = turn,
	.end = end,
};
