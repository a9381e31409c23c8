/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adds rows of calls to the report's sums, and hands rows of other files on. Knows columns and their meaning, not how
 * files are read. Allocates only for a new key of a table.
 */
#include "report/rows.h"

#include "base/util.h"
#include "report/brief.h"
#include "report/cpu/load.h"
#include "report/disk/causes.h"
#include "report/failed/failures.h"
#include "report/files/datasets.h"
#include "report/files/path_filter.h"
#include "report/files/spreads.h"
#include "report/files/streams.h"
#include "report/files/uses.h"
#include "report/path/path.h"
#include "report/rows_impl.h"
#include "report/rules/load.h"
#include "report/scan/functions.h"
#include "report/timeline.h"
#include "report/whatif/whatif.h"
#include "report/why/calls.h"
#include "report/why/rows.h"
#include "report/why/rw.h"

static struct report_proc *proc_of(struct scan *s, uint64_t pid, uint64_t tid)
{
	struct report_proc *p = table_get(&s->report->procs, pid);

	if (!p)
		return &s->report->other_proc;
	p->pid = pid;
	if (!p->named && (!p->comm[0] || pid == tid))
		report_copy(p->comm, sizeof(p->comm), scan_field(s, COL_COMM));
	return p;
}

static struct report_file *file_of(struct scan *s, uint64_t fid)
{
	struct report *r = s->report;
	struct report_file *f;

	f = table_get(&r->files, fid);
	if (!f)
		return &r->other_file;
	r->unknown_files += f->row == 0 && f->calls == 0;
	return f;
}

static void parse_result(struct reader_field ret, struct report_call_facts *c)
{
	c->running = reader_is(ret, "?");
	c->failed = ret.len > 1 && ret.p[0] == '-'; /* an address has no sign */
}

/* Reads the process and the latency of a call whose result is known. */
static bool parse_call(struct scan *scan, struct report_call_facts *facts)
{
	if (facts->plain || scan->timed >> scan->row & 1) {
		facts->pid = scan_number(scan, COL_PID);
		facts->tid = scan_number(scan, COL_TID);
		facts->lat_ns = scan_number(scan, COL_LAT_NS);
	} else if (!scan_u64(scan, COL_PID, &facts->pid) || !scan_u64(scan, COL_TID, &facts->tid) || !facts->running) {
		return false;
	}
	facts->lat_ns = MIN(facts->lat_ns, scan->time_ns); /* no call takes longer than the machine has been up */
	facts->proc = proc_of(scan, facts->pid, facts->tid);
	facts->fid = scan_number(scan, COL_FID);
	facts->file = facts->plain || scan_has_number(scan, COL_FID) ? file_of(scan, facts->fid) : NULL;
	facts->type = facts->file ? (enum report_type)facts->file->type : REPORT_UNKNOWN;
	facts->on_file = report_is_file(facts->type);
	return true;
}

/* Adds a call to the sums that all kinds share. */
static void add_call(struct scan *scan, const struct report_call_facts *facts)
{
	struct report *report = scan->report;

	if (facts->file) {
		facts->file->calls++;
		facts->file->time_ns += facts->again_side ? 0 : facts->lat_ns;
	}
	facts->proc->calls++;
	if (facts->again)
		return;
	if (facts->on_file)
		facts->proc->file_ns += facts->lat_ns;
	else
		facts->proc->wait_ns += facts->lat_ns;
	if (facts->rw && !facts->on_file && facts->proc->waits && facts->tid == facts->pid)
		why_wait(facts->proc->waits, scan->time_ns, facts->lat_ns);
	if (facts->running)
		rows_keep_longest(facts->on_file ? &report->running : &report->running_waits, scan, facts->lat_ns);
	else
		rows_keep_longest(facts->on_file ? &report->slow : &report->waits, scan, facts->lat_ns);
}

/* Adds a call that has ended to the timeline. */
static void time_call(struct scan *s, const struct report_call_facts *c)
{
	if (!c->running)
		report_timeline_call(s, c);
}

/* What is a row, and no call, is passed over: a file that was open before the trace, and one that an open made. */
static void pass_layers(struct scan *s, const struct report_call_facts *c)
{
	if (!c->on_file || c->again_side || scan_is(s, COL_FUNC, "snapshot") || scan_is(s, COL_FUNC, "create"))
		return;
	region_layers_call(&s->report->phases->layers, &(struct layer_call){
							       .source = s->kind - REPORT_CLOSE,
							       .pid = c->pid,
							       .tid = c->tid,
							       .begin_ns = s->time_ns - c->lat_ns,
							       .end_ns = s->time_ns,
							       .bytes = c->rw && c->done ? (int64_t)c->bytes : -1,
						       });
}

