/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walks the files of a trace folder, once each, and says what is missing or odd about them. Knows
 * files and headers; what a row means is in report/rows.c.
 */
#include "report/scan/scan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/util.h"
#include "report/cpu/cpu.h"
#include "report/scan/uses.h"
#include "report/why/files.h"
#include "report/why/why.h"

const char *const report_kind_names[REPORT_KINDS] = {
	[REPORT_FILES] = "files",	    [REPORT_PIDS] = "pids",
	[REPORT_TIME_ALIGN] = "time_align", [REPORT_ROLLUP] = "rollup",
	[REPORT_BIO] = "bio",
	[REPORT_CLOSE] = "close",	    [REPORT_CREATE_DEL] = "create_del",
	[REPORT_MMAP] = "mmap",		    [REPORT_OPEN] = "open",
	[REPORT_SYNC] = "sync",		    [REPORT_VFS_RW] = "vfs_rw",
};

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
	/* of calls and requests: the many */
	[REPORT_BIO] = report_rows_bio,
	[REPORT_CLOSE] = report_rows_call,	     [REPORT_CREATE_DEL] = report_rows_call,
	[REPORT_MMAP] = report_rows_call,	     [REPORT_OPEN] = report_rows_call,
	[REPORT_SYNC] = report_rows_call,	     [REPORT_VFS_RW] = report_rows_vfs_rw,
};

static const char *const column_names[COLUMNS] = {
	[COL_ARGS] = "ARGS", [COL_BOOTTIME_NS] = "BOOTTIME_NS",
	[COL_BYTES] = "BYTES", [COL_COMM] = "COMM", [COL_DISK] = "DISK",
	[COL_DISK_BYTES] = "DISK_BYTES", [COL_ERROR_NS] = "ERROR_NS", [COL_EVENT] = "EVENT",
	[COL_FAILED] = "FAILED", [COL_FD] = "FD", [COL_FID] = "FID", [COL_FILE] = "FILE",
	[COL_FLAGS] = "FLAGS", [COL_FSTYPE] = "FSTYPE", [COL_FUNC] = "FUNC",
	[COL_LAT_NS] = "LAT_NS", [COL_LEN] = "LEN", [COL_MAX_LAT_NS] = "MAX_LAT_NS",
	[COL_OFFSET] = "OFFSET", [COL_PATH] = "PATH", [COL_PID] = "PID", [COL_PPID] = "PPID",
	[COL_PROBE] = "PROBE", [COL_QLAT_NS] = "QLAT_NS", [COL_RANK] = "RANK",
	[COL_REALPATH] = "REALPATH", [COL_REALTIME_NS] = "REALTIME_NS", [COL_REQUESTED] = "REQUESTED", [COL_RET] = "RET",
	[COL_RETURNED] = "RETURNED", [COL_ROWS] = "ROWS", [COL_RW] = "RW",
	[COL_SEGMENT] = "SEGMENT", [COL_SIZE] = "SIZE", [COL_STATUS] = "STATUS", [COL_T] = "T",
	[COL_TID] = "TID", [COL_TIME] = "TIME", [COL_TIMESTAMP] = "TIMESTAMP",
	[COL_TYPE] = "TYPE",
};

void report_note(struct report *r, const char *fmt, ...)
{
	char *note;
	va_list ap;
	int len;

	if (r->n_notes == REPORT_NOTES_MAX)
		return;
	va_start(ap, fmt);
	len = vasprintf(&note, fmt, ap);
	va_end(ap);
	if (len >= 0)
		r->notes[r->n_notes++] = note;
}

void report_scan_columns(struct scan *s, const struct reader *reader)
{
	for (unsigned int c = 0; c < COLUMNS; c++)
		s->at[c] = (uint8_t)reader_column(reader, column_names[c]);
}

