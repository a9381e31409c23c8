/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adds rows of operations (calls, requests to disks) to the report's sums. Knows columns and their meaning, not how files
 * are read. Allocates only for a new key of a table.
 */
#include "report/rows.h"

#include <stdlib.h>

#include "base/util.h"
#include "report/cpu/load.h"
#include "report/disk/causes.h"
#include "report/files/datasets.h"
#include "report/files/path_filter.h"
#include "report/files/spreads.h"
#include "report/files/streams.h"
#include "report/files/uses.h"
#include "report/rules/load.h"
#include "report/scan/functions.h"
#include "report/timeline.h"
#include "report/why/calls.h"
#include "report/why/rows.h"
#include "report/why/rw.h"
#include "stats/top.h"

/* Keeps the current row in TOP when it is one of the longest. */
static void keep_longest(struct report_calls *top, const struct scan *s, uint64_t lat_ns)
{
	struct report_call *at = TOP_PLACE(top->call, top->n, REPORT_TOP, e, e->lat_ns, lat_ns);

	top->seen++;
	if (at)
		*at = (struct report_call){ .lat_ns = lat_ns, .offset = s->ahead[s->row].offset, .kind = s->kind };
}

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
static bool parse_call(struct scan *s, struct report_call_facts *c)
{
	if (c->plain || s->timed >> s->row & 1) {
		c->pid = scan_number(s, COL_PID);
		c->tid = scan_number(s, COL_TID);
		c->lat_ns = scan_number(s, COL_LAT_NS);
	} else if (!scan_u64(s, COL_PID, &c->pid) || !scan_u64(s, COL_TID, &c->tid) || !c->running) {
		return false;
	}
	c->lat_ns = MIN(c->lat_ns, s->time_ns); /* no call takes longer than the machine has been up */
	c->proc = proc_of(s, c->pid, c->tid);
	c->fid = scan_number(s, COL_FID);
	c->file = c->plain || scan_has_number(s, COL_FID) ? file_of(s, c->fid) : NULL;
	c->type = c->file ? (enum report_type)c->file->type : REPORT_UNKNOWN;
	c->on_file = report_is_file(c->type);
	return true;
}

static void add_to_op(struct report_op *op, const struct report_call_facts *c, bool timed)
{
	op->rows++;
	if (c->failed)
		op->failed++;
	if (c->running)
		op->running++;
	else if (timed)
		hist_add(&op->lat, c->lat_ns);
}

/* Adds a call to the sums that all kinds share. */
static void add_call(struct scan *s, const struct report_call_facts *c)
{
	struct report *r = s->report;

	if (c->file) {
		c->file->calls++;
		c->file->time_ns += c->again_side ? 0 : c->lat_ns;
	}
	c->proc->calls++;
	if (c->again)
		return;
	*(c->on_file ? &c->proc->file_ns : &c->proc->wait_ns) += c->lat_ns;
	if (c->rw && !c->on_file && c->proc->waits && c->tid == c->pid)
		why_wait(c->proc->waits, s->time_ns, c->lat_ns);
	if (c->running)
		keep_longest(c->on_file ? &r->running : &r->running_waits, s, c->lat_ns);
	else
		keep_longest(c->on_file ? &r->slow : &r->waits, s, c->lat_ns);
}

/* Adds a call that has ended to the timeline. */
static void time_call(struct scan *s, const struct report_call_facts *c)
{
	if (!c->running)
		report_timeline_call(s, c);
}

/* Passes a call to the sums of files by process, other descriptors, and spreads. */
static void pass_call(struct scan *s, const struct report_call_facts *c)
{
	if (!s->report->uses)
		return;
	report_uses_call(s, c);
	report_streams_call(s, c);
	report_spreads_call(s, c);
}

/* Whether --path excludes the row. A failed call has no file: then its PATH counts, if it is absolute. */
static bool is_path_elsewhere(struct scan *s)
{
	struct report *r = s->report;
	const struct report_file *f;
	uint64_t fid;
	bool inside;

	f = scan_u64(s, COL_FID, &fid) ? table_find(&r->files, fid) : NULL;
	inside = f ? f->inside : path_filter_has(r, scan_field(s, COL_PATH));
	r->only.rows++;
	r->only.left_out += !inside;
	return !inside;
}

