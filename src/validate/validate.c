/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The order of a validation: the manifest; the FIDs, PIDs, SITEs and clocks that rows refer to; then each file once, row by
 * row. Memory is bounded: a row, and a bit for each of these numbers. One thread.
 */
#include "validate/validate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/log.h"
#include "base/text.h"
#include "base/util.h"
#include "report/scan/manifest_counts.h"
#include "trace/manifest_read.h"
#include "trace/probe.h"
#include "trace/reader.h"
#include "validate/form.h"
#include "validate/ids.h"
#include "validate/problems.h"
#include "validate/words.h"

/* What rows refer to: the numbers that FILE has in its column ID. */
enum source { FILES, PIDS, SITES, SOURCES };
static const struct {
	const char *file, *id;
	enum problem problem;
	unsigned int of; /* only rows of probes with one of these flags refer to it; 0: of all */
} sources[SOURCES] = {
	[FILES] = { "files", "FID", PROBLEM_FID, 0 },
	[PIDS] = { "pids", "PID", PROBLEM_PID, PROBE_OF_TARGET },
	[SITES] = { "sites", "SITE", PROBLEM_SITE, 0 },
};

/* And the columns by which they do. */
static const struct {
	const char *column;
	enum source to;
} references[] = { { "FID", FILES }, { "OLD_SITE", SITES }, { "PID", PIDS }, { "SITE", SITES } };
#define REFERENCES ARRAY_SIZE(references)

struct validate {
	int dirfd;
	struct manifest_facts m;
	struct problems problems;
	struct ids ids[SOURCES];
	/* the least and the most that time_align.out has of UTC minus CLOCK_MONOTONIC: each TIME must be within these */
	int64_t offset_min, offset_max;
	bool clock_known;
	bool words_known; /* the trace is not of a later version, which may have further words */
	uint64_t rows;
	unsigned int files;
	char scratch[FORM_SCRATCH(READER_BUFFER_BYTES)];
};

/* A file that is being read. */
struct file {
	const char *name;
	const struct probe *probe; /* NULL: a collector's */
	struct reader r;
	uint8_t kind[READER_COLUMNS_MAX]; /* 1 + enum field_kind of each column; 0: text that no table describes */
	const struct field *field[READER_COLUMNS_MAX]; /* of a column of words; else NULL */
	unsigned int time, timestamp, refers[REFERENCES]; /* columns; 0: none */
	bool whole; /* the file of a whole trace, of which the folder is a part */
	uint64_t last_ns, earlier, late; /* latest TIMESTAMP; rows before that; how many the manifest has */
	size_t segment; /* of the last row */
	uint64_t before, line; /* rows before that segment, damaged ones too; the line to name in a problem */
	struct text_utc_cache utc;
};

static void read_clock(struct validate *v)
{
	const struct manifest_counts c = manifest_counts_of(&v->m, "time_align");
	struct reader_row row;
	struct reader r;
	uint64_t ns, utc;

	if (reader_open(&r, v->dirfd, "time_align.out") < 0)
		return;
	const unsigned int at = reader_column(&r, "TIMESTAMP"), utc_at = reader_column(&r, "REALTIME_NS");

	while (at && utc_at && !c.dropped && !c.lost && reader_next(&r, &row) > 0) {
		if (!reader_u64(reader_field(&row, at), &ns) || !reader_u64(reader_field(&row, utc_at), &utc))
			continue;
		const int64_t offset = (int64_t)(utc - ns);

		v->offset_min = v->clock_known ? MIN(v->offset_min, offset) : offset;
		v->offset_max = v->clock_known ? MAX(v->offset_max, offset) : offset;
		v->clock_known = true;
	}
	reader_close(&r);
}

/* --- one row ------------------------------------------------------------------------------------------------- */

static void add(struct validate *v, struct file *f, enum problem kind)
{
	const size_t at = MIN(f->r.at, f->r.n_segments ? f->r.n_segments - 1 : 0);
	char name[NAME_MAX + 1];

	if (v->problems.of[kind].n) {
		v->problems.of[kind].n++;
		return;
	}
	if (f->r.n_segments)
		segment_format(name, f->name, f->r.segments[at].file.nr, f->r.segments[at].file.pack);
	else
		snprintf(name, sizeof(name), "%s.out", f->name);
	problems_add(&v->problems, kind, name, f->line, 1);
}

