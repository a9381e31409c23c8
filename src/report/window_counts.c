/* SPDX-License-Identifier: BSD-2-Clause */
/* See narrow.h. */
#include "report/window_counts.h"

#include <string.h>

#include "base/util.h"
#include "report/scan/scan.h"

/* Returns how many rows of PROBE's file are outside of the window, as far as it can be read. */
static uint64_t rows_outside(const struct report *report, int dirfd, const struct manifest_probe *probe)
{
	autofree char *file = NULL;
	struct reader rd = { 0 };
	struct reader_row row;
	uint64_t n;

	/* the report itself has read most of them */
	for (unsigned int i = 0; !report_is_by_manifest(probe) && i < report->folder->n; i++)
		if (strcmp(report->folder->file[i].name, probe->name) == 0)
			return report->folder->file[i].reader.outside;
	file = util_fmt("%s.out", probe->name);
	if (!file || reader_open(&rd, dirfd, file) < 0)
		return 0;
	window_read(&report->manifest.window, &rd);
	while (reader_next(&rd, &row) > 0)
		;
	n = rd.outside;
	reader_close(&rd);
	return n;
}

void window_counts_apply(struct report *report, int dirfd)
{
	for (unsigned int i = 0; report->manifest.window.end_ns && i < report->manifest.n_probes; i++) {
		struct manifest_probe *p = &report->manifest.probes[i];
		const uint64_t dropped = report_summed_rows(report, p->name, p->dropped);

		p->rows -= MIN(p->rows, rows_outside(report, dirfd, p));
		p->rows -= MIN(p->rows, p->dropped - dropped);
		p->dropped = dropped;
		p->summed = report_summed_rows(report, p->name, p->summed);
		p->calls = MIN(p->calls, p->rows + p->lost);
	}
}
