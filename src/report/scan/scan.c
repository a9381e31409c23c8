/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of a file and their numbers, and what is missing or odd about it. Knows files and headers; what a row means is
 * in report/rows.c.
 */
#include "report/scan/scan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/util.h"

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

void report_copy(char *dst, size_t size, struct reader_field f)
{
	size_t n = MIN(f.len, size - 1);

	memcpy(dst, f.p, n);
	dst[n] = '\0';
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

/* Rows are missing between the row before and those that were taken when a segment between them is. */
static void find_gap(const struct reader *rd, const struct scan *s, struct scan_place *was)
{
	const struct scan_place now = {
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

int report_scan_rows(struct reader *rd, struct scan *s)
{
	int n = reader_next_rows(rd, s->ahead, SCAN_AHEAD);

	if (n > 0)
		report_scan_numbers(s, (unsigned int)n);
	return n;
}

void report_scan_place(const struct reader *rd, const struct scan *s, struct scan_place *place)
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

void report_scan_note(const struct scan *s, const struct reader *rd)
{
	note_segments(s->report, rd, report_kind_names[s->kind]);
	note_oddities(s->report, rd, s);
}
