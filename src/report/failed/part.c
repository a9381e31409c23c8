/* SPDX-License-Identifier: BSD-2-Clause */
/* What failed as a part of a report: when its rows are read, and its sentences made. */
#include <errno.h>
#include <stdlib.h>

#include "report/failed/failures.h"
#include "report/failed/limits.h"
#include "report/failed/sentence.h"
#include "report/scan/part.h"

static int part_new(struct report *r, const struct report_options *o)
{
	r->failed = calloc(1, sizeof(*r->failed));
	if (!r->failed)
		return -ENOMEM;
	table_init(&r->failed->groups, sizeof(struct failure), FAILURES_MAX);
	return 0;
}

static void part_read(struct report *r)
{
	failed_connects_read(r, r->failed);
	failed_sleeps_read(r, r->failed);
}

static void part_end(struct report *r)
{
	struct report_failed *failed = r->failed;

	failed_ends_add(r, failed);
	if (failures_settle(r, failed) < 0) {
		report_note(r, "what failed: not enough memory");
		return;
	}
	for (uint32_t i = 0; i < failed->n; i++) {
		struct failure *failure = &failed->v[i];

		failure->text = failure_sentence(r, failure);
		failure->has_limit_n = failure_limit_number(r, failure, &failure->limit_n);
	}
	report_note_count(r, "what failed", failed->left_out, "failure has", "failures have",
			  "no line, as there are too many kinds of them");
}

static void part_free(struct report *r)
{
	if (r->failed)
		failures_free(r->failed);
}

const struct report_part report_failed_part = {
	.new = part_new,
	.read = part_read,
	.end = part_end,
	.free = part_free,
};
