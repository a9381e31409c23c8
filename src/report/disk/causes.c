/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/disk/causes.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "report/scan/lookup.h"
#include "report/scan/part.h"
#include "stats/top.h"

/* --- kinds ------------------------------------------------------------------------------------------- */

static const struct {
	const char *name, *no_file, *no_writer;
} kinds[CAUSE_KINDS] = {
	[CAUSE_DATA] = { "data", "(unknown files)", "(unknown writers)" },
	[CAUSE_DIRECT] = { "direct", "(direct I/O of unknown files)", "(direct I/O of unknown processes)" },
	[CAUSE_META] = { "meta", "(metadata of file systems)", "(metadata, written back)" },
	[CAUSE_JOURNAL] = { "journal", "(journals)", "(journals)" },
	[CAUSE_SWAP] = { "swap", "(swap)", "(swap, written)" },
	[CAUSE_SUPER] = { "super", "(superblocks)", "(superblocks)" },
	[CAUSE_OTHER] = { "other", "(requests of unknown kind)", "(writes of unknown kind)" },
	[CAUSE_NO_DATA] = { "-", "(flushes and discards)", "(flushes and discards)" },
	[CAUSE_SEVERAL] = { NULL, "(several files in one request)", "(several files in one request)" },
};

static enum cause_kind kind_of(struct reader_field f)
{
	for (unsigned int k = 0; k < CAUSE_SEVERAL; k++)
		if (reader_is(f, kinds[k].name))
			return (enum cause_kind)k;
	return CAUSE_OTHER;
}

/* --- sums -------------------------------------------------------------------------------------------- */

static void add(struct report_cause *to, const struct report_cause *c)
{
	to->read_bytes += c->read_bytes;
	to->write_bytes += c->write_bytes;
	to->requests += c->requests;
	to->time_ns += c->time_ns;
}

static void subtract(struct report_cause *from, const struct report_cause *c)
{
	from->read_bytes -= c->read_bytes;
	from->write_bytes -= c->write_bytes;
	from->requests -= c->requests;
	from->time_ns -= c->time_ns;
}

/* Returns the process PID, whose name is COMM where that is known; NULL: there is no room. */
static struct report_cause_process *process_of(struct report_causes *c, uint64_t pid, struct reader_field comm)
{
	struct report_cause_process *p = table_get(&c->processes, pid);

	if (p && !p->comm[0])
		report_copy(p->comm, sizeof(p->comm), comm);
	return p;
}

static void add_to_process(struct report_causes *c, struct report_cause_process *p, const struct report_cause *one,
			   bool unsure)
{
	add(p ? &p->sum : &c->other_processes, one);
	if (p && unsure)
		p->unsure_bytes += one->write_bytes;
}

/* --- write-backs --------------------------------------------------------------------------------------- */

/*
 * Takes a part of a write-back. The time is divided in proportion to the bytes, and the last part gets the rest, so
 * that the parts add up. The request counts once, for the process that wrote most of it.
 */
static void take_part(void *ctx, const struct writeback *writeback, uint64_t len, uint32_t pid)
{
	struct report_causes *causes = ctx;
	const uint32_t writer = pid ? pid : writeback->pid;
	struct report_cause one = { .write_bytes = len };

	if (causes->bytes_left == 0) {
		causes->bytes_left = writeback->bytes;
		causes->time_left_ns = writeback->time_ns;
		causes->largest_bytes = 0;
	}
	one.time_ns = (uint64_t)((double)causes->time_left_ns * ((double)len / (double)causes->bytes_left));
	causes->bytes_left -= len;
	if (causes->bytes_left == 0)
		one.time_ns = causes->time_left_ns;
	causes->time_left_ns -= one.time_ns;
	if (writer)
		add_to_process(causes, process_of(causes, writer, (struct reader_field){ .p = "" }), &one,
			       !pid && writeback->writers > 1);
	else
		add(&causes->no_writer[CAUSE_DATA], &one);
	if (len > causes->largest_bytes) {
		causes->largest_bytes = len;
		causes->largest_pid = writer;
	}
	if (causes->bytes_left)
		return;
	one = (struct report_cause){ .requests = writeback->requests };
	if (causes->largest_pid)
		add_to_process(causes, table_get(&causes->processes, causes->largest_pid), &one, false);
	else
		add(&causes->no_writer[CAUSE_DATA], &one);
}

/* The file and process that a request, or a piece of one, belongs to. */
struct target {
	enum cause_kind kind;
	uint64_t fid, off, pid, writers; /* FID, PID 0: not known */
	uint64_t issued_ns;
	bool placed; /* OFF is known */
};