/* Passes a call to the sums of files by process, other descriptors, and spreads. */
static void pass_call(struct scan *s, const struct report_call_facts *c)
{
	if (!s->report->uses)
		return;
	report_uses_call(s, c);
	report_streams_call(s, c);
	if (s->report->phases && s->report->phases->layers.any) {
		const struct report_call_facts copy = *c;

		pass_layers(s, &copy);
	}
	report_spreads_call(s, c);
}

/* Whether --path excludes the row. A failed call has no file: then its PATH counts, if it is absolute. */
static bool is_path_elsewhere(struct scan *scan)
{
	struct report *r = scan->report;
	const struct report_file *f;
	uint64_t fid;
	bool inside;

	f = scan_u64(scan, COL_FID, &fid) ? table_find(&r->files, fid) : NULL;
	inside = f ? f->inside : path_filter_has(r, scan_field(scan, COL_PATH));
	r->only.rows++;
	r->only.left_out += !inside;
	return !inside;
}

static inline void pass_whatif(struct scan *s, const struct report_call_facts *c)
{
	if (s->report->whatif && s->report->whatif->gathering)
		whatif_gather_call(&s->report->whatif->gather, s, c);
}

static inline bool is_elsewhere(struct scan *s)
{
	return s->report->only.path && is_path_elsewhere(s);
}

static bool take_call(struct scan *scan)
{
	struct report *report = scan->report;
	struct report_call_facts c = { .pid = 0 };
	struct report_func *func;

	if (is_elsewhere(scan))
		return true;
	parse_result(scan_field(scan, COL_RET), &c);
	if (!parse_call(scan, &c))
		return false;
	func = report_func_of(scan, false);
	rows_add_to_op(&func->op, &c, true);
	add_call(scan, &c);
	if (c.failed)
		report_failed_call(scan, &c);
	time_call(scan, &c);
	if (scan->kind == REPORT_MMAP && c.file && !c.failed && scan_is(scan, COL_FUNC, "mmap")) {
		scan_u64(scan, COL_LEN, &c.bytes);
		report->map_calls++;
		report->map_bytes += c.bytes;
		c.proc->data_maps += c.file->data;
		if (report->datasets)
			report_datasets_map(report->datasets, c.fid, c.bytes);
		if (c.file->data)
			first_data_take(&c.proc->first_data, scan->time_ns - c.lat_ns, c.bytes);
		hist_add(&func->op.size, c.bytes);
	}
	pass_call(scan, &c);
	if (report->path)
		report_path_call(report->path, scan, &c);
	pass_whatif(scan, &c);
	if (report->why && scan->kind != REPORT_MMAP)
		why_rows_take(scan, &c);
	return true;
}

static void rows_call(struct scan *s, unsigned int n)
{
	report_each_row(s, n, take_call);
}

static enum report_source source_of(const struct scan *s, const struct report_file *f)
{
	if (f->type == REPORT_UNKNOWN)
		return REPORT_NO_TYPE;
	if (f->medium == REPORT_NETWORK)
		return REPORT_REMOTE;
	if (f->medium == REPORT_MEMORY)
		return REPORT_NO_DISK;
	return reader_flag(scan_field(s, COL_FLAGS), "DIRECT") ? REPORT_DIRECT : REPORT_BUFFERED;
}

static void add_read(struct scan *scan, const struct report_call_facts *facts, uint64_t bytes)
{
	struct report *report = scan->report;
	unsigned int size = bytes ? 64 - (unsigned int)__builtin_clzll(bytes) : 0;
	struct report_source_sum *src;

	if (facts->on_file) {
		report->read_size[size].calls++;
		report->read_size[size].bytes += bytes;
	}
	if (!facts->file || (facts->type != REPORT_REG && facts->type != REPORT_UNKNOWN))
		return;
	src = &report->source[source_of(scan, facts->file)];
	src->calls++;
	src->bytes += bytes;
	src->disk_calls += facts->disk_bytes > 0;
	src->disk_bytes += facts->disk_bytes;
	src->unaccounted += !facts->accounted;
}

