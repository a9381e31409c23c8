/* SPDX-License-Identifier: BSD-2-Clause */
#include "report_spreads.h"

#include <stdlib.h>

#include "util.h"

const char *const report_spread_names[REPORT_SPREADS] = {
	[REPORT_READ_NS] = "read",	 [REPORT_READ_BYTES] = "read",	 [REPORT_WRITE_NS] = "write",
	[REPORT_WRITE_BYTES] = "write", [REPORT_OPEN_NS] = "open", [REPORT_OTHER_NS] = "other",
};

struct report_spreads *report_spreads_new(void)
{
	struct report_spreads *u = calloc(1, sizeof(*u));

	if (u)
		table_init_pids(&u->procs, sizeof(struct report_proc_spreads), REPORT_SPREADS_MAX);
	return u;
}

void report_spreads_free(struct report_spreads *u)
{
	if (!u)
		return;
	for (uint32_t i = 0; i < u->procs.n; i++) {
		struct report_proc_spreads *p = table_at(&u->procs, i);

		for (unsigned int k = 0; k < REPORT_SPREADS; k++)
			free(p->of[k]);
	}
	table_free(&u->procs);
	free(u);
}

struct spread *report_spreads_make(struct spread **s)
{
	return *s = calloc(1, sizeof(**s));
}

const struct report_proc_spreads *report_spreads_of(const struct report *r, uint64_t pid)
{
	return r->spreads ? table_find(&r->spreads->procs, pid) : NULL;
}

static const struct hist *unless_empty(const struct hist *h)
{
	return h->n ? h : NULL;
}

static unsigned int add_column(struct report_column *columns, unsigned int n, enum report_kind kind, const char *of,
			       const struct report_op *op)
{
	columns[n] = (struct report_column){
		.probe = report_kind_names[kind], .of = of,
		.lat = unless_empty(&op->lat), .size = unless_empty(&op->size),
	};
	return n + (columns[n].lat || columns[n].size);
}

unsigned int report_columns(const struct report *r, struct report_column columns[REPORT_COLUMNS_MAX])
{
	unsigned int n = 0;

	for (enum report_kind kind = REPORT_BIO; kind < REPORT_KINDS; kind++) {
		const struct report_op *sides = kind == REPORT_BIO ? r->bio : kind == REPORT_VFS_RW ? r->rw : NULL;

		if (!sides) {
			n = add_column(columns, n, kind, NULL, &r->op[kind]);
			continue;
		}
		n = add_column(columns, n, kind, "reads", &sides[0]);
		n = add_column(columns, n, kind, "writes", &sides[1]);
	}
	return n;
}
