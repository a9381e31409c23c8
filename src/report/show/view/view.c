/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the renderers of views: rows, cells and names. */
#include "report/show/view/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "stats/table.h"

/* A row that was made for the view, not held by the report. */
struct view_made {
	struct view_made *next;
	max_align_t row[];
};

void view_add(struct view_rows *rows, const void *row)
{
	if (util_room(&rows->v, rows->n, sizeof(*rows->v)) < 0) {
		rows->failed = true;
		return;
	}
	rows->v[rows->n] = (struct view_row){ rows->parent, row, rows->n };
	rows->n++;
}

void *view_alloc(struct view_rows *rows, size_t size)
{
	struct view_made *made = calloc(1, sizeof(*made) + size);

	if (!made) {
		rows->failed = true;
		return NULL;
	}
	made->next = rows->made;
	rows->made = made;
	return made->row;
}

void *view_make(struct view_rows *rows, size_t size)
{
	void *row = view_alloc(rows, size);

	if (row)
		view_add(rows, row);
	return row;
}

static uint64_t number_at(const char *at, enum view_as as)
{
	switch (as) {
	case VIEW_AS_U32:
		return *(const uint32_t *)at;
	case VIEW_AS_U8:
		return *(const uint8_t *)at;
	case VIEW_AS_BOOL:
		return *(const bool *)at;
	default:
		return *(const uint64_t *)at;
	}
}

static uint64_t number_in(const void *row, const struct view_place *place)
{
	return number_at((const char *)row + place->plus - 1, place->as);
}

static int by_most(const void *a, const void *b, void *place)
{
	const struct view_row *x = a, *y = b;
	uint64_t n = number_in(x->row, place), m = number_in(y->row, place);

	return n != m ? (n < m) - (n > m) : (x->nr > y->nr) - (x->nr < y->nr);
}

void view_sort(struct view_rows *rows, size_t first, const struct view_place *place)
{
	struct view_place copy = *place;

	if (rows->n > first)
		qsort_r(rows->v + first, rows->n - first, sizeof(*rows->v), by_most, &copy);
}

void view_pair(struct view_rows *rows, uint64_t keys, const void *value)
{
	struct view_pair *p = view_make(rows, sizeof(*p));

	if (p)
		*p = (struct view_pair){ value, ~keys, (uint32_t)(keys >> 32), (uint32_t)keys };
}

static void pairs(struct view_rows *rows, const struct table *t, uint32_t skip)
{
	for (uint32_t i = skip; i < t->n; i++)
		view_pair(rows, t->keys[i], table_at(t, i));
	VIEW_SORT(rows, 0, struct view_pair, least);
}

static void listed_rows(struct view_rows *rows, const struct view *view, const void *of)
{
	const char *in = view->of.base ? *(const char *const *)((const char *)of + view->of.base - 1) : of;
	const struct table *table = view->of.table && in ? (const void *)(in + view->of.table - 1) : NULL;
	const char *array = in ? in + view->of.array : NULL;
	size_t first = rows->n, n;

	if (!in)
		return;
	if (view->of.pointed)
		array = *(const char *const *)array;
	if (table)
		n = table->n;
	else if (view->of.fixed)
		n = view->of.fixed;
	else
		n = *(const uint32_t *)(in + view->of.count);
	for (uint32_t i = 0; i < n; i++) {
		const void *row = table ? table_at(table, i) : array + i * view->of.size;

		if ((!view->of.having.plus || number_in(row, &view->of.having)) && (!view->has || view->has(of, row)))
			view_add(rows, row);
	}
	if (view->of.most.plus)
		view_sort(rows, first, &view->of.most);
	if (view->of.total.plus)
		rows->total = number_in(in, &view->of.total);
}

static void rows_of(struct view_rows *rows, const struct view *v, const void *of, const void *parent)
{
	rows->parent = parent;
	if (v->rows)
		v->rows(of, parent, rows);
	else if (v->of.pairs)
		pairs(rows, (const void *)((const char *)of + v->of.table - 1), v->of.skip);
	else
		listed_rows(rows, v, of);
}