static bool is_by_clock(const struct validate *v, struct file *f, uint64_t ns, struct reader_field time)
{
	uint64_t utc;

	if (!text_get_utc(time.p, time.len, &utc, &f->utc))
		return false;
	return (int64_t)(utc - ns) >= v->offset_min && (int64_t)(utc - ns) <= v->offset_max;
}

static void check_times(struct validate *v, struct file *f, const struct reader_row *row)
{
	uint64_t ns;

	if (!reader_u64(reader_field(row, f->timestamp), &ns))
		return; /* check_row() has counted a problem of the number */
	if (ns < f->last_ns && ++f->earlier > f->late)
		add(v, f, PROBLEM_ORDER);
	f->last_ns = MAX(ns, f->last_ns);
	if (!f->whole && ((v->m.start_ns && ns < v->m.start_ns) || (v->m.end_ns && ns > v->m.end_ns)))
		add(v, f, PROBLEM_SPAN);
	if (v->clock_known && f->time && !is_by_clock(v, f, ns, reader_field(row, f->time)))
		add(v, f, PROBLEM_CLOCK);
}

static void check_row(struct validate *v, struct file *f, const struct reader_row *row)
{
	uint64_t id;

	for (unsigned int i = 1; i <= f->r.n_columns; i++) {
		const struct reader_field field = reader_field(row, i);
		const uint8_t kind = f->kind[i - 1];

		if (kind && !form_has_text(kind - 1)) {
			if (!form_is(kind - 1, field))
				add(v, f, PROBLEM_NUMBER);
		} else if (!form_is_text(field, v->scratch)) {
			add(v, f, PROBLEM_TEXT);
		} else if (f->field[i - 1] && !words_have(f->probe, f->field[i - 1], field)) {
			add(v, f, PROBLEM_WORD);
		}
	}
	check_times(v, f, row);
	for (size_t i = 0; i < REFERENCES; i++)
		if (f->refers[i] && reader_u64(reader_field(row, f->refers[i]), &id) && !ids_have(&v->ids[references[i].to], id))
			add(v, f, sources[references[i].to].problem);
}

/* --- one file ------------------------------------------------------------------------------------------------ */

static void check_header(struct validate *v, struct file *f)
{
	unsigned int known = 0, last = 0;
	bool in_order = true;

	f->line = 1;
	if (strcmp(f->r.name, f->name) || f->r.schema > READER_SCHEMA)
		add(v, f, PROBLEM_HEADER);
	for (unsigned int i = 0; f->probe && i < f->probe->n_fields; i++) {
		const unsigned int at = reader_column(&f->r, f->probe->fields[i].name);

		if (!at)
			continue; /* an older version did not write this column */
		f->kind[at - 1] = (uint8_t)(1 + f->probe->fields[i].kind);
		f->field[at - 1] = v->words_known && words_are(&f->probe->fields[i]) ? &f->probe->fields[i] : NULL;
		in_order &= at > last;
		last = at;
		known++;
	}
	f->line = 2;
	f->timestamp = reader_column(&f->r, "TIMESTAMP");
	f->time = reader_column(&f->r, "TIME");
	/* not of a collector: it has the tool's columns, and none if the tool printed no sample */
	if (f->probe && (!f->timestamp || !in_order || known != f->r.n_columns))
		add(v, f, PROBLEM_COLUMNS);
	for (size_t i = 0; f->probe && i < REFERENCES; i++) {
		const enum source to = references[i].to;

		if (strcmp(f->name, sources[to].file) && (!sources[to].of || f->probe->flags & sources[to].of))
			f->refers[i] = reader_column(&f->r, references[i].column);
	}
}

/* Returns the bytes of the plain text of F, which has been read to its end. */
static uint64_t plain_bytes(const struct reader *r)
{
	return r->n_segments ? r->segments[r->n_segments - 1].end : 0;
}

