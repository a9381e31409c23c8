/* SPDX-License-Identifier: BSD-2-Clause */
/* From rows to the timeline: which column adds to which series. */
#include "report/timeline.h"

#include <stdio.h>
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/ends.h"
#include "report/phases/saves.h"
#include "report/phases/workers.h"
#include "report/scan/gate.h"
#include "report/scan/syncs.h"
#include "report/why/why.h"

/* --- calls -------------------------------------------------------------------------------------- */

/* What a row of a probe without bytes counts as; by FUNC where one is given. */
static const struct count {
	const char *func;
	enum report_kind kind;
	enum timeline_sum sum;
} counts[] = {
	{ NULL, REPORT_OPEN, TIMELINE_OPENS },
	{ NULL, REPORT_CLOSE, TIMELINE_CLOSES },
	{ NULL, REPORT_SYNC, TIMELINE_SYNCS },
	{ "mmap", REPORT_MMAP, TIMELINE_MMAPS },
	{ "create", REPORT_CREATE_DEL, TIMELINE_CREATES },
	{ "mkdir", REPORT_CREATE_DEL, TIMELINE_CREATES },
	{ "mknod", REPORT_CREATE_DEL, TIMELINE_CREATES },
	{ "link", REPORT_CREATE_DEL, TIMELINE_CREATES },
	{ "symlink", REPORT_CREATE_DEL, TIMELINE_CREATES },
	{ "unlink", REPORT_CREATE_DEL, TIMELINE_DELETES },
	{ "rmdir", REPORT_CREATE_DEL, TIMELINE_DELETES },
};

void report_timeline_count(struct timeline *timeline, const struct scan *scan)
{
	struct reader_field func = scan_field(scan, COL_FUNC);

	if (scan->kind == REPORT_SYNC && !scan_is_sync(scan))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		if (counts[i].kind == scan->kind && (!counts[i].func || reader_is(func, counts[i].func))) {
			timeline_add(timeline, counts[i].sum, scan->time_ns, 1);
			return;
		}
}

/*
 * Whether P's writes may be a checkpoint: P trains, or is a process that saves for a trainer and reads no data. Loaders
 * may write what they have decoded.
 */
static bool saves(const struct report *r, const struct report_proc *p)
{
	const struct report_proc *parent;

	if (!r->why || !r->why->n_trainers || p->waits)
		return true;
	if (p->data_read || phase_is_worker_name(p->comm, strlen(p->comm)))
		return false;
	parent = table_find(&r->procs, p->ppid);
	return parent && parent->waits;
}

static bool begins(struct reader_field f, const char *with)
{
	return f.len >= strlen(with) && memcmp(f.p, with, strlen(with)) == 0;
}

/* Whether the call opens a file for writing, or flushes one. A close that took no time had nothing to write back. */
static bool is_mark(const struct scan *s, const struct report_call_facts *c, enum phase_save_mark *what)
{
	struct reader_field flags = scan_field(s, COL_FLAGS); /* the first flag is how the file is opened */

	*what = s->kind == REPORT_OPEN ? PHASE_OPENED : PHASE_FLUSHED;
	if (s->kind == REPORT_OPEN)
		return begins(flags, "WRONLY") || begins(flags, "RDWR");
	if (s->kind == REPORT_CLOSE)
		return c->lat_ns >= NSEC_PER_MSEC;
	return (s->kind == REPORT_SYNC && scan_is_sync(s)) ||
	       (s->kind == REPORT_CREATE_DEL && begins(scan_field(s, COL_FUNC), "rename"));
}

void report_timeline_saved(const struct scan *s, const struct report_call_facts *c)
{
	enum phase_save_mark what = PHASE_OPENED;

	if (!(c->write || is_mark(s, c, &what)) || !saves(s->report, c->proc))
		return;
	if (c->write)
		phase_saves_write(s->report->saves, c->fid, s->time_ns, c->lat_ns, c->bytes);
	else
		phase_saves_mark(s->report->saves, c->fid, what, s->time_ns, c->lat_ns);
}