static void add_transfer(struct scan *scan, const struct report_call_facts *facts, struct report_op *op, bool write,
			 uint64_t bytes)
{
	struct report *report = scan->report;

	op->bytes += bytes;
	hist_add(&op->size, bytes);
	report->by_type[facts->type][write].bytes += bytes;
	if (write)
		facts->proc->write_bytes += bytes;
	else
		facts->proc->read_bytes += bytes;
	if (!write && bytes && (facts->type == REPORT_FIFO || facts->type == REPORT_SOCK))
		facts->proc->received += scan->time_ns > facts->proc->copies_from_ns;
	if (facts->file && facts->file->data && write) {
		facts->proc->data_written += bytes;
	} else if (facts->file && facts->file->data) {
		facts->proc->data_read += bytes;
		first_data_take(&facts->proc->first_data, scan->time_ns - facts->lat_ns, bytes);
	}
	if (facts->file && write)
		facts->file->write_bytes += bytes;
	else if (facts->file)
		facts->file->read_bytes += bytes;
	if (!write)
		add_read(scan, facts, bytes);
}

static inline __attribute__((always_inline)) bool take_rw(struct scan *scan, bool write, bool plain)
{
	struct report_call_facts c = {
		.rw = true,
		.plain = plain,
		.write = write,
		.bytes = scan_number(scan, COL_RETURNED),
		.done = plain || scan_has_number(scan, COL_RETURNED),
		.disk_bytes = scan_number(scan, COL_DISK_BYTES),
		.accounted = plain || scan_has_number(scan, COL_DISK_BYTES),
	};
	struct report *report = scan->report;
	struct report_op *op;
	bool no_result = false;

	if (is_elsewhere(scan))
		return true;
	if (!c.done) {
		parse_result(scan_field(scan, COL_RETURNED), &c);
		no_result = scan_is(scan, COL_RETURNED, "-");
	}
	if (!parse_call(scan, &c) || !(c.done || no_result || c.failed || c.running))
		return false;
	c.again = scan->time_ns == scan->last_ns && c.tid == scan->last_tid;
	c.again_side = c.again && write == scan->last_write;
	scan->last_ns = scan->time_ns;
	scan->last_tid = c.tid;
	scan->last_write = write;

	op = &report_func_of(scan, write)->op;
	add_call(scan, &c);
	time_call(scan, &c);
	rows_add_to_op(op, &c, !c.again_side);
	if (c.again && !c.again_side && !c.running)
		hist_add(&report->side_lat, c.lat_ns);
	if (write)
		c.proc->writes++;
	else
		c.proc->reads++;
	report->by_type[c.type][write].rows++;
	report->by_type[c.type][write].time_ns += c.again_side ? 0 : c.lat_ns;
	if (c.done) {
		add_transfer(scan, &c, op, write, c.bytes);
		if (write)
			report_causes_write(scan, &c);
		if (write && c.bytes < scan_number(scan, COL_REQUESTED))
			report_failed_short(scan, &c);
	} else if (c.failed) {
		report_failed_call(scan, &c);
	}
	pass_call(scan, &c);
	if (report->path)
		report_path_call(report->path, scan, &c);
	pass_whatif(scan, &c);
	if (report->why)
		why_rw_take(scan, &c);
	if (no_result) {
		report->no_result++;
		report->no_result_bytes += scan_number(scan, COL_REQUESTED);
	}
	return true;
}

static bool take_either(struct scan *s)
{
	const bool write = scan_is(s, COL_RW, "W");

	if (!(s->plain >> s->row & 1))
		return take_rw(s, write, false);
	return write ? take_rw(s, true, true) : take_rw(s, false, true);
}

/*
 * These are most rows of most traces. So the code is compiled three times: for reads and for writes whose numbers are
 * all there, and for rows that lack one, which tests each number.
 */
__attribute__((flatten)) static void rows_vfs_rw(struct scan *s, unsigned int n)
{
	report_each_row(s, n, take_either);
}

static void rw_ends(struct report *r)
{
	struct report_op *op = &r->op[REPORT_VFS_RW];

	for (unsigned int side = 0; side < 2; side++)
		report_op_add(op, &r->rw[side]);
	op->size = (struct hist){ 0 }; /* one histogram of reads and writes together has no meaning */
	hist_subtract(&op->lat, &r->side_lat);
}

/* --- files ------------------------------------------------------------------------------------------- */

static void rows_of_names(struct scan *s, unsigned int n)
{
	static const report_row_fn row_fns[REPORT_BIO] = {
		[REPORT_FILES] = report_row_files,
		[REPORT_PIDS] = report_row_pids,
		[REPORT_TIME_ALIGN] = report_row_time_align,
		[REPORT_ROLLUP] = report_row_rollup,
	};

	report_each_row(s, n, row_fns[s->kind]);
}

