/* SPDX-License-Identifier: BSD-2-Clause */
/* Missing data of a trace, beside the answer: as lines of the first screen, and as a table. */
#include "base/fmt.h"
#include "base/util.h"
#include "report/scan/model.h"
#include "report/show/show.h"
#include "report/show/tables/tables.h"

#define REASONS_SHOWN 5

void report_missing_text(const struct report *r, FILE *out)
{
	const struct report_missing *m = &r->missing;

	for (unsigned int i = 0; i < MIN(m->n, REASONS_SHOWN); i++)
		fmt_line(out, "missing      ", m->reason[i].text);
	if (m->n > REASONS_SHOWN)
		fprintf(out, "missing      %u more reasons: see missing_reasons of --json\n", m->n - REASONS_SHOWN);
	if (m->n == 0)
		fputs("missing      nothing that dltraced knows of\n", out);
}

VIEW_GET(is_damage, struct report, r, struct missing_reason, reason)
{
	cell->n = missing_is_damage(reason);
}

static const struct view_column reason_columns[] = {
	{ "code", NULL, VIEW_TEXT, 0, 0, VIEW_AT(struct missing_reason, kind), .names = missing_codes,
	  .what = "docs/rules.md has them" },
	{ "file", NULL, VIEW_TEXT, 0, 0, VIEW_AT(struct missing_reason, file),
	  .what = "the affected probe; null: several" },
	{ "count", NULL, VIEW_COUNT, 0, 0, VIEW_AT(struct missing_reason, n), .what = "of rows, calls or processes" },
	{ "of", NULL, VIEW_TEXT, 0, VIEW_EMPTY, VIEW_AT(struct missing_reason, of),
	  .what = "rows of the file, bytes, calls, processes" },
	{ "share", NULL, VIEW_SHARE, 0, 0, VIEW_AT(struct missing_reason, share),
	  .what = "their part of that; null: not known" },
	{ "matters", NULL, VIEW_FLAG, 0, 0, VIEW_AT(struct missing_reason, matters),
	  .what = "the answer could be different" },
	{ "damage", NULL, VIEW_FLAG, .get = is_damage,
	  .what = "a file differs from the manifest, for which `report` returns 1" },
	{ "text", NULL, VIEW_TEXT, 0, VIEW_EMPTY, VIEW_AT(struct missing_reason, text), .what = "a sentence" },
	{ 0 },
};

const struct view view_missing_reasons = {
	.key = "missing_reasons",
	.what = "each reason why something is missing, the most serious first",
	.columns = reason_columns,
	VIEW_ARRAY(struct report, missing.reason, missing.n),
};