void report_timeline_request(const struct scan *scan, struct reader_field name, uint64_t bytes, uint64_t queue_ns,
			     uint64_t lat_ns)
{
	bool read = scan_is(scan, COL_T, "R"), write = scan_is(scan, COL_T, "W");
	struct timeline *timeline = scan->report->timeline;
	struct timeline_disk *disk;
	uint32_t bin;

	if (!timeline || !timeline_has(timeline, scan->time_ns))
		return;
	disk = timeline_disk(timeline, name.p, name.len);
	if (!disk)
		return;
	bin = timeline_bin(timeline, scan->time_ns);
	disk->sum[TIMELINE_D_REQUESTS][bin]++;
	disk->sum[TIMELINE_D_QUEUE_NS][bin] += queue_ns;
	disk->sum[TIMELINE_D_DEVICE_NS][bin] += lat_ns - MIN(queue_ns, lat_ns);
	if (!read && !write)
		return;
	disk->sum[write ? TIMELINE_D_WRITE_BYTES : TIMELINE_D_READ_BYTES][bin] += bytes;
	disk->sum[write ? TIMELINE_D_WRITES : TIMELINE_D_READS][bin]++;
	timeline_latency(timeline, write ? TIMELINE_H_BIO_WRITE : TIMELINE_H_BIO_READ, bin, lat_ns);
	timeline_event(timeline, write ? TIMELINE_H_BIO_WRITE : TIMELINE_H_BIO_READ, bin, scan->time_ns, lat_ns,
		       scan_number(scan, COL_PID));
}

/* --- sched.out ----------------------------------------------------------------------------------- */

static void take_sched(struct scan *scan)
{
	static const struct {
		enum column column;
		enum timeline_sum sum;
	} sums[] = {
		{ COL_RUN_NS, TIMELINE_RUN },         { COL_RUNQ_NS, TIMELINE_RUNQ },   { COL_DISK_NS, TIMELINE_DISK },
		{ COL_BLOCKED_NS, TIMELINE_BLOCKED }, { COL_SLEEP_NS, TIMELINE_SLEEP },
	};
	struct timeline *timeline = scan->report->timeline;
	uint64_t span_ns, at_ns, behind_ns, ns, pid;

	if (!scan_is(scan, COL_KIND, "target") || scan_is_gate(scan) || !scan_u64(scan, COL_SPAN_NS, &span_ns) ||
	    !scan_u64(scan, COL_PID, &pid))
		return;
	timeline->has_sched = true;
	behind_ns = report_ends_behind_ns(scan->report->ends, pid, scan_number(scan, COL_TID), scan->time_ns, span_ns);
	at_ns = scan->time_ns - behind_ns;
	span_ns -= behind_ns;
	for (size_t i = 0; i < ARRAY_SIZE(sums); i++) {
		if (!scan_u64(scan, sums[i].column, &ns))
			continue;
		/* a wait has its row when it is over, and may have begun long before the row's interval */
		timeline_spread(timeline, sums[i].sum, at_ns, MAX(span_ns, ns), ns);
		if (sums[i].sum == TIMELINE_RUN)
			timeline_busy(timeline, pid, TIMELINE_B_CPU, at_ns, span_ns, ns);
	}
}

/* --- fault.out ------------------------------------------------------------------------------------ */

/* Counts all faults, but the time only of the program's own: faults that the kernel makes for a call are in its time.
 */
