/* SPDX-License-Identifier: BSD-2-Clause */
/* Notes on files that the report on CPU time has read. */
#include "report/cpu/scan.h"

#include <errno.h>

#include "base/fmt.h"

void report_cpu_note(struct report_cpu *r, const char *fmt, ...)
{
	const struct notes notes = { r->notes, &r->n_notes, CPU_NOTES_MAX };
	va_list ap;

	va_start(ap, fmt);
	notes_vadd(&notes, fmt, ap);
	va_end(ap);
}

static void note_segments(struct report_cpu *cpu, const struct scan_file *file)
{
	const struct reader *rd = &file->reader;

	if (rd->missing + rd->gone)
		report_cpu_note(cpu, "%s: %s missing", file->name,
				FMT_N(rd->missing + rd->gone, "segment is", "segments are"));
	if (rd->bad && rd->error == -ENOTSUP)
		report_cpu_note(cpu,
				"%s: %s compressed in a format that this dltraced was built without: unpack first "
				"(zstd -d --rm, gzip -d)",
				file->name, FMT_N(rd->bad, "segment is", "segments are"));
	else if (rd->bad + rd->damaged)
		report_cpu_note(cpu, "%s: %s could not be read to the end", file->name,
				FMT_N(rd->bad + rd->damaged, "segment", "segments"));
}

void report_cpu_note_file(struct report_cpu *r, const struct scan_file *f, uint64_t bad_rows)
{
	const struct notes notes = { r->notes, &r->n_notes, CPU_NOTES_MAX };

	if (f->reader.n_columns) { /* it was opened */
		scan_note_header(f, bad_rows, &notes);
		note_segments(r, f);
	}
	scan_note_error(f, &notes);
}

int report_cpu_read(struct report_cpu *r, struct scan_folder *folder, const char *name,
		    bool (*take)(struct scan *s, void *own), void *own)
{
	struct scan_taker taker = { .take = take, .own = own };
	const struct scan_file *f = scan_walk(folder, name, &taker);

	report_cpu_note_file(r, f, taker.bad_rows);
	return f->error;
}