static inline bool is_elsewhere(struct scan *s)
{
	return s->report->only.path && is_path_elsewhere(s);
}

static bool take_call(struct scan *s)
{
	struct report *r = s->report;
	struct report_call_facts c = { .pid = 0 };
	struct report_func *func;

	if (is_elsewhere(s))
		return true;
	parse_result(scan_field(s, COL_RET), &c);
	if (!parse_call(s, &c))
		return false;
	func = report_func_of(s, false);
	add_to_op(&func->op, &c, true);
	add_call(s, &c);
	time_call(s, &c);
	if (s->kind == REPORT_MMAP && c.file && !c.failed && scan_is(s, COL_FUNC, "mmap")) {
		scan_u64(s, COL_LEN, &c.bytes);
		r->map_calls++;
		r->map_bytes += c.bytes;
		c.proc->data_maps += c.file->data;
		if (r->datasets)
			report_datasets_map(r->datasets, c.fid, c.bytes);
		if (c.file->data)
			first_data_map(&c.proc->first_data, s->time_ns - c.lat_ns);
		hist_add(&func->op.size, c.bytes);
	}
	pass_call(s, &c);
	if (r->why && s->kind != REPORT_MMAP)
		why_rows_take(s, &c);
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

static void add_read(struct scan *s, const struct report_call_facts *c, uint64_t bytes)
{
	struct report *r = s->report;
	unsigned int size = bytes ? 64 - (unsigned int)__builtin_clzll(bytes) : 0;
	struct report_source_sum *src;

	if (c->on_file) {
		r->read_size[size].calls++;
		r->read_size[size].bytes += bytes;
	}
	if (!c->file || (c->type != REPORT_REG && c->type != REPORT_UNKNOWN))
		return;
	src = &r->source[source_of(s, c->file)];
	src->calls++;
	src->bytes += bytes;
	src->disk_calls += c->disk_bytes > 0;
	src->disk_bytes += c->disk_bytes;
	src->unaccounted += !c->accounted;
}

static void add_transfer(struct scan *s, const struct report_call_facts *c, struct report_op *op, bool write, uint64_t bytes)
{
	struct report *r = s->report;

	op->bytes += bytes;
	hist_add(&op->size, bytes);
	r->by_type[c->type][write].bytes += bytes;
	*(write ? &c->proc->write_bytes : &c->proc->read_bytes) += bytes;
	if (!write && bytes && (c->type == REPORT_FIFO || c->type == REPORT_SOCK) && c->proc->copies)
		c->proc->received += s->time_ns > c->proc->copies_from_ns;
	if (c->file && c->file->data) {
		*(write ? &c->proc->data_written : &c->proc->data_read) += bytes;
		if (!write)
			first_data_read(&c->proc->first_data, s->time_ns - c->lat_ns, bytes);
	}
	if (c->file)
		*(write ? &c->file->write_bytes : &c->file->read_bytes) += bytes;
	if (!write)
		add_read(s, c, bytes);
}

static inline __attribute__((always_inline)) bool take_rw(struct scan *s, bool write, bool plain)
{
	struct report_call_facts c = {
		.rw = true, .plain = plain, .write = write, .bytes = scan_number(s, COL_RETURNED),
		.done = plain || scan_has_number(s, COL_RETURNED), .disk_bytes = scan_number(s, COL_DISK_BYTES),
		.accounted = plain || scan_has_number(s, COL_DISK_BYTES),
	};
	struct report *r = s->report;
	struct report_op *op;
	bool no_result = false;

	if (is_elsewhere(s))
		return true;
	if (!c.done) {
		parse_result(scan_field(s, COL_RETURNED), &c);
		no_result = scan_is(s, COL_RETURNED, "-");
	}
	if (!parse_call(s, &c) || !(c.done || no_result || c.failed || c.running))
		return false;
	c.again = s->time_ns == s->last_ns && c.tid == s->last_tid;
	c.again_side = c.again && write == s->last_write;
	s->last_ns = s->time_ns;
	s->last_tid = c.tid;
	s->last_write = write;

	op = &report_func_of(s, write)->op;
	add_call(s, &c);
	time_call(s, &c);
	add_to_op(op, &c, !c.again_side);
	if (c.again && !c.again_side && !c.running)
		hist_add(&r->side_lat, c.lat_ns);
	*(write ? &c.proc->writes : &c.proc->reads) += 1;
	r->by_type[c.type][write].rows++;
	r->by_type[c.type][write].time_ns += c.again_side ? 0 : c.lat_ns;
	if (c.done) {
		add_transfer(s, &c, op, write, c.bytes);
		if (write)
			report_causes_write(s, &c);
	}
	pass_call(s, &c);
	if (r->why)
		why_rw_take(s, &c);
	if (no_result) {
		r->no_result++;
		r->no_result_bytes += scan_number(s, COL_REQUESTED);
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
 * These are most rows of most traces. So the code is compiled three times: for reads and for writes whose numbers are all
 * there, and for rows that lack one, which tests each number.
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

static bool is_memory(const char *disk)
{
	static const char *const memory_disks[] = { "pmem", "ram", "zram" };

	for (size_t i = 0; i < ARRAY_SIZE(memory_disks); i++)
		if (strncmp(disk, memory_disks[i], strlen(memory_disks[i])) == 0)
			return true;
	return false;
}

/*
 * Whether D is the lowest disk of its requests. A disk that takes bios passes them on to a disk below, where they have rows
 * again; only disks in memory do not.
 */
static bool is_lowest(const struct report_disk *d)
{
	return d->memory || !d->stacked;
}

static struct report_disk *disk_of(struct scan *s)
{
	struct reader_field name = scan_field(s, COL_DISK);
	struct report_disk *d = table_get(&s->report->disks, table_key(name.p, name.len));

	if (!d)
		d = &s->report->other_disk;
	if (!d->name[0]) {
		report_copy(d->name, sizeof(d->name), name);
		d->memory = is_memory(d->name);
	}
	d->stacked |= reader_flag(scan_field(s, COL_FLAGS), "BIO");
	return d;
}

static enum report_t t_of(struct reader_field f)
{
	for (unsigned int t = 0; t < REPORT_TS; t++)
		if (f.len == 1 && f.p[0] == report_t_names[t])
			return (enum report_t)t;
	return REPORT_O;
}

static bool take_request(struct scan *s)
{
	struct reader_field status = scan_field(s, COL_STATUS);
	struct report_call_facts c = {
		.running = reader_is(status, "?"),
		.failed = status.len > 1 && status.p[0] == '-',
	};
	enum report_t t = t_of(scan_field(s, COL_T));
	uint64_t bytes, queue_ns = 0;
	struct report_disk_op *op;
	struct report_disk *d;

	if (!scan_u64(s, COL_LAT_NS, &c.lat_ns) || !scan_u64(s, COL_BYTES, &bytes))
		return false;
	scan_u64(s, COL_QLAT_NS, &queue_ns); /* `-' where bios are not queued */
	d = disk_of(s);
	op = &d->op[t];
	if (!op->lat && !(op->lat = calloc(1, sizeof(*op->lat))))
		return false;
	add_to_op(s->op, &c, is_lowest(d));
	if (c.running) {
		keep_longest(&s->report->running, s, c.lat_ns);
		return true;
	}
	bytes = c.failed ? 0 : bytes;
	op->requests++;
	op->bytes += bytes;
	op->queue_ns += queue_ns;
	hist_add(op->lat, c.lat_ns);
	if (s->report->causes)
		report_causes_request(s, t, bytes, c.lat_ns);
	if (is_lowest(d))
		report_timeline_request(s, scan_field(s, COL_DISK), bytes, queue_ns, c.lat_ns);
	d->failed += c.failed;
	if (reader_flag(scan_field(s, COL_FLAGS), "SELF")) {
		d->self_requests++;
		d->self_bytes += bytes;
	}
	if (is_lowest(d) && (t == REPORT_R || t == REPORT_W)) {
		s->op->bytes += bytes;
		s->report->bio[t == REPORT_W].bytes += bytes;
		add_to_op(&s->report->bio[t == REPORT_W], &c, true);
		if (!c.failed)
			hist_add(&s->report->bio[t == REPORT_W].size, bytes);
	}
	return true;
}

static void rows_bio(struct scan *s, unsigned int n)
{
	report_each_row(s, n, take_request);
}

/* --- files ------------------------------------------------------------------------------------------- */

static void rows_of_names(struct scan *s, unsigned int n)
{
	static const report_row_fn row_fns[REPORT_BIO] = {
		[REPORT_FILES] = report_row_files,	     [REPORT_PIDS] = report_row_pids,
		[REPORT_TIME_ALIGN] = report_row_time_align, [REPORT_ROLLUP] = report_row_rollup,
	};

	report_each_row(s, n, row_fns[s->kind]);
}

static const report_rows_fn rows_fns[REPORT_KINDS] = {
	[REPORT_FILES] = rows_of_names,		     [REPORT_PIDS] = rows_of_names,
	[REPORT_TIME_ALIGN] = rows_of_names,	     [REPORT_ROLLUP] = rows_of_names,
	/* calls and requests, which are most rows */
	[REPORT_BIO] = rows_bio,
	[REPORT_CLOSE] = rows_call,	     [REPORT_CREATE_DEL] = rows_call,
	[REPORT_MMAP] = rows_call,	     [REPORT_OPEN] = rows_call,
	[REPORT_SYNC] = rows_call,	     [REPORT_VFS_RW] = rows_vfs_rw,
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
 * Prefetches the entries of processes and files, which exceed the processor's caches. A process's latest file is cached. An
 * entry's address is known when its slot has arrived, so slots come first.
 */
static void look_ahead(const struct scan *s, unsigned int n)
{
	const uint64_t *pid = s->number[COL_PID], *fid = s->number[COL_FID], *fd = s->number[COL_FD];
	const uint32_t pairs = s->is_number[COL_FID] & s->is_number[COL_PID];
	const struct report *r = s->report;
	uint32_t far = 0;

	for (unsigned int i = 0; i < n; i++)
		far |= (uint32_t)(!r->uses || !report_uses_near(r->uses, pid[i], fid[i])) << i;
	far &= pairs;
	for (uint32_t left = far; left; left &= left - 1) {
		const unsigned int i = (unsigned int)__builtin_ctz(left);

		if (r->uses)
			report_uses_expect(r->uses, pid[i], fid[i]);
		table_expect(&r->files, fid[i]);
		if (r->why)
			why_files_expect(r->why, pid[i], fid[i], fd[i]);
	}
	for (unsigned int i = 0; i < n; i++)
		expect_proc(r, pid[i]);
	for (; r->uses && far; far &= far - 1) {
		const unsigned int i = (unsigned int)__builtin_ctz(far);

		report_uses_expect_entry(r->uses, pid[i], fid[i]);
	}
}

static int read_rows(struct scan *s, struct scan_taker *also)
{
	struct report *r = s->report;
	struct cpu_calls *calls = report_cpu_calls_begin(r->cpu, s);
	struct scan_place place = { .ns = 0 };
	int n;

	/* without a manifest: time_align.out, read before, begins before all else */
	if (r->timeline && s->kind >= REPORT_BIO)
		timeline_begin(r->timeline, r->first_ns);
	why_rows_begin(r);
	if (r->why)
		why_calls_begin(r->why->calls, s->kind);
	while ((n = scan_rows(s)) > 0) {
		if (s->kind > REPORT_BIO)
			look_ahead(s, (unsigned int)n);
		if (calls)
			report_cpu_calls_rows(calls, s);
		scan_give(s, also);
		rows_fns[s->kind](s, (unsigned int)n);
		report_scan_place(s, &place);
	}
	if (r->why)
		why_calls_end(r->why->calls, s->kind);
	return n;
}

int report_read(struct report *r, enum report_kind kind, struct scan_taker *also)
{
	struct scan s = { .report = r, .kind = kind, .op = &r->op[kind] };
	int res = scan_begin(&s, r->folder, report_kind_names[kind]);

	if (res < 0)
		return res;
	r->present[kind] = true;
	if (r->datasets)
		report_datasets_before(r, kind);
	res = s.file->error = read_rows(&s, also);
	if (r->datasets)
		report_datasets_after(r, kind);
	s.file->bad_rows = s.bad_rows;
	if (kind > REPORT_BIO)
		report_funcs_sum(r, kind);
	if (kind == REPORT_VFS_RW)
		rw_ends(r);
	r->trace_bytes += s.file->reader.stored_bytes;
	return res;
}