static void take_fault(struct scan *scan)
{
	struct timeline *t = scan->report->timeline;
	uint64_t lat_ns, pid;

	timeline_add(t, TIMELINE_FAULTS, scan->time_ns, 1);
	timeline_add(t, TIMELINE_FAULT_BYTES, scan->time_ns, scan_number(scan, COL_DISK_BYTES));
	if (!scan_is(scan, COL_FUNC, "user") || !scan_u64(scan, COL_LAT_NS, &lat_ns) || !scan_u64(scan, COL_PID, &pid))
		return;
	timeline_latency(t, TIMELINE_H_FAULT, timeline_bin(t, scan->time_ns), lat_ns);
	timeline_event(t, TIMELINE_H_FAULT, timeline_bin(t, scan->time_ns), scan->time_ns, lat_ns, pid);
	timeline_busy(t, pid, TIMELINE_B_FAULT, scan->time_ns, lat_ns, lat_ns);
}

/* --- reclaim.out ---------------------------------------------------------------------------------- */

static void take_reclaim(struct scan *s)
{
	const enum timeline_sum what =
		scan_is(s, COL_KIND, "cgroup") ? TIMELINE_RECLAIM_CGROUP : TIMELINE_RECLAIM_MACHINE;
	struct timeline *t = s->report->timeline;
	uint64_t lat_ns;

	if (!scan_u64(s, COL_LAT_NS, &lat_ns))
		return;
	t->has_reclaim = true;
	timeline_spread(t, what, s->time_ns, lat_ns, lat_ns);
}

/* --- collectors ----------------------------------------------------------------------------------- */

static void put_value(struct scan *s, struct timeline_points *p, double value)
{
	if (p)
		timeline_point(s->report->timeline, p, s->time_ns, value);
	else
		s->report->timeline->points_left_out++;
}

static void put_point(struct scan *s, const char *panel, const char *name, const char *unit, double value)
{
	put_value(s, timeline_points(s->report->timeline, panel, name, unit), value);
}

/* Adds a value. The series exists without one, too, so that a GPU without values is visible. */
static void put_column(struct scan *s, const char *panel, const char *name, const char *unit, enum column column)
{
	struct timeline_points *p = timeline_points(s->report->timeline, panel, name, unit);
	double value;

	if (scan_double(s, column, &value))
		put_value(s, p, value);
}

static void take_cpu(struct scan *scan)
{
	static const struct {
		const char *name;
		unsigned int n;
		enum column columns[4];
	} shares[] = {
		{ "usr", 4, { COL_PERCENT_USR, COL_PERCENT_NICE, COL_PERCENT_GUEST, COL_PERCENT_GNICE } },
		{ "sys", 4, { COL_PERCENT_SYS, COL_PERCENT_IRQ, COL_PERCENT_SOFT, COL_PERCENT_STEAL } },
		{ "iowait", 1, { COL_PERCENT_IOWAIT } },
		{ "idle", 1, { COL_PERCENT_IDLE } },
	};
	bool all = scan_is(scan, COL_CPU, "all");
	char cpu[24];
	double idle;

	report_copy(cpu, sizeof(cpu), scan_field(scan, COL_CPU));
	if (!all && scan_double(scan, COL_PERCENT_IDLE, &idle))
		put_point(scan, "cpu_each", cpu, "%", 100 - idle);
	for (size_t i = 0; all && i < ARRAY_SIZE(shares); i++) {
		double sum = 0, value;

		for (unsigned int c = 0; c < shares[i].n; c++)
			if (scan_double(scan, shares[i].columns[c], &value))
				sum += value;
		put_point(scan, "cpu", shares[i].name, "%", sum);
	}
}

/* nvidia-smi pmon: a line for each process of each GPU. */
static void take_gpu(struct scan *scan)
{
	struct reader_field gpu = scan_field(scan, COL_GPU);
	struct report_proc *p;
	uint64_t pid;

	if (scan_u64(scan, COL_GPU_PID, &pid) && gpu.len && pid) {
		p = table_get(&scan->report->procs, pid);
		if (p) {
			p->pid = pid;
			p->on_gpu = true;
		}
	}
}