/* Keeps a write-back of a file for the comparison with writes. Returns false if it is none, or there is no room. */
static bool keep(struct report *report, const struct target *target, const struct report_cause *one)
{
	struct report_file *file = target->fid ? table_find(&report->files, target->fid) : NULL;
	const struct writeback x = {
		.issued_ns = target->issued_ns,
		.fid = target->fid,
		.off = target->off,
		.bytes = one->write_bytes,
		.time_ns = one->time_ns,
		.pid = (uint32_t)target->pid,
		.writers = (uint32_t)MIN(target->writers, UINT32_MAX),
		.requests = (uint32_t)one->requests,
	};

	if (target->kind != CAUSE_DATA || !file || !target->placed || !x.bytes || target->pid > UINT32_MAX ||
	    !writebacks_add(&report->causes->writebacks, &x))
		return false;
	file->written_back = true;
	return true;
}

void report_causes_write_of(const struct scan *s, const struct report_call_facts *c)
{
	struct writebacks_write w = { s->time_ns - c->lat_ns, c->fid, 0, c->bytes, (uint32_t)c->pid };

	if (c->pid <= UINT32_MAX && scan_u64(s, COL_OFFSET, &w.off))
		writebacks_write(&s->report->causes->writebacks, &w);
}

/* --- requests ------------------------------------------------------------------------------------------- */

/* Adds ONE, a request or a piece of one, to its file, or to the sums without a file, and to its process. */
static void add_target(struct report *report, const struct target *target, const struct report_cause *one)
{
	struct report_causes *causes = report->causes;
	struct report_cause *file = target->fid ? table_get(&causes->files, target->fid) : NULL;

	if (file && !file->of_job)
		file->of_job = target->pid && table_find(&report->procs, target->pid);
	if (!file)
		file = target->fid ? &causes->other_files : &causes->no_file[target->kind];
	add(file, one);
	if (one->write_bytes && keep(report, target, one))
		return;
	if (target->pid)
		add_to_process(causes, table_get(&causes->processes, target->pid), one, target->writers > 1);
	else
		add(&causes->no_writer[target->kind], one);
}

/* Adds the pieces of the current row, and subtracts them from LEFT. The first piece counts as the request. */
static void add_pieces(const struct scan *scan, const struct target *whole, struct report_cause *left)
{
	struct report_causes *causes = scan->report->causes;
	uint64_t sector, bytes = left->read_bytes + left->write_bytes;
	const struct report_piece *piece;

	if (!scan_u64(scan, COL_SECTOR, &sector))
		return;
	while (bytes && (piece = report_pieces_take(&causes->pieces, scan_field(scan, COL_DISK), sector,
						    whole->issued_ns, scan->time_ns))) {
		const uint64_t n = MIN(piece->bytes, bytes);
		struct report_cause one = { .requests = left->requests, .time_ns = left->time_ns };
		struct target t = { .kind = (enum cause_kind)piece->kind,
				    .fid = piece->fid,
				    .off = piece->off,
				    .placed = true,
				    .pid = left->write_bytes ? piece->pid : whole->pid,
				    .writers = whole->writers,
				    .issued_ns = whole->issued_ns };

		if (!n)
			break;
		if (!t.fid &&
		    t.kind == CAUSE_OTHER) /* the rest of a request that has more pieces than bio_map.out lists */
			t.kind = CAUSE_SEVERAL;
		if (left->write_bytes)
			one.write_bytes = n;
		else
			one.read_bytes = n;
		if (n < bytes)
			one.time_ns = (uint64_t)((double)left->time_ns * ((double)n / (double)bytes));
		if (t.pid && left->write_bytes)
			process_of(causes, t.pid, (struct reader_field){ .p = "" });
		add_target(scan->report, &t, &one);
		subtract(left, &one);
		sector += n / 512;
		bytes -= n;
	}
}

/* Returns the target of the current row. */
static struct target target_of(const struct scan *scan, enum report_t t, uint64_t lat_ns)
{
	struct target whole = {
		.kind = kind_of(scan_field(scan, COL_KIND)),
		.fid = scan_number(scan, COL_FID),
		.writers = scan_number(scan, COL_WN),
		.pid = scan_number(scan, t == REPORT_W ? COL_WPID : COL_PID),
		.issued_ns = scan->time_ns - MIN(lat_ns, scan->time_ns) + scan_number(scan, COL_QLAT_NS),
	};

	whole.placed = scan_u64(scan, COL_FOFF, &whole.off);
	if (whole.pid)
		process_of(scan->report->causes, whole.pid, scan_field(scan, t == REPORT_W ? COL_WCOMM : COL_COMM));
	return whole;
}

