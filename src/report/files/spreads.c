/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/files/spreads.h"

#include <stdlib.h>

#include "base/util.h"
#include "report/scan/part.h"

const char *const report_spread_names[REPORT_SPREADS] = {
	[REPORT_READ_NS] = "read",      [REPORT_READ_BYTES] = "read", [REPORT_WRITE_NS] = "write",
	[REPORT_WRITE_BYTES] = "write", [REPORT_OPEN_NS] = "open",    [REPORT_OTHER_NS] = "other",
};

static void part_free(struct report *r)
{
	for (uint32_t i = 0; i < r->procs.n; i++) {
		struct report_proc *p = table_at(&r->procs, i);

		for (unsigned int k = 0; k < REPORT_SPREADS; k++)
			free(p->spread[k]);
	}
}

bool report_spreads_admit(struct report *r, struct report_proc *p)
{
	if (p == &r->other_proc || r->spreads.n == REPORT_SPREADS_MAX) {
		r->spreads.left_out++;
		return false;
	}
	r->spreads.n++;
	p->has_spreads = true;
	return true;
}

struct spread *report_spreads_make(struct spread **s)
{
	return *s = calloc(1, sizeof(**s));
}

static const struct hist *unless_empty(const struct hist *h)
{
	return h->n ? h : NULL;
}

static unsigned int add_column(struct report_column *columns, unsigned int n, enum report_kind kind, const char *of,
			       const struct report_op *op)
{
	columns[n] = (struct report_column){
		.probe = report_kind_names[kind],
		.of = of,
		.lat = unless_empty(&op->lat),
		.size = unless_empty(&op->size),
	};
	return n + (columns[n].lat || columns[n].size);
}

unsigned int report_columns(const struct report *report, struct report_column columns[REPORT_COLUMNS_MAX])
{
	unsigned int n = 0;

	for (enum report_kind kind = REPORT_BIO; kind < REPORT_KINDS; kind++) {
		const struct report_op *sides = NULL;

		if (kind == REPORT_BIO)
			sides = report->bio;
		else if (kind == REPORT_VFS_RW)
			sides = report->rw;

		if (!sides) {
			n = add_column(columns, n, kind, NULL, &report->op[kind]);
			continue;
		}
		n = add_column(columns, n, kind, "reads", &sides[0]);
		n = add_column(columns, n, kind, "writes", &sides[1]);
	}
	return n;
}

static void part_note(struct report *r)
{
	report_note_count(r, "too many processes", r->spreads.left_out, "call is", "calls are",
			  "in the medians of no process");
}

const struct report_part report_spreads_part = {
	.note = part_note,
	.free = part_free,
};
