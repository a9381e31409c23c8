/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The order of a validation: the manifest; the FIDs, PIDs, SITEs and clocks that rows refer to; then each file once,
 * row by row. Memory is bounded: a row, and a bit for each of these numbers. One thread.
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
#include "base/version.h"
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
	/* the least and the most that time_align.out has of UTC minus CLOCK_MONOTONIC: each TIME must be within these
	 */
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
	unsigned int count; /* column of vfs_rw_sums.out, which has all calls that vfs_rw.out has no row of; else 0 */
	uint64_t counted; /* its sum */
	uint64_t last_ns, earlier, late; /* latest TIMESTAMP; rows before that; how many the manifest has */
	size_t segment; /* of the last row */
	uint64_t before, line; /* rows before that segment, damaged ones too; the line to name in a problem */
	struct text_utc_cache utc;
};

static void read_clock(struct validate *validate)
{
	const struct manifest_counts c = manifest_counts_of(&validate->m, "time_align");
	struct reader_row row;
	struct reader r;
	uint64_t ns, utc;

	if (reader_open(&r, validate->dirfd, "time_align.out") < 0)
		return;
	const unsigned int at = reader_column(&r, "TIMESTAMP"), utc_at = reader_column(&r, "REALTIME_NS");

	while (at && utc_at && !c.dropped && !c.lost && reader_next(&r, &row) > 0) {
		if (!reader_u64(reader_field(&row, at), &ns) || !reader_u64(reader_field(&row, utc_at), &utc))
			continue;
		const int64_t offset = (int64_t)(utc - ns);

		validate->offset_min = validate->clock_known ? MIN(validate->offset_min, offset) : offset;
		validate->offset_max = validate->clock_known ? MAX(validate->offset_max, offset) : offset;
		validate->clock_known = true;
	}
	reader_close(&r);
}

/* --- one row ------------------------------------------------------------------------------------------------- */

static void add(struct validate *validate, struct file *file, enum problem kind)
{
	const size_t at = MIN(file->r.at, file->r.n_segments ? file->r.n_segments - 1 : 0);
	char name[NAME_MAX + 1];

	if (validate->problems.of[kind].n) {
		validate->problems.of[kind].n++;
		return;
	}
	if (file->r.n_segments)
		segment_format(name, file->name, file->r.segments[at].file.nr, file->r.segments[at].file.pack);
	else
		snprintf(name, sizeof(name), "%s.out", file->name);
	problems_add(&validate->problems, kind, name, file->line, 1);
}

static bool is_by_clock(const struct validate *v, struct file *f, uint64_t ns, struct reader_field time)
{
	uint64_t utc;

	if (!text_get_utc(time.p, time.len, &utc, &f->utc))
		return false;
	return (int64_t)(utc - ns) >= v->offset_min && (int64_t)(utc - ns) <= v->offset_max;
}

static void check_times(struct validate *validate, struct file *file, const struct reader_row *row)
{
	uint64_t ns;

	if (!reader_u64(reader_field(row, file->timestamp), &ns))
		return; /* check_row() has counted a problem of the number */
	if (ns < file->last_ns && ++file->earlier > file->late)
		add(validate, file, PROBLEM_ORDER);
	file->last_ns = MAX(ns, file->last_ns);
	if (!file->whole &&
	    ((validate->m.start_ns && ns < validate->m.start_ns) || (validate->m.end_ns && ns > validate->m.end_ns)))
		add(validate, file, PROBLEM_SPAN);
	if (validate->clock_known && file->time && !is_by_clock(validate, file, ns, reader_field(row, file->time)))
		add(validate, file, PROBLEM_CLOCK);
}

static void check_row(struct validate *validate, struct file *file, const struct reader_row *row)
{
	uint64_t id, n;

	for (unsigned int i = 1; i <= file->r.n_columns; i++) {
		const struct reader_field field = reader_field(row, i);
		const uint8_t kind = file->kind[i - 1];

		if (kind && !form_has_text(kind - 1)) {
			if (!form_is(kind - 1, field))
				add(validate, file, PROBLEM_NUMBER);
		} else if (!form_is_text(field, validate->scratch)) {
			add(validate, file, PROBLEM_TEXT);
		} else if (file->field[i - 1] && !words_have(file->probe, file->field[i - 1], field)) {
			add(validate, file, PROBLEM_WORD);
		}
	}
	file->counted += reader_u64(reader_field(row, file->count), &n) ? n : 0;
	check_times(validate, file, row);
	for (size_t i = 0; i < REFERENCES; i++)
		if (file->refers[i] && reader_u64(reader_field(row, file->refers[i]), &id) &&
		    !ids_have(&validate->ids[references[i].to], id))
			add(validate, file, sources[references[i].to].problem);
}

/* --- one file ------------------------------------------------------------------------------------------------ */