static const report_rows_fn rows_fns[REPORT_KINDS] = {
	[REPORT_FILES] = rows_of_names,
	[REPORT_PIDS] = rows_of_names,
	[REPORT_TIME_ALIGN] = rows_of_names,
	[REPORT_ROLLUP] = rows_of_names,
	/* calls and requests, which are most rows */
	[REPORT_BIO] = report_request_rows,
	[REPORT_CLOSE] = rows_call,
	[REPORT_CREATE_DEL] = rows_call,
	[REPORT_MMAP] = rows_call,
	[REPORT_OPEN] = rows_call,
	[REPORT_SYNC] = rows_call,
	[REPORT_VFS_RW] = rows_vfs_rw,
};

/* Prefetches what most rows need of a process. */
static void expect_proc(const struct report *r, uint64_t pid)
{
	const struct report_proc *p = table_find(&r->procs, pid);

	if (!p)
		return;
	__builtin_prefetch(p->lane);
	__builtin_prefetch(p->spread[REPORT_READ_NS]);
	__builtin_prefetch(p->spread[REPORT_READ_BYTES]);
}

/*
 * Prefetches the entries of processes and files, which exceed the processor's caches. A process's latest file is
 * cached. An entry's address is known when its slot has arrived, so slots come first.
 */
static void look_ahead(const struct scan *scan, unsigned int n)
{
	const uint64_t *pid = scan->number[COL_PID], *fid = scan->number[COL_FID], *fd = scan->number[COL_FD];
	const uint32_t pairs = scan->is_number[COL_FID] & scan->is_number[COL_PID];
	const struct report *report = scan->report;
	uint32_t far = 0;

	for (unsigned int i = 0; i < n; i++)
		far |= (uint32_t)(!report->uses || !report_uses_near(report->uses, pid[i], fid[i])) << i;
	far &= pairs;
	for (uint32_t left = far; left; left &= left - 1) {
		const unsigned int i = (unsigned int)__builtin_ctz(left);

		if (report->uses)
			report_uses_expect(report->uses, pid[i], fid[i]);
		table_expect(&report->files, fid[i]);
		if (report->why)
			why_files_expect(report->why, pid[i], fid[i], fd[i]);
	}
	for (unsigned int i = 0; i < n; i++)
		expect_proc(report, pid[i]);
	for (; report->uses && far; far &= far - 1) {
		const unsigned int i = (unsigned int)__builtin_ctz(far);

		report_uses_expect_entry(report->uses, pid[i], fid[i]);
	}
}

static int read_rows(struct scan *scan, struct scan_taker *also)
{
	struct report *report = scan->report;
	struct cpu_calls *calls = report_cpu_calls_begin(report->cpu, scan);
	struct scan_place place = { .ns = 0 };
	int n;

	/* without a manifest: time_align.out, read before, begins before all else */
	if (report->timeline && scan->kind >= REPORT_BIO)
		timeline_begin(report->timeline, report->first_ns);
	why_rows_begin(report);
	if (report->why)
		why_calls_begin(report->why->calls, scan->kind);
	while ((n = scan_rows(scan)) > 0) {
		if (scan->kind > REPORT_BIO)
			look_ahead(scan, (unsigned int)n);
		if (calls)
			report_cpu_calls_rows(calls, scan);
		scan_give(scan, also);
		rows_fns[scan->kind](scan, (unsigned int)n);
		report_scan_place(scan, &place);
	}
	if (report->why)
		why_calls_end(report->why->calls, scan->kind);
	return n;
}

int report_read(struct report *report, enum report_kind kind, struct scan_taker *also)
{
	struct scan s = { .report = report, .kind = kind, .op = &report->op[kind] };
	int res = scan_begin(&s, report->folder, report_kind_names[kind]);

	if (res < 0)
		return res;
	report->present[kind] = true;
	if (report->datasets)
		report_datasets_before(report, kind);
	if (kind == REPORT_VFS_RW)
		report_brief_read(report);
	res = s.file->error = read_rows(&s, also);
	if (report->datasets)
		report_datasets_after(report, kind);
	s.file->bad_rows = s.bad_rows;
	if (kind > REPORT_BIO)
		report_funcs_sum(report, kind);
	if (kind == REPORT_VFS_RW)
		rw_ends(report);
	report->trace_bytes += s.file->reader.stored_bytes;
	return res;
}
