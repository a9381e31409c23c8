/* SPDX-License-Identifier: BSD-2-Clause */
/* Evidence for several tables of rules (rules_impl.h). */
#include "report/rules/rules_impl.h"

#include "base/fmt.h"

void rules_show_when(struct report *r, struct finding *f)
{
	finding_add(f, "in all of the trace, %.3f s to %.3f s", rules_seconds(r, r->first_ns),
		    rules_seconds(r, r->last_ns));
}

/* Of the files with the most bytes, shows the one with the most on SIDE. */
void rules_show_files(const struct report *report, struct finding *finding, enum rules_side side)
{
	const struct report_top_file *file = NULL;
	uint64_t most = 0;

	for (unsigned int i = 0; i < report->n_top_bytes; i++) {
		const struct report_file *sum = &report->top_bytes[i].sum;
		uint64_t bytes = side == SIDE_READ ? sum->read_bytes : sum->write_bytes;

		if (bytes <= most || !report->top_bytes[i].path || sum->software)
			continue;
		most = bytes;
		file = &report->top_bytes[i];
	}
	if (file)
		finding_add(finding, "most bytes: %s, %s read, %s written in %s", file->path,
			    FMT_BYTES(file->sum.read_bytes), FMT_BYTES(file->sum.write_bytes),
			    FMT_N(file->sum.calls, "call", "calls"));
}

void rules_show_counts(struct report *r, struct finding *f, enum rules_side side, const char *what, uint64_t part,
		       const char *of, uint64_t whole)
{
	finding_add(f, "%s: %s of %s %s (%.1f %%)", what, FMT_COUNT(part), FMT_COUNT(whole), of,
		    rules_percent((double)part, (double)whole));
	rules_show_files(r, f, side);
	rules_show_when(r, f);
}
