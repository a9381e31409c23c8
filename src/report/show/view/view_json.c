/* SPDX-License-Identifier: BSD-2-Clause */
/* A view as members of a JSON object. */
#include "report/show/view/view.h"

#include <errno.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/util.h"

static void list(const struct view *view, const void *of, const void *parent, unsigned int thin, struct json *json);

static void member(const struct view_column *column, const void *of, const void *row, unsigned int thin,
		   struct json *json)
{
	struct view_cell cell;

	if (column->kind == VIEW_ROWS) {
		list(column->list, of, row, thin, json);
		return;
	}
	if (column->kind == VIEW_JSON) {
		column->json(of, row, json);
		return;
	}
	view_cell(column, of, row, &cell);
	if (!cell.known) {
		if (!(column->flags & VIEW_OPTIONAL))
			json_null(json, column->key);
		return;
	}
	switch (column->kind) {
	case VIEW_SIGNED_NS:
		json_s64(json, column->key, cell.s);
		break;
	case VIEW_SHARE:
	case VIEW_NUMBER:
		json_f64(json, column->key, cell.f);
		break;
	case VIEW_TEXT:
		json_str(json, column->key, cell.text);
		break;
	case VIEW_FLAG:
		json_bool(json, column->key, cell.n);
		break;
	default:
		json_u64(json, column->key, cell.n);
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
static void array(const struct view *view, const void *of, const struct view_rows *rows, unsigned int thin,
		  struct json *json)
{
	const size_t most = view->most ? MAX(view->most >> thin, MAX(view->least, 1U)) : rows->n;
	autofree void *sum = view->rest ? calloc(1, view->rest->size) : NULL;
	const uint64_t all = MAX(rows->total, rows->n);
	uint64_t others = 0;
	size_t n = 0;

	if (rows->failed || (view->rest && !sum))
		json->error = -ENOMEM;
	json_array(json, view->inside ? view->inside : view->key);
	for (size_t i = 0; i < rows->n; i++) {
		const void *row = rows->v[i].row;

		if (n >= most && !(sum && view->rest->is_kept && view->rest->is_kept(of, row))) {
			others += sum ? view->rest->add(sum, row) : 0;
			continue;
		}
		n++;
		json_object(json, NULL);
		members(view, 0, of, row, thin, json);
		for (; view->part && i + 1 < rows->n && view->part(rows->v[i + 1].row); i++) {
			json_object(json, view->part(rows->v[i + 1].row));
			members(view, VIEW_PART, of, rows->v[i + 1].row, thin, json);
			json_end(json);
		}
		json_end(json);
	}
	json_end(json);
	if (view->rest)
		rest(view, of, sum, others, thin, json);
	else if (view->left_out && all > n)
		json_u64(json, view->left_out, all - n);
}

static void list(const struct view *view, const void *of, const void *parent, unsigned int thin, struct json *json)
{
	struct view_rows rows = { 0 };

	view_rows_fill(&rows, view, of, parent);
	if (view->inside)
		json_object(json, view->key);
	if (view->total)
		json_u64(json, view->total, MAX(rows.total, rows.n));
	array(view, of, &rows, thin, json);
	if (view->inside)
		json_end(json);
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