static void check_header(struct validate *validate, struct file *file)
{
	unsigned int known = 0, last = 0;
	bool in_order = true;

	file->line = 1;
	if (strcmp(file->r.name, file->name))
		add(validate, file, PROBLEM_HEADER);
	for (unsigned int i = 0; file->probe && i < file->probe->n_fields; i++) {
		const unsigned int at = reader_column(&file->r, file->probe->fields[i].name);

		if (!at)
			continue; /* an older version did not write this column */
		file->kind[at - 1] = (uint8_t)(1 + file->probe->fields[i].kind);
		file->field[at - 1] =
			validate->words_known && words_are(&file->probe->fields[i]) ? &file->probe->fields[i] : NULL;
		in_order &= at > last;
		last = at;
		known++;
	}
	file->line = 2;
	file->timestamp = reader_column(&file->r, "TIMESTAMP");
	file->time = reader_column(&file->r, "TIME");
	file->count = file->probe == &vfs_rw_sums_probe ? reader_column(&file->r, "COUNT") : 0;
	/* not of a collector: it has the tool's columns, and none if the tool printed no sample */
	if (file->probe && (!file->timestamp || !in_order || known != file->r.n_columns))
		add(validate, file, PROBLEM_COLUMNS);
	for (size_t i = 0; file->probe && i < REFERENCES; i++) {
		const enum source to = references[i].to;

		if (strcmp(file->name, sources[to].file) && (!sources[to].of || file->probe->flags & sources[to].of))
			file->refers[i] = reader_column(&file->r, references[i].column);
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

/* Whether the manifest's counts of P, whose rows are calls, add up. What was lost includes calls whose beginning nobody
 * saw. */
static bool adds_up(const struct manifest_probe *p, const struct probe *probe)
{
	const uint64_t all = p->rows + p->summed + p->filtered + p->lost;

	if (!p->calls || !(probe->flags & PROBE_OF_CALLS))
		return true;
	return all == p->calls || (all > p->calls && (p->lost || probe->flags & PROBE_MORE_ROWS));
}

/* Whether F's sums have each call that vfs_rw counts as one without a row. A part of a trace has a part of them. */
static bool has_all_brief(const struct validate *v, const struct file *f, const struct manifest_counts *c)
{
	const struct manifest_probe *of = manifest_probe(&v->m, vfs_rw_probe.name);

	return !f->count || !of || c->lost || c->dropped || v->m.cut_begin_ns || f->counted == of->brief;
}

static void check_counts(struct validate *validate, struct file *file, int error)
{
	const struct manifest_counts c = manifest_counts_of(&validate->m, file->name);
	const struct manifest_probe *probe = manifest_probe(&validate->m, file->name);
	const bool readable = error >= 0 && !file->r.bad && !file->r.damaged && !file->r.missing;
	uint64_t reasons = 0;
	char name[NAME_MAX + 1], foreign[NAME_MAX + 1];

	if (segment_find_foreign(validate->dirfd, file->name, foreign))
		problems_add(&validate->problems, PROBLEM_FOREIGN, foreign, 0, 1);
	snprintf(name, sizeof(name), "%s.out", file->name);
	problems_add(&validate->problems, PROBLEM_READ, name, 0, error < 0 && error != -ENOENT);
	problems_add(&validate->problems, PROBLEM_SEGMENTS, name, 0,
		     file->r.missing + file->r.bad + file->r.damaged + lacks_ends(validate, file, &c));
	problems_add(&validate->problems, PROBLEM_CUT, name,
		     file->r.cut ? 3 + file->r.rows + file->r.bad_rows - file->before : 0, file->r.cut);
	if (validate->m.complete) {
		problems_add(&validate->problems, PROBLEM_ROWS, name, 0,
			     file->r.rows != c.rows - MIN(c.rows, c.dropped));
		problems_add(&validate->problems, PROBLEM_CALLS, name, 0,
			     readable && !has_all_brief(validate, file, &c));
		problems_add(&validate->problems, PROBLEM_BYTES, name, 0,
			     readable && file->r.n_segments && c.bytes &&
				     plain_bytes(&file->r) != c.bytes - MIN(c.bytes, c.dropped_bytes));
	}
	for (unsigned int i = 0; probe && i < LOSSES; i++)
		reasons += probe->lost_by[i];
	problems_add(&validate->problems, PROBLEM_LOST, name, 0, probe && reasons != probe->lost);
	if (probe && file->probe && validate->m.complete)
		problems_add(&validate->problems, PROBLEM_CALLS, "manifest.json", 0, !adds_up(probe, file->probe));
}

/* Counts the damaged rows that the reader has left out, but the first BAD of them. ROWS whole rows came before these.
 */
static void add_bad_rows(struct validate *v, struct file *f, uint64_t rows, uint64_t bad)
{
	while (bad < f->r.bad_rows) {
		f->line = 2 + rows + ++bad - f->before;
		add(v, f, PROBLEM_FIELDS);
	}
}

static void read_rows(struct validate *validate, struct file *file, int *error)
{
	uint64_t bad = file->r.bad_rows;
	struct reader_row row;

	while ((*error = reader_next(&file->r, &row)) > 0) {
		if (file->r.at != file->segment) {
			file->segment = file->r.at;
			file->before = file->r.rows - 1 + bad;
		}
		add_bad_rows(validate, file, file->r.rows - 1, bad);
		bad = file->r.bad_rows;
		file->line = 2 + file->r.rows + bad - file->before;
		/* more fields than columns: the reader accepts such a row, which a later version may write */
		if (row.text[row.stop[file->r.n_columns]] == '\t')
			add(validate, file, PROBLEM_FIELDS);
		check_row(validate, file, &row);
	}
	add_bad_rows(validate, file, file->r.rows, bad);
}

static void check_file(struct validate *validate, const char *name)
{
	const unsigned int nr = probe_find(name);
	struct file f = { .name = name, .probe = nr ? probes[nr] : NULL };
	const struct manifest_probe *probe = manifest_probe(&validate->m, name);
	autofree char *file = util_fmt("%s.out", name);
	int error = file ? reader_open(&f.r, validate->dirfd, file) : -ENOMEM;

	f.segment = f.r.at;
	f.late = probe ? probe->late : 0;
	f.whole = validate->m.cut_begin_ns && f.probe && f.probe->flags & PROBE_WHOLE;
	if (error == 0) {
		check_header(validate, &f);
		read_rows(validate, &f, &error);
		validate->files++;
	}
	check_counts(validate, &f, error);
	validate->rows += f.r.rows;
	reader_close(&f.r);
}

/* --- all of it ----------------------------------------------------------------------------------------------- */

static int read_manifest(struct validate *v, const char *dir)
{
	const int res = manifest_read_at(&v->m, v->dirfd);

	if (res == -ENOENT)
		return log_err_r(-ENODATA, "%s: is not a trace folder: it has no manifest.json", dir);
	problems_add(&v->problems, PROBLEM_MANIFEST, "manifest.json", 0, res < 0 || strcmp(v->m.tool, "dltraced"));
	v->words_known = strverscmp(v->m.version, version_text) <= 0;
	problems_add(&v->problems, PROBLEM_INCOMPLETE, "manifest.json", 0, res == 0 && !v->m.complete);
	return 0;
}

/*
 * Whether processes were running before the trace. Such a process may end before the snapshot lists it: then its calls
 * have rows, but pids.out has none of it.
 */
static bool has_snapshot(const struct validate *validate)
{
	struct reader_row row;
	struct reader r;
	bool found = false;

	if (reader_open(&r, validate->dirfd, "pids.out") < 0)
		return false;
	const unsigned int event = reader_column(&r, "EVENT");

	while (event && !found && reader_next(&r, &row) > 0)
		found = reader_is(reader_field(&row, event), "snapshot");
	reader_close(&r);
	return found;
}

/*
 * Reads the numbers that rows refer to. They are checked only where the file that defines them is complete: where it
 * has lost and dropped no row, and, for PIDs, no process was running before the trace.
 */
static int read_references(struct validate *validate)
{
	int res = 0;

	for (enum source i = 0; i < SOURCES && res == 0; i++) {
		const struct manifest_counts c = manifest_counts_of(&validate->m, sources[i].file);
		char file[NAME_MAX + 1];

		snprintf(file, sizeof(file), "%s.out", sources[i].file);
		res = ids_read(&validate->ids[i], validate->dirfd, file, sources[i].id);
		validate->ids[i].known &= !c.lost && !c.dropped && (i != PIDS || !has_snapshot(validate));
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
	struct validate *validate = calloc(1, sizeof(*validate));
	int res = validate ? 0 : -ENOMEM;

	if (!validate)
		return res;
	validate->dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (validate->dirfd < 0)
		res = log_err_r(-errno, "%s: cannot be read: name a trace folder", dir);
	if (res == 0)
		res = read_manifest(validate, dir);
	if (res == 0)
		res = read_references(validate);
	if (res == 0) {
		read_clock(validate);
		check_files(validate);
		res = problems_print(&validate->problems, dir, out) ? 1 : 0;
		if (!res) {
			fmt_plain(out, dir, 0);
			fprintf(out, ": valid: %s, %s\n", FMT_N(validate->files, "file", "files"),
				FMT_N(validate->rows, "row", "rows"));
		}
	}
	util_close(&validate->dirfd);
	for (enum source i = 0; i < SOURCES; i++)
		ids_free(&validate->ids[i]);
	free(validate);
	return res;
}