/* Whether segments of F are missing before the first or behind the last one. */
static bool lacks_ends(const struct validate *v, const struct file *f, const struct manifest_counts *c)
{
	const struct reader *r = &f->r;

	if (!r->n_segments)
		return false;
	return (v->m.complete && r->segments[r->n_segments - 1].file.nr != SEGMENT_LAST) ||
	       (!c->dropped && r->segments[0].file.nr != SEGMENT_LAST && r->segments[0].file.nr > 1);
}

/* Whether the manifest's counts of P, whose rows are calls, add up. What was lost includes calls whose beginning nobody saw. */
static bool adds_up(const struct manifest_probe *p, const struct probe *probe)
{
	const uint64_t all = p->rows + p->summed + p->filtered + p->lost;

	if (!p->calls || !(probe->flags & PROBE_OF_CALLS))
		return true;
	return all == p->calls || (all > p->calls && (p->lost || probe->flags & PROBE_MORE_ROWS));
}

static void check_counts(struct validate *v, struct file *f, int error)
{
	const struct manifest_counts c = manifest_counts_of(&v->m, f->name);
	const struct manifest_probe *p = manifest_probe(&v->m, f->name);
	const bool readable = error >= 0 && !f->r.bad && !f->r.damaged && !f->r.missing;
	uint64_t reasons = 0;
	char name[NAME_MAX + 1], foreign[NAME_MAX + 1];

	if (segment_find_foreign(v->dirfd, f->name, foreign))
		problems_add(&v->problems, PROBLEM_FOREIGN, foreign, 0, 1);
	snprintf(name, sizeof(name), "%s.out", f->name);
	problems_add(&v->problems, PROBLEM_READ, name, 0, error < 0 && error != -ENOENT);
	problems_add(&v->problems, PROBLEM_SEGMENTS, name, 0, f->r.missing + f->r.bad + f->r.damaged + lacks_ends(v, f, &c));
	problems_add(&v->problems, PROBLEM_CUT, name, f->r.cut ? 3 + f->r.rows + f->r.bad_rows - f->before : 0, f->r.cut);
	if (v->m.complete) {
		problems_add(&v->problems, PROBLEM_ROWS, name, 0, f->r.rows != c.rows - MIN(c.rows, c.dropped));
		problems_add(&v->problems, PROBLEM_BYTES, name, 0,
			     readable && f->r.n_segments && c.bytes && plain_bytes(&f->r) != c.bytes - MIN(c.bytes, c.dropped_bytes));
	}
	for (unsigned int i = 0; p && i < LOSSES; i++)
		reasons += p->lost_by[i];
	problems_add(&v->problems, PROBLEM_LOST, name, 0, p && reasons != p->lost);
	if (p && f->probe && v->m.complete)
		problems_add(&v->problems, PROBLEM_CALLS, "manifest.json", 0, !adds_up(p, f->probe));
}

/* Counts the damaged rows that the reader has left out, but the first BAD of them. ROWS whole rows came before these. */
static void add_bad_rows(struct validate *v, struct file *f, uint64_t rows, uint64_t bad)
{
	while (bad < f->r.bad_rows) {
		f->line = 2 + rows + ++bad - f->before;
		add(v, f, PROBLEM_FIELDS);
	}
}

static void read_rows(struct validate *v, struct file *f, int *error)
{
	uint64_t bad = f->r.bad_rows;
	struct reader_row row;

	while ((*error = reader_next(&f->r, &row)) > 0) {
		if (f->r.at != f->segment) {
			f->segment = f->r.at;
			f->before = f->r.rows - 1 + bad;
		}
		add_bad_rows(v, f, f->r.rows - 1, bad);
		bad = f->r.bad_rows;
		f->line = 2 + f->r.rows + bad - f->before;
		/* more fields than columns: the reader accepts such a row, which a later version may write */
		if (row.text[row.stop[f->r.n_columns]] == '\t')
			add(v, f, PROBLEM_FIELDS);
		check_row(v, f, &row);
	}
	add_bad_rows(v, f, f->r.rows, bad);
}

