/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of predictions for changes that --what-if names, of a struct report. */
#include <stdio.h>

#include "report/scan/model.h"
#include "report/show/tables/tables.h"
#include "report/whatif/whatif.h"

#define GET(name) VIEW_GET(name, struct report, r, struct whatif_prediction, prediction)

GET(ns)
{
	cell->known = !prediction->refused && prediction->sure;
	cell->n = (uint64_t)prediction->ns;
}

GET(low)
{
	cell->known = !prediction->refused;
	cell->n = (uint64_t)prediction->low_ns;
}

GET(high)
{
	cell->known = !prediction->refused;
	cell->n = (uint64_t)prediction->high_ns;
}

GET(times)
{
	cell->known = !prediction->refused && prediction->sure;
	cell->f = prediction->times;
}

GET(exposed)
{
	cell->known = !prediction->refused && prediction->sure;
	cell->f = prediction->exposed;
}

GET(limited)
{
	cell->text = prediction->limited_by;
	cell->known = !prediction->refused;
	if (prediction->refused)
		snprintf(cell->shown, sizeof(cell->shown), "not known: %s", prediction->refused);
}

GET(refused)
{
	cell->text = prediction->refused;
	cell->known = prediction->refused;
}

static const struct view_column columns[] = {
	{ "change", "CHANGE", VIEW_TEXT, 24, 0, VIEW_AT(struct whatif_prediction, change) },
	{ "time_ns", "TIME", VIEW_NS, 10, 0, .get = ns, .what = "of the epoch; not known where the range is wide" },
	{ "low_ns", "FROM", VIEW_NS, 10, 0, .get = low },
	{ "high_ns", "TO", VIEW_NS, 10, 0, .get = high },
	{ "times", "SPEED-UP", VIEW_NUMBER, 8, 0, .get = times, .what = "the epoch as it was, by TIME" },
	{ "exposed", "WAIT", VIEW_SHARE, 6, 0, .get = exposed, .what = "the trainer's, for batches: a part of TIME" },
	{ "limited_by", "LIMITED BY", VIEW_TEXT, 0, 0, .get = limited, .what = "what sets the pace then" },
	{ "refused", NULL, VIEW_TEXT, 0, 0, .get = refused, .what = "why there is no prediction" },
	{ 0 },
};

const struct view view_what_if = {
	.key = "what_if_changes",
	.title = "What if: the longest epoch, with changes",
	.note = "a replay of its batches and steps (docs/what-if.md)",
	.what = "the changes that --what-if names",
	.columns = columns,
	VIEW_BEHIND(struct report, whatif),
	VIEW_ARRAY(struct report_whatif, row, n),
};
