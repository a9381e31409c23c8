/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/scan/functions.h"

#include <stdlib.h>

#include "base/util.h"

void report_funcs_free(struct report *r)
{
	for (unsigned int i = 0; i < r->n_funcs; i++)
		free(r->funcs[i]);
	free(r->funcs);
}

static struct report_func *find(const struct report *r, enum report_kind kind, struct reader_field name, bool write)
{
	for (unsigned int i = 0; i < r->n_funcs; i++) {
		struct report_func *f = r->funcs[i];

		if (f->kind == kind && f->write == write && report_func_is(f, name))
			return f;
	}
	return NULL;
}

static struct report_func *add(struct report *report, enum report_kind kind, struct reader_field name, bool write)
{
	struct report_func *func;

	if (!report->funcs)
		report->funcs = calloc(REPORT_FUNCS_MAX, sizeof(*report->funcs));
	func = report->funcs && report->n_funcs < REPORT_FUNCS_MAX ? calloc(1, sizeof(*func)) : NULL;
	if (!func)
		return NULL;
	func->kind = kind;
	func->rw = kind == REPORT_VFS_RW;
	func->write = write;
	func->len = name.len;
	memcpy(func->name, name.p, name.len);
	report->funcs[report->n_funcs++] = func;
	return func;
}

struct report_func *report_funcs_find(struct scan *s, struct reader_field name, bool write)
{
	struct report_func *f;

	name.len = MIN(name.len, sizeof(f->name) - 1);
	f = find(s->report, s->kind, name, write);
	if (!f)
		f = add(s->report, s->kind, name, write);
	/* no room or memory: the row counts in its probe's sums alone */
	return s->func[write] = f ? f : &s->report->other_func[write];
}

void report_funcs_sum(struct report *report, enum report_kind kind)
{
	for (unsigned int i = 0; i < report->n_funcs; i++) {
		struct report_func *f = report->funcs[i];

		if (f->kind == kind)
			report_op_add(f->rw ? &report->rw[f->write] : &report->op[kind], &f->op);
	}
	for (unsigned int side = 0; side < 2; side++) {
		struct report_func *f = &report->other_func[side];

		report_op_add(kind == REPORT_VFS_RW ? &report->rw[side] : &report->op[kind], &f->op);
		report->func_left_out += f->op.rows;
		*f = (struct report_func){ 0 };
	}
}