void view_rows_fill(struct view_rows *rows, const struct view *view, const void *of, const void *parent)
{
	struct view_rows parents = { 0 };

	if (!view->parent || parent) {
		rows_of(rows, view, of, parent);
		return;
	}
	view_rows_fill(&parents, view->parent, of, NULL);
	rows->failed |= parents.failed;
	for (size_t i = 0; i < parents.n; i++)
		rows_of(rows, view, of, parents.v[i].row);
	/* rows made for the parents must live as long as the rows that belong to them */
	for (struct view_made **last = &rows->made;; last = &(*last)->next)
		if (!*last) {
			*last = parents.made;
			break;
		}
	free(parents.v);
}

void view_rows_free(struct view_rows *rows)
{
	while (rows->made) {
		struct view_made *made = rows->made;

		rows->made = made->next;
		free(made);
	}
	free(rows->v);
	*rows = (struct view_rows){ 0 };
}

const struct view_column *view_column_next(const struct view *view, const struct view_column *column,
					   const struct view_row *view_row, const void **row)
{
	const struct view_column *above = view->parent ? view->parent->columns : NULL, *end = above;

	while (end && end->kind)
		end++;
	if (!column || (above && column >= above && column < end)) {
		for (column = column ? column + 1 : above; column && column < end; column++)
			if (column->flags & VIEW_KEY) {
				*row = view_row ? view_row->parent : NULL;
				return column;
			}
		column = view->columns;
	} else {
		column++;
	}
	*row = view_row ? view_row->row : NULL;
	return column->kind ? column : NULL;
}

static const void *led_to(const struct view_via *via, const void *of, const void *row)
{
	for (; via; via = via->then) {
		const char *in = (const char *)of + via->in;
		uint32_t i = *(const uint32_t *)((const char *)row + via->at);

		row = via->size ? *(const char *const *)in + i * via->size :
				  table_at((const struct table *)(const void *)in, i);
	}
	return row;
}

uint64_t view_number(const struct view_column *c, const void *row)
{
	return number_at(view_at(row, c), c->as);
}

static void load(const struct view_column *column, const void *row, struct view_cell *cell)
{
	const void *at = view_at(row, column);

	switch (column->as) {
	case VIEW_AS_S64:
		cell->s = *(const int64_t *)at;
		break;
	case VIEW_AS_F64:
		cell->f = *(const double *)at;
		break;
	case VIEW_AS_POINTER:
		cell->text = *(const char *const *)at;
		break;
	case VIEW_AS_CHARS:
		cell->text = at;
		break;
	default:
		cell->n = number_at(at, column->as);
	}
}

void view_cell(const struct view_column *column, const void *of, const void *row, struct view_cell *cell)
{
	memset(cell, 0, offsetof(struct view_cell, shown) + 1);
	row = led_to(column->via, of, row);
	cell->known = !column->known.plus || number_in(row, &column->known);
	if (column->get)
		column->get(column, of, row, cell);
	else
		load(column, row, cell);
	if (column->names)
		cell->text = column->names[cell->n];
	if (column->whole)
		view_share(cell, cell->n, *(const uint64_t *)((const char *)of + column->whole - 1));
	if (column->kind == VIEW_TEXT)
		cell->known &= cell->text && (cell->text[0] || column->flags & VIEW_EMPTY);
	else if (column->kind == VIEW_SHARE || column->kind == VIEW_NUMBER)
		cell->known &= !isnan(cell->f);
}

void view_share(struct view_cell *cell, uint64_t part, uint64_t whole)
{
	cell->f = whole ? (double)part / (double)whole : 0;
	if (!whole)
		strcpy(cell->shown, "-");
}

const char *view_csv_key(const struct view_column *column, char buf[64])
{
	bool ns = column->kind == VIEW_NS || column->kind == VIEW_SIGNED_NS;
	size_t len = strlen(column->key);

	if (ns && len > 3 && strcmp(column->key + len - 3, "_ns") == 0)
		snprintf(buf, 64, "%.*s_s", (int)len - 3, column->key);
	else
		snprintf(buf, 64, "%s", column->key);
	for (char *dot = strchr(buf, '.'); dot; dot = strchr(dot, '.'))
		*dot = '_';
	return buf;
}

const char *view_csv_name(const struct view *v, char buf[96])
{
	const char *name = v->csv ? v->csv : v->key;

	if (!name || !name[0] || !v->parent || v->csv)
		return name && name[0] ? name : NULL;
	snprintf(buf, 96, "%s_%s", v->parent->key, v->key);
	return buf;
}