static void check_file(struct validate *v, const char *name)
{
	const unsigned int nr = probe_find(name);
	struct file f = { .name = name, .probe = nr ? probes[nr] : NULL };
	const struct manifest_probe *p = manifest_probe(&v->m, name);
	autofree char *file = util_fmt("%s.out", name);
	int error = file ? reader_open(&f.r, v->dirfd, file) : -ENOMEM;

	f.segment = f.r.at;
	f.late = p ? p->late : 0;
	f.whole = v->m.cut_begin_ns && f.probe && f.probe->flags & PROBE_WHOLE;
	if (error == 0) {
		check_header(v, &f);
		read_rows(v, &f, &error);
		v->files++;
	}
	check_counts(v, &f, error);
	v->rows += f.r.rows;
	reader_close(&f.r);
}

/* --- all of it ----------------------------------------------------------------------------------------------- */

static int read_manifest(struct validate *v, const char *dir)
{
	const int res = manifest_read_at(&v->m, v->dirfd);

	if (res == -ENOENT)
		return log_err_r(-ENODATA, "%s: is not a trace folder: it has no manifest.json", dir);
	problems_add(&v->problems, PROBLEM_MANIFEST, "manifest.json", 0, res < 0 || strcmp(v->m.tool, "dltraced"));
	v->words_known = strverscmp(v->m.version, DLT_VERSION) <= 0;
	problems_add(&v->problems, PROBLEM_INCOMPLETE, "manifest.json", 0, res == 0 && !v->m.complete);
	return 0;
}

/*
 * Whether processes were running before the trace. Such a process may end before the snapshot lists it: then its calls have
 * rows, but pids.out has none of it.
 */
static bool has_snapshot(const struct validate *v)
{
	struct reader_row row;
	struct reader r;
	bool found = false;

	if (reader_open(&r, v->dirfd, "pids.out") < 0)
		return false;
	const unsigned int event = reader_column(&r, "EVENT");

	while (event && !found && reader_next(&r, &row) > 0)
		found = reader_is(reader_field(&row, event), "snapshot");
	reader_close(&r);
	return found;
}

/*
 * Reads the numbers that rows refer to. They are checked only where the file that defines them is complete: where it has
 * lost and dropped no row, and, for PIDs, no process was running before the trace.
 */
static int read_references(struct validate *v)
{
	int res = 0;

	for (enum source i = 0; i < SOURCES && res == 0; i++) {
		const struct manifest_counts c = manifest_counts_of(&v->m, sources[i].file);
		char file[NAME_MAX + 1];

		snprintf(file, sizeof(file), "%s.out", sources[i].file);
		res = ids_read(&v->ids[i], v->dirfd, file, sources[i].id);
		v->ids[i].known &= !c.lost && !c.dropped && (i != PIDS || !has_snapshot(v));
	}
	return res;
}

/* Whether a collector's name is safe: a forged manifest must not name a file elsewhere, or control a terminal. */
static bool is_name(const char *collector)
{
	return collector[strspn(collector, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

static void check_files(struct validate *v)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		check_file(v, probes[i]->name);
	for (unsigned int i = 0; i < v->m.n_collectors; i++)
		if (is_name(v->m.collectors[i].name))
			check_file(v, v->m.collectors[i].name);
}

int validate_run(const char *dir, FILE *out)
{
	struct validate *v = calloc(1, sizeof(*v));
	int res = v ? 0 : -ENOMEM;

	if (!v)
		return res;
	v->dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (v->dirfd < 0)
		res = log_err_r(-errno, "%s: cannot be read: name a trace folder", dir);
	if (res == 0)
		res = read_manifest(v, dir);
	if (res == 0)
		res = read_references(v);
	if (res == 0) {
		read_clock(v);
		check_files(v);
		res = problems_print(&v->problems, dir, out) ? 1 : 0;
		if (!res) {
			fmt_plain(out, dir, 0);
			fprintf(out, ": valid: %s, %s\n", FMT_N(v->files, "file", "files"), FMT_N(v->rows, "row", "rows"));
		}
	}
	util_close(&v->dirfd);
	for (enum source i = 0; i < SOURCES; i++)
		ids_free(&v->ids[i]);
	free(v);
	return res;
}
