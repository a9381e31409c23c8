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

static struct report_func *add(struct report *r, enum report_kind kind, struct reader_field name, bool write)
{
	struct report_func *f;

	if (!r->funcs)
		r->funcs = calloc(REPORT_FUNCS_MAX, sizeof(*r->funcs));
	f = r->funcs && r->n_funcs < REPORT_FUNCS_MAX ? calloc(1, sizeof(*f)) : NULL;
	if (!f)
		return NULL;
	f->kind = kind;
	f->rw = kind == REPORT_VFS_RW;
	f->write = write;
	f->len = name.len;
	memcpy(f->name, name.p, name.len);
	r->funcs[r->n_funcs++] = f;
	return f;
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

void report_funcs_sum(struct report *r, enum report_kind kind)
{
	for (unsigned int i = 0; i < r->n_funcs; i++) {
		struct report_func *f = r->funcs[i];

		if (f->kind == kind)
			report_op_add(f->rw ? &r->rw[f->write] : &r->op[kind], &f->op);
	}
	for (unsigned int side = 0; side < 2; side++) {
		struct report_func *f = &r->other_func[side];

		report_op_add(kind == REPORT_VFS_RW ? &r->rw[side] : &r->op[kind], &f->op);
		r->func_left_out += f->op.rows;
		*f = (struct report_func){ 0 };
	}
}
