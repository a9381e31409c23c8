/* SPDX-License-Identifier: BSD-2-Clause */
/* A view as members of a JSON object. */
#include "report/show/view/view.h"

#include <errno.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/util.h"

static void list(const struct view *v, const void *of, const void *parent, unsigned int thin, struct json *j);

static void member(const struct view_column *c, const void *of, const void *row, unsigned int thin, struct json *j)
{
	struct view_cell cell;

	if (c->kind == VIEW_ROWS) {
		list(c->list, of, row, thin, j);
		return;
	}
	if (c->kind == VIEW_JSON) {
		c->json(of, row, j);
		return;
	}
	view_cell(c, of, row, &cell);
	if (!cell.known) {
		if (!(c->flags & VIEW_OPTIONAL))
			json_null(j, c->key);
		return;
	}
	switch (c->kind) {
	case VIEW_SIGNED_NS:
		json_s64(j, c->key, cell.s);
		break;
	case VIEW_SHARE:
	case VIEW_NUMBER:
		json_f64(j, c->key, cell.f);
		break;
	case VIEW_TEXT:
		json_str(j, c->key, cell.text);
		break;
	case VIEW_FLAG:
		json_bool(j, c->key, cell.n);
		break;
	default:
		json_u64(j, c->key, cell.n);
	}
}

static void members(const struct view *v, unsigned int flags, const void *of, const void *row, unsigned int thin,
		    struct json *j)
{
	for (const struct view_column *c = v->columns; c->kind; c++)
		if (c->key && (c->flags & flags) == flags && !(c->flags & VIEW_NO_JSON))
			member(c, of, row, thin, j);
}

static void rest(const struct view *v, const void *of, const void *sum, uint64_t n, unsigned int thin, struct json *j)
{
	json_object(j, v->rest->key);
	json_u64(j, "n", n);
	if (sum)
		members(v, VIEW_SUM, of, sum, thin, j);
	json_end(j);
}

/* Puts the array, and the members after it. */
static void array(const struct view *v, const void *of, const struct view_rows *rows, unsigned int thin, struct json *j)
{
	const size_t most = v->most ? MAX(v->most >> thin, MAX(v->least, 1U)) : rows->n;
	autofree void *sum = v->rest ? calloc(1, v->rest->size) : NULL;
	const uint64_t all = MAX(rows->total, rows->n);
	uint64_t others = 0;
	size_t n = 0;

	if (rows->failed || (v->rest && !sum))
		j->error = -ENOMEM;
	json_array(j, v->inside ? v->inside : v->key);
	for (size_t i = 0; i < rows->n; i++) {
		const void *row = rows->v[i].row;

		if (n >= most && !(sum && v->rest->is_kept && v->rest->is_kept(of, row))) {
			others += sum ? v->rest->add(sum, row) : 0;
			continue;
		}
		n++;
		json_object(j, NULL);
		members(v, 0, of, row, thin, j);
		for (; v->part && i + 1 < rows->n && v->part(rows->v[i + 1].row); i++) {
			json_object(j, v->part(rows->v[i + 1].row));
			members(v, VIEW_PART, of, rows->v[i + 1].row, thin, j);
			json_end(j);
		}
		json_end(j);
	}
	json_end(j);
	if (v->rest)
		rest(v, of, sum, others, thin, j);
	else if (v->left_out && all > n)
		json_u64(j, v->left_out, all - n);
}

static void list(const struct view *v, const void *of, const void *parent, unsigned int thin, struct json *j)
{
	struct view_rows rows = { 0 };

	view_rows_fill(&rows, v, of, parent);
	if (v->inside)
		json_object(j, v->key);
	if (v->total)
		json_u64(j, v->total, MAX(rows.total, rows.n));
	array(v, of, &rows, thin, j);
	if (v->inside)
		json_end(j);
	view_rows_free(&rows);
}

void view_json(const struct view *v, const void *of, unsigned int thin, struct json *j)
{
	if (v->key && !v->parent)
		list(v, of, NULL, thin, j);
}

void view_sections_json(const struct view_section *s, const void *of, unsigned int thin, bool sum, struct json *j)
{
	for (; s->view || s->text || s->json; s++) {
		if ((sum && !s->sum) || (s->has && !s->has(of)))
			continue;
		if (s->view)
			view_json(s->view, of, thin, j);
		if (s->json)
			s->json(of, j);
	}
}
