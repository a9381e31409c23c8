/* SPDX-License-Identifier: BSD-2-Clause */
/* See narrow.h. */
#include "report/narrow.h"

#include "base/util.h"
#include "report/scan/scan.h"

/* Returns how many rows of NAME.out are outside of the window, as far as it can be read. */
static uint64_t rows_outside(const struct report *r, int dirfd, const char *name)
{
	autofree char *file = util_fmt("%s.out", name);
	struct reader rd = { 0 };
	struct reader_row row;
	uint64_t n;

	if (!file || reader_open(&rd, dirfd, file) < 0)
		return 0;
	window_read(&r->manifest.window, &rd);
	while (reader_next(&rd, &row) > 0)
		;
	n = rd.outside;
	reader_close(&rd);
	return n;
}

/* Returns those of a file that the report itself has read. */
static uint64_t rows_left_out(const struct report *r, const char *name, bool *is)
{
	for (unsigned int i = 0; i < r->folder->n; i++)
		if (strcmp(r->folder->file[i].name, name) == 0)
			return r->folder->file[i].reader.outside;
	*is = false;
	return 0;
}

void report_narrow_counts(struct report *r, int dirfd)
{
	for (unsigned int i = 0; r->manifest.window.end_ns && i < r->manifest.n_probes; i++) {
		struct manifest_probe *p = &r->manifest.probes[i];
		bool is_read = !report_is_by_manifest(p);
		uint64_t outside = is_read ? rows_left_out(r, p->name, &is_read) : 0;

		if (!is_read)
			outside = rows_outside(r, dirfd, p->name);
		p->rows -= MIN(p->rows, outside);
		p->calls = MIN(p->calls, p->rows + p->lost);
	}
}
