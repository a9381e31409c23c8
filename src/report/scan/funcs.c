/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/scan/funcs.h"

#include <stdlib.h>

#include "base/util.h"

void report_funcs_free(struct report *r)
{
	for (unsigned int i = 0; i < r->n_funcs; i++)
		free(r->funcs[i]);
	free(r->funcs);
}

static struct report_func *add(struct report *r, const struct report_func *like)
{
	struct report_func *f;

	if (!r->funcs)
		r->funcs = calloc(REPORT_FUNCS_MAX, sizeof(*r->funcs));
	f = r->funcs && r->n_funcs < REPORT_FUNCS_MAX ? calloc(1, sizeof(*f)) : NULL;
	if (!f)
		return NULL;
	*f = *like;
	r->funcs[r->n_funcs++] = f;
	return f;
}

static struct report_func *find(struct report *r, const struct report_func *like)
{
	for (unsigned int i = 0; i < r->n_funcs; i++) {
		struct report_func *f = r->funcs[i];

		if (f->kind == like->kind && f->write == like->write && strcmp(f->name, like->name) == 0)
			return f;
	}
	return NULL;
}

struct report_func *report_funcs_find(struct scan *s, struct reader_field name, bool write)
{
	autofree struct report_func *like = calloc(1, sizeof(*like));
	struct report_func *f = NULL;

	if (like) {
		like->kind = s->kind;
		like->rw = s->kind == REPORT_VFS_RW;
		like->write = write;
		report_copy(like->name, sizeof(like->name), name);
		like->len = strlen(like->name);
		f = find(s->report, like);
		if (!f)
			f = add(s->report, like);
	}
	/* for want of room or memory: it is in its probe's sums alone */
	if (!f)
		f = &s->report->other_func[write];
	return s->func[write] = f;
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