/* What the header and the counts of a file say about it. */
static void note_oddities(struct report *r, const struct reader *rd, const struct scan *s)
{
	const char *name = report_kind_names[s->kind];
	const struct manifest_probe *m = manifest_probe(&r->manifest, name);

	if (strcmp(rd->name, name) != 0)
		report_note(r, "%s.out: its header names another file", name);
	if (rd->schema > READER_SCHEMA)
		report_note(r, "%s.out: schema %u, newer than this dltraced knows; columns were "
			    "taken by name", name, rd->schema);
	if (rd->bad_rows + s->bad_rows)
		report_note(r, "%s.out: %" PRIu64 " rows could not be read and were left out", name,
			    rd->bad_rows + s->bad_rows);
	if (rd->cut)
		report_note(r, "%s.out: the last row is cut off and was left out", name);
	if (r->manifest.complete && m && m->rows - m->dropped != rd->rows)
		report_note(r, "%s.out: %" PRIu64 " rows, but the manifest counts %" PRIu64, name,
			    rd->rows, m->rows - m->dropped);
}

static void note_segments(struct report *r, const struct reader *rd, const char *name)
{
	if (rd->missing)
		report_note(r, "%s: %zu segments between others are not there", name, rd->missing);
	if (rd->gone)
		report_note(r, "%s: %zu segments were dropped before they could be read", name, rd->gone);
	if (rd->bad && rd->error == -ENOTSUP)
		report_note(r, "%s: %zu segments are packed as this dltraced was built without; unpack them "
			    "first (zstd -d --rm, gzip -d)", name, rd->bad);
	else if (rd->bad)
		report_note(r, "%s: %zu segments could not be read and were left out", name, rd->bad);
	if (rd->damaged)
		report_note(r, "%s: %zu segments are damaged; what comes behind the damage was left out",
			    name, rd->damaged);
}

/* Where reading stands among the segments: rows that are read at once are of one. */
struct place {
	uint64_t ns;	  /* of the row before */
	uint32_t nr;	  /* of its segment */
	size_t left_out; /* segments that could not be read, or not to their ends */
};

/* Rows are missing between the row before and those that were taken when a segment between them is. */
static void find_gap(struct reader *rd, const struct scan *s, struct place *was)
{
	const struct place now = {
		.ns = s->taken.last_ns, .nr = rd->segments[MIN(rd->at, rd->n_segments - 1)].file.nr,
		.left_out = rd->gone + rd->bad + rd->damaged,
	};

	if (was->ns && (now.left_out != was->left_out || (now.nr != SEGMENT_LAST && now.nr > was->nr + 1)))
		gaps_add(&s->report->gaps, was->ns, s->taken.first_ns, "%s: rows are missing", report_kind_names[s->kind]);
	*was = now;
}

/* --keep drops a file's first segments. */
static void find_dropped(const struct scan *s)
{
	const struct report *r = s->report;
	const char *name = report_kind_names[s->kind];
	const struct manifest_probe *p = manifest_probe(&r->manifest, name);

	if (p && p->dropped && r->manifest.start_ns && s->taken.first_ns > r->manifest.start_ns)
		gaps_add(&s->report->gaps, r->manifest.start_ns, s->taken.first_ns, "%s: rows were dropped by --keep", name);
}

void report_scan_numbers(struct scan *s, unsigned int n)
{
	for (unsigned int c = 0; c < SCAN_NUMBERS; c++) {
		if (!s->at[c])
			continue;
		s->is_number[c] = reader_column_u64(s->ahead, n, s->at[c], s->number[c]);
		for (uint32_t none = ~s->is_number[c] & (uint32_t)((1ULL << n) - 1); none; none &= none - 1)
			s->number[c][__builtin_ctz(none)] = 0;
	}
	s->timed = s->is_number[COL_PID] & s->is_number[COL_TID] & s->is_number[COL_LAT_NS];
	s->plain = s->timed & s->is_number[COL_DISK_BYTES] & s->is_number[COL_FID] & s->is_number[COL_OFFSET] &
		   s->is_number[COL_RETURNED];
}

/* Some of the next rows, at least one: how many; 0 at the end, -errno. */
static int read_ahead(struct reader *rd, struct scan *s)
{
	int n = reader_next_rows(rd, s->ahead, SCAN_AHEAD);

	if (n > 0)
		report_scan_numbers(s, (unsigned int)n);
	return n;
}

/* What is known of a process, as far as most of its rows look at it. */
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
 * Who did what with which file: what is known of these is spread over more memory than a processor has near it. What a
 * process had last is near.
 */