/* Notes a write of the disk, or compares a read with them. Only reads of files by processes of the job count. */
static void add_interference(const struct scan *scan, enum report_t t, uint64_t lat_ns)
{
	struct reader_field name = scan_field(scan, COL_DISK);
	struct report_causes *causes = scan->report->causes;
	struct interference *interference;
	struct report_cause_reads *reads;

	if ((t != REPORT_R && t != REPORT_W) ||
	    !(interference = table_get(&causes->disks, table_key(name.p, name.len))))
		return;
	if (t == REPORT_W) {
		interference_write(interference, scan->time_ns);
		return;
	}
	if (!scan_has_number(scan, COL_FID) || !table_find(&scan->report->procs, scan_number(scan, COL_PID)))
		return;
	reads = interference_read(interference, scan->time_ns - MIN(lat_ns, scan->time_ns)) ? &causes->beside :
											      &causes->alone;
	reads->n++;
	reads->ns += lat_ns;
	interference->read_ns += lat_ns;
}

void report_causes_request(const struct scan *scan, enum report_t t, uint64_t bytes, uint64_t lat_ns)
{
	struct report_cause one = {
		.read_bytes = t == REPORT_R ? bytes : 0,
		.write_bytes = t == REPORT_W ? bytes : 0,
		.requests = 1,
		.time_ns = lat_ns,
	};
	struct report_causes *causes = scan->report->causes;
	struct target whole;

	causes->known = scan->at[COL_KIND];
	if (!causes->known || scan_is(scan, COL_KIND, "below"))
		return;
	add(&causes->all, &one);
	add_interference(scan, t, lat_ns);
	whole = target_of(scan, t, lat_ns);
	if (scan_number(scan, COL_EXTENTS) > 1) {
		add_pieces(scan, &whole, &one);
		/* the rest belongs to several files; but what was merged with a journal, metadata or swap counts as
		 * that */
		whole.kind = whole.kind == CAUSE_DATA || whole.kind == CAUSE_DIRECT ? CAUSE_SEVERAL : whole.kind;
		whole.fid = 0;
	}
	if (one.requests || one.read_bytes || one.write_bytes)
		add_target(scan->report, &whole, &one);
}

/* --- the rows --------------------------------------------------------------------------------------------- */

static int part_new(struct report *r, const struct report_options *o)
{
	struct report_causes *c = r->causes = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	table_init(&c->files, sizeof(struct report_cause), REPORT_FILES_MAX);
	table_init(&c->processes, sizeof(struct report_cause_process), CAUSES_PROCESSES_MAX);
	table_init(&c->disks, sizeof(struct interference), REPORT_DISKS_MAX);
	report_pieces_init(&c->pieces);
	writebacks_init(&c->writebacks, take_part, c);
	return 0;
}

static uint32_t kind_number(struct reader_field name)
{
	return kind_of(name);
}

static void part_begin(struct report *r)
{
	report_pieces_read(&r->causes->pieces, r->folder, kind_number);
}

static void part_free(struct report *r)
{
	struct report_causes *causes = r->causes;

	if (!causes)
		return;
	for (unsigned int i = 0; i < causes->n_files; i++)
		free(causes->file[i].path);
	table_free(&causes->files);
	table_free(&causes->processes);
	table_free(&causes->disks);
	report_pieces_free(&causes->pieces);
	writebacks_free(&causes->writebacks);
	free(causes);
}

/* Inserts a row that stands for no single file or process after the rows with more time. */
static struct report_cause_row *put_rest(struct report_cause_row *rows, unsigned int *n, const struct report_cause *sum,
					 const char *what)
{
	struct report_cause_row *at = sum->requests || sum->write_bytes ?
					      TOP_PLACE(rows, *n, CAUSES_ROWS, e, e->sum.time_ns, sum->time_ns) :
					      NULL;

	if (at)
		*at = (struct report_cause_row){ .sum = *sum, .what = what };
	return at;
}

/* Whether the job used the file FID, which caused SUM: by calls on it, or as its program, a library, or a mapping. */
static bool is_of_job(const struct report *r, uint64_t fid, const struct report_cause *sum)
{
	const struct report_file *f = table_find(&r->files, fid);

	return sum->of_job || (f && f->calls);
}