/* nvidia-smi dmon: a line for each GPU. Its MB are of 2^20 bytes. */
static void take_gpu_dev(struct scan *scan)
{
	struct reader_field gpu = scan_field(scan, COL_GPU);
	char panel[40];

	if (!gpu.len || gpu.len > 8)
		return;
	snprintf(panel, sizeof(panel), "gpu:%.*s", (int)gpu.len, gpu.p);
	put_column(scan, panel, "sm", "%", COL_GPU_SM);
	put_column(scan, panel, "mem", "%", COL_GPU_MEM);
	put_column(scan, "gpu", "sm", "%", COL_GPU_SM);
	put_column(scan, "gpu", "mem", "%", COL_GPU_MEM);
	snprintf(panel, sizeof(panel), "gpu_fb:%.*s", (int)gpu.len, gpu.p);
	put_column(scan, panel, "fb", "MiB", COL_GPU_FB);
	put_column(scan, "gpu_fb", "fb", "MiB", COL_GPU_FB);
}

static void take_disk(struct scan *s)
{
	char panel[40];

	snprintf(panel, sizeof(panel), "iostat:%.*s", (int)MIN(scan_field(s, COL_DEVICE).len, 24),
		 scan_field(s, COL_DEVICE).p);
	put_column(s, panel, "queue length", "", COL_AQU_SZ);
	put_column(s, panel, "busy", "%", COL_PERCENT_UTIL);
}

/* Dirty pages are a part of the page cache, but so few that they need a panel of their own to be visible. */
static void take_memory(struct scan *s)
{
	put_column(s, "memory", "programs", "B", COL_ANON);
	put_column(s, "memory", "page cache", "B", COL_CACHED);
	put_column(s, "memory", "free", "B", COL_FREE);
	put_column(s, "memory_dirty", "dirty", "B", COL_DIRTY);
	put_column(s, "memory_dirty", "write-back", "B", COL_WRITEBACK);
}

static const struct taker {
	const char *file;
	void (*take)(struct scan *s);
} takers[] = {
	{ "cpu", take_cpu },     { "gpu", take_gpu },     { "gpu_dev", take_gpu_dev }, { "disk", take_disk },
	{ "sched", take_sched }, { "fault", take_fault }, { "memory", take_memory },   { "reclaim", take_reclaim },
};

/* Notes that --keep dropped rows before the first one, at FIRST_NS. */
static void find_dropped(struct report *r, const char *file, uint64_t first_ns)
{
	const struct manifest_probe *p = manifest_probe(&r->manifest, file);

	if (p && report_summed_rows(r, file, p->dropped) && r->manifest.start_ns && first_ns > r->manifest.start_ns)
		gaps_add(&r->gaps, GAP_LOST, file, r->manifest.start_ns, first_ns, "%s: rows were dropped by --keep",
			 file);
}

/*
 * Reads a file after the rows of calls, even if the search for trainers or CPU time read it before: by then bins are as
 * long as calls need, so values are spread over bins and rounded only once.
 */
static void read_file(struct report *report, const struct taker *taker)
{
	struct scan s = { .report = report };
	bool first = true;

	if (scan_begin(&s, report->folder, taker->file) < 0)
		return;
	while (scan_next(&s) > 0) {
		if (!scan_has_number(&s, COL_TIMESTAMP) || !timeline_has(report->timeline, s.time_ns))
			continue;
		if (first)
			find_dropped(report, taker->file, s.time_ns);
		first = false;
		taker->take(&s);
	}
}

void report_timeline_files(struct report *r)
{
	struct report_ends ends;

	if (!r->timeline)
		return;
	report_ends_read(&ends, r->folder);
	r->ends = &ends;
	for (size_t i = 0; i < ARRAY_SIZE(takers); i++)
		read_file(r, &takers[i]);
	r->ends = NULL;
	report_ends_free(&ends);
	if (r->timeline->points_left_out)
		report_note(r, "timeline: %s no panel: there are more than %u series",
			    FMT_N(r->timeline->points_left_out, "value of collectors has", "values of collectors have"),
			    TIMELINE_POINTS_MAX);
}
