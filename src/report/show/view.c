/* SPDX-License-Identifier: BSD-2-Clause */
/* What the renderers of views share: rows, cells and names. */
#include "report/show/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* A row that no report holds. */
struct view_made {
	struct view_made *next;
	max_align_t row[];
};

void view_add(struct view_rows *rows, const void *row)
{
	if (rows->n == rows->room) {
		size_t room = rows->room ? 2 * rows->room : 64;
		struct view_row *v = reallocarray(rows->v, room, sizeof(*v));

		if (!v) {
			rows->failed = true;
			return;
		}
		rows->v = v;
		rows->room = room;
	}
	rows->v[rows->n++] = (struct view_row){ rows->parent, row };
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
	return as == VIEW_AS_U64 ? *(const uint64_t *)at : *(const uint32_t *)at;
}

static void array_rows(struct view_rows *rows, const struct view *v, const char *of)
{
	if (v->of.base)
		of = *(const char *const *)(of + v->of.base - 1);
	if (!of)
		return;
	for (uint32_t i = 0; i < *(const uint32_t *)(of + v->of.count); i++)
		view_add(rows, of + v->of.array + i * v->of.size);
	if (v->of.total_plus)
		rows->total = number_at(of + v->of.total_plus - 1, v->of.total_as);
}

static void rows_of(struct view_rows *rows, const struct view *v, const void *of, const void *parent)
{
	rows->parent = parent;
	if (v->rows)
		v->rows(of, parent, rows);
	else
		array_rows(rows, v, of);
}

void view_rows_fill(struct view_rows *rows, const struct view *v, const void *of, const void *parent)
{
	struct view_rows parents = { 0 };

	if (!v->parent || parent) {
		rows_of(rows, v, of, parent);
		return;
	}
	view_rows_fill(&parents, v->parent, of, NULL);
	rows->failed |= parents.failed;
	for (size_t i = 0; i < parents.n; i++)
		rows_of(rows, v, of, parents.v[i].row);
	/* what was made for the parents is needed as long as what belongs to them */
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

void view_cell(const struct view_column *c, const void *of, const void *row, struct view_cell *cell)
{
	const char *at = (const char *)row + c->at;

	memset(cell, 0, offsetof(struct view_cell, shown) + 1);
	cell->known = true;
	if (c->get) {
		c->get(c, of, row, cell);
	} else {
		switch (c->as) {
		case VIEW_AS_U64: cell->n = *(const uint64_t *)at; break;
		case VIEW_AS_S64: cell->s = *(const int64_t *)at; break;
		case VIEW_AS_U32: cell->n = *(const uint32_t *)at; break;
		case VIEW_AS_U8: cell->n = *(const uint8_t *)at; break;
		case VIEW_AS_BOOL: cell->n = *(const bool *)at; break;
		case VIEW_AS_F64: cell->f = *(const double *)at; break;
		case VIEW_AS_POINTER: cell->text = *(const char *const *)at; break;
		case VIEW_AS_CHARS: cell->text = at; break;
		}
	}
	if (c->kind == VIEW_TEXT)
		cell->known &= cell->text && (cell->text[0] || c->flags & VIEW_EMPTY);
	else if (c->kind == VIEW_SHARE || c->kind == VIEW_NUMBER)
		cell->known &= !isnan(cell->f);
}

const char *view_csv_key(const struct view_column *c, char buf[64])
{
	bool ns = c->kind == VIEW_NS || c->kind == VIEW_SIGNED_NS;
	size_t len = strlen(c->key);

	if (ns && len > 3 && strcmp(c->key + len - 3, "_ns") == 0)
		snprintf(buf, 64, "%.*s_s", (int)len - 3, c->key);
	else
		snprintf(buf, 64, "%s", c->key);
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