static void pick_files(struct report *report)
{
	struct report_causes *causes = report->causes;
	struct report_cause rest = causes->other_files, rest_of_job = { 0 };
	struct report_cause_row *row;

	for (uint32_t i = 0; i < causes->files.n; i++) {
		const struct report_cause *sum = table_at(&causes->files, i);
		const uint64_t fid = table_key_at(&causes->files, i);

		add(is_of_job(report, fid, sum) ? &rest_of_job : &rest, sum);
		row = TOP_PLACE(causes->file, causes->n_files, CAUSES_SHOWN, e, e->sum.time_ns, sum->time_ns);
		if (row)
			*row = (struct report_cause_row){ .sum = *sum, .id = fid };
	}
	for (unsigned int i = 0; i < causes->n_files; i++) {
		row = &causes->file[i];
		row->of_job = is_of_job(report, row->id, &row->sum);
		row->path = report_path_of(report, row->id, NULL, 0);
		subtract(row->of_job ? &rest_of_job : &rest, &row->sum);
	}
	for (unsigned int k = 0; k < CAUSE_KINDS; k++)
		put_rest(causes->file, &causes->n_files, &causes->no_file[k], kinds[k].no_file);
	put_rest(causes->file, &causes->n_files, &rest, "(other files)");
	row = put_rest(causes->file, &causes->n_files, &rest_of_job, "(other files of the job)");
	if (row)
		row->of_job = true;
}

static void pick_processes(struct report *report)
{
	struct report_causes *causes = report->causes;
	struct report_cause rest = causes->other_processes;

	for (uint32_t i = 0; i < causes->processes.n; i++) {
		const struct report_cause_process *p = table_at(&causes->processes, i);
		struct report_cause_row *at = p->sum.requests || p->sum.write_bytes ?
						      TOP_PLACE(causes->process, causes->n_processes, CAUSES_SHOWN, e,
								e->sum.time_ns, p->sum.time_ns) :
						      NULL;

		add(&rest, &p->sum);
		if (at)
			*at = (struct report_cause_row){ .sum = p->sum,
							 .unsure_bytes = p->unsure_bytes,
							 .id = table_key_at(&causes->processes, i) };
	}
	for (unsigned int i = 0; i < causes->n_processes; i++) {
		struct report_cause_row *row = &causes->process[i];
		const struct report_cause_process *own = table_find(&causes->processes, row->id);
		const struct report_proc *p = table_find(&report->procs, row->id);

		subtract(&rest, &row->sum);
		row->of_job = p;
		if (p && p->comm[0])
			snprintf(row->comm, sizeof(row->comm), "%s", p->comm);
		else
			snprintf(row->comm, sizeof(row->comm), "%s", own ? own->comm : "");
	}
	for (unsigned int k = 0; k < CAUSE_KINDS; k++)
		put_rest(causes->process, &causes->n_processes, &causes->no_writer[k], kinds[k].no_writer);
	put_rest(causes->process, &causes->n_processes, &rest, "(other processes)");
}

static void part_end(struct report *r)
{
	writebacks_end(&r->causes->writebacks);
	pick_files(r);
	pick_processes(r);
}

/* --- for other jobs ---------------------------------------------------------------------------------------------- */

#define LEAST_BUSY 0.1 /* of the job's time, in requests: the disks matter */
#define LEAST_FOREIGN 0.1 /* of the time in requests: what is not for the job matters */

bool report_causes_foreign(const struct report_causes *causes, uint64_t duration_ns, struct report_foreign *ret)
{
	const double all_ns = (double)causes->all.time_ns;
	struct report_foreign foreign = { 0 };
	unsigned int n = 0;

	if (!causes->all.time_ns || all_ns < LEAST_BUSY * (double)duration_ns)
		return false;
	for (unsigned int i = 0; i < causes->n_files; i++) {
		const struct report_cause_row *row = &causes->file[i];
		const double share = (double)row->sum.time_ns / all_ns;

		if (row->of_job)
			continue;
		foreign.share += share;
		if (n < ARRAY_SIZE(foreign.file)) {
			foreign.file[n] = row;
			foreign.file_share[n++] = share;
		}
	}
	if (foreign.file_share[1] < LEAST_FOREIGN)
		foreign.file[1] = NULL;
	*ret = foreign;
	return n && foreign.share >= LEAST_FOREIGN;
}

static void part_note(struct report *r)
{
	const struct report_causes *causes = r->causes;

	report_note_count(r, "too many files", causes->other_files.requests, "request is", "requests are",
			  "in the sum of no file");
	report_note_count(r, "too many pieces of requests", causes->pieces.left_out, "is", "are",
			  "in the sum of no file");
	report_note_count(r, "too many processes", causes->other_processes.requests, "request is", "requests are",
			  "in the sum of no process");
	report_note_count(r, "too much is dirty at the same time", causes->writebacks.writers.left_out,
			  "written byte has", "written bytes have", "no writer at write-back");
	report_note_count(r, "write-back", causes->writebacks.out_of_order, "write", "writes",
			  "ended so late that the bytes may count for other writers");
}

const struct report_part report_causes_part = {
	.new = part_new,
	.begin = part_begin,
	.end = part_end,
	.note = part_note,
	.free = part_free,
};