static void look_ahead(const struct scan *s, unsigned int n)
{
	const uint64_t *pid = s->number[COL_PID], *fid = s->number[COL_FID];
	const uint32_t pairs = s->is_number[COL_FID] & s->is_number[COL_PID];
	const struct report *r = s->report;
	uint32_t far = 0;

	for (unsigned int i = 0; i < n; i++) {
		expect_proc(r, pid[i]);
		far |= (uint32_t)(!r->uses || !report_uses_near(r->uses, pid[i], fid[i])) << i;
	}
	far &= pairs;
	for (uint32_t left = far; left; left &= left - 1) {
		const unsigned int i = (unsigned int)__builtin_ctz(left);

		table_expect(&r->files, fid[i]);
		if (r->why)
			why_files_expect(r->why, pid[i], fid[i]);
		if (r->uses)
			report_uses_expect(r->uses, pid[i], fid[i]);
	}
	for (; r->uses && far; far &= far - 1) {
		const unsigned int i = (unsigned int)__builtin_ctz(far);

		report_uses_expect_entry(r->uses, pid[i], fid[i]);
	}
}

/* What any rows tell, and where they are. */
static void take_place(struct reader *rd, const struct scan *s, struct place *place)
{
	const struct scan_taken *taken = &s->taken;
	struct report *r = s->report;

	if (!taken->any)
		return;
	if (s->kind >= REPORT_BIO) {
		if (!place->ns)
			find_dropped(s);
		find_gap(rd, s, place);
	}
	if (r->first_ns == 0 || taken->earliest_ns < r->first_ns) {
		r->first_ns = taken->earliest_ns;
		report_copy(r->first_time, sizeof(r->first_time), reader_field(&s->ahead[taken->earliest], s->at[COL_TIME]));
	}
	r->last_ns = MAX(r->last_ns, taken->latest_ns);
}

/* CPU time has the rows, too. */
static void give_rows(struct cpu_scan *cpu, const struct scan *s, unsigned int n)
{
	const struct cpu_call_rows rows = {
		.text = s->ahead, .n = n, .time_ns = s->number[COL_TIMESTAMP], .pid = s->number[COL_PID],
		.lat_ns = s->number[COL_LAT_NS], .fid = s->number[COL_FID], .disk_bytes = s->number[COL_DISK_BYTES],
		.len = s->number[COL_LEN],
	};

	report_cpu_calls_rows(cpu, &rows);
}

static int scan_rows(struct reader *rd, struct scan *s)
{
	struct report *r = s->report;
	struct cpu_scan *cpu = report_cpu_calls_begin(r->cpu, report_kind_names[s->kind], rd);
	struct place place = { .ns = 0 };
	int n;

	/* without a manifest: time_align.out, which has been read, begins before all else */
	if (r->timeline && s->kind >= REPORT_BIO)
		timeline_begin(r->timeline, r->first_ns);
	if (r->why)
		why_calls_begin(r->why->calls, s->kind);
	while ((n = read_ahead(rd, s)) > 0) {
		if (s->kind > REPORT_BIO)
			look_ahead(s, (unsigned int)n);
		if (cpu)
			give_rows(cpu, s, (unsigned int)n);
		rows_fns[s->kind](s, (unsigned int)n);
		take_place(rd, s, &place);
	}
	if (r->why)
		why_calls_end(r->why->calls, s->kind);
	report_cpu_calls_end(r->cpu, report_kind_names[s->kind], rd, s->timeless, n);
	return n;
}

int report_scan(struct report *r, enum report_kind kind, int dirfd)
{
	autofree char *file = util_fmt("%s.out", report_kind_names[kind]);
	struct scan s = { .report = r, .dirfd = dirfd, .kind = kind, .op = &r->op[kind] };
	struct reader *rd = &r->readers[kind];
	int res;

	if (!file)
		return -ENOMEM;
	res = reader_open(rd, dirfd, file);
	if (res < 0) {
		report_cpu_calls_end(r->cpu, report_kind_names[kind], rd, 0, res);
		return res;
	}
	r->present[kind] = true;
	report_scan_columns(&s, rd);
	res = scan_rows(rd, &s);
	if (kind == REPORT_VFS_RW)
		report_rows_end(r);
	r->trace_bytes += rd->stored_bytes;
	note_segments(r, rd, report_kind_names[kind]);
	note_oddities(r, rd, &s);
	return res;
}
