/* SPDX-License-Identifier: BSD-2-Clause */
/* Walks one file of a trace folder for the report on CPU time, and says what is odd about it. */
#include "report/cpu/scan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/util.h"

void report_cpu_note(struct report_cpu *r, const char *fmt, ...)
{
	char *note;
	va_list ap;
	int len;

	if (r->n_notes == CPU_NOTES_MAX)
		return;
	va_start(ap, fmt);
	len = vasprintf(&note, fmt, ap);
	va_end(ap);
	if (len < 0)
		return;
	for (uint32_t i = 0; i < r->n_notes; i++)
		if (strcmp(r->notes[i], note) == 0) { /* some files are read twice */
			free(note);
			return;
		}
	r->notes[r->n_notes++] = note;
}

static void note_oddities(const struct cpu_scan *s, const char *name)
{
	const struct reader *rd = &s->reader;
	struct report_cpu *r = s->r;

	if (strcmp(rd->name, name) != 0)
		report_cpu_note(r, "%s.out: its header names another file", name);
	if (rd->schema > READER_SCHEMA)
		report_cpu_note(r, "%s.out: schema %u, newer than this dltraced knows; columns were taken by name",
				name, rd->schema);
	if (rd->bad_rows + s->bad_rows)
		report_cpu_note(r, "%s.out: %" PRIu64 " rows could not be read and were left out", name,
				rd->bad_rows + s->bad_rows);
	if (rd->cut)
		report_cpu_note(r, "%s.out: the last row is cut off and was left out", name);
	if (rd->missing + rd->gone)
		report_cpu_note(r, "%s: %zu segments are not there", name, rd->missing + rd->gone);
	if (rd->bad && rd->error == -ENOTSUP)
		report_cpu_note(r, "%s: %zu segments are packed as this dltraced was built without; unpack them first "
				"(zstd -d --rm, gzip -d)", name, rd->bad);
	else if (rd->bad + rd->damaged)
		report_cpu_note(r, "%s: %zu segments could not be read to their end", name, rd->bad + rd->damaged);
}

static int note_unread(struct report_cpu *r, const char *name, int error)
{
	if (error == -ENOTSUP)
		report_cpu_note(r, "%s.out is packed as this dltraced was built without; unpack it first "
				"(zstd -d --rm, gzip -d)", name);
	else if (error != -ENOENT && error != -ENODATA && error != -EBADMSG)
		report_cpu_note(r, "%s.out could not be read: %s", name, strerror(-error));
	return error;
}

int report_cpu_note_file(const struct cpu_scan *s, const char *name, int error)
{
	if (s->reader.n_columns) /* it was opened */
		note_oddities(s, name);
	return error < 0 ? note_unread(s->r, name, error) : 0;
}

int report_cpu_scan(struct report_cpu *r, int dirfd, const char *name, const char *const *columns,
		    bool (*take)(struct cpu_scan *s), void *own)
{
	autofree struct cpu_scan *s = calloc(1, sizeof(*s));
	autofree char *file = util_fmt("%s.out", name);
	struct reader_row row;
	unsigned int stamp;
	int got;

	if (!s || !file)
		return -ENOMEM;
	s->r = r;
	s->own = own;
	s->row = &row;
	got = reader_open(&s->reader, dirfd, file);
	if (got < 0)
		return note_unread(r, name, got);
	stamp = reader_column(&s->reader, "TIMESTAMP");
	for (unsigned int i = 0; columns[i]; i++)
		s->at[i] = reader_column(&s->reader, columns[i]);
	while ((got = reader_next(&s->reader, &row)) > 0)
		if (!reader_row_u64(reader_field(&row, stamp), &s->time_ns) || !take(s))
			s->bad_rows++;
	report_cpu_note_file(s, name, got);
	reader_close(&s->reader);
	return got;
}
