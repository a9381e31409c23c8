/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints a view for a terminal. Numbers are aligned to the right, texts to the left, two blanks after a number. The
 * column without a width comes last, wherever it is declared.
 */
#include "report/show/view/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"

#define INDENT 4U /* behind a break */
#define FREE_LEAST 20U /* columns of text without a width; the rest of a longer one is broken by whoever prints OUT */

static unsigned int fit_columns; /* 0: any */

void view_text_fit(unsigned int columns)
{
	fit_columns = columns;
}

/* A line before it is printed. */
struct line {
	FILE *out;
	unsigned int column;
	bool begun, after_number;
};

/* Puts what separates COLUMN from the column before: blanks, or a break, in heads and rows at the same place. */
static void separate(struct line *line, const struct view_column *column, const char *blanks)
{
	unsigned int width = column->width ? column->width : FREE_LEAST;

	if (line->begun && fit_columns && line->column + strlen(blanks) + width > fit_columns) {
		fprintf(line->out, "\n%*s", (int)INDENT, "");
		line->column = INDENT;
	} else if (line->begun) {
		fputs(blanks, line->out);
		line->column += (unsigned int)strlen(blanks);
	}
	line->column += width;
}

static void put(struct line *line, const struct view_column *column, const char *text)
{
	const bool is_text = column->kind == VIEW_TEXT;

	if (is_text && !column->width && !text[0])
		return;
	separate(line, column, is_text && line->after_number ? "  " : " ");
	if (is_text)
		fmt_text(line->out, text, (int)column->width);
	else
		fprintf(line->out, "%*s", (int)column->width, text);
	line->begun = true;
	line->after_number = !is_text;
}

static const char *percent(char buf[FMT_MAX], double share)
{
	snprintf(buf, FMT_MAX, "%.1f %%", 100 * share);
	return buf;
}

static const char *number(char buf[FMT_MAX], double v)
{
	snprintf(buf, FMT_MAX, "%.3g", v);
	return buf;
}

static const char *shown(const struct view_column *column, const struct view_cell *cell, char buf[FMT_MAX])
{
	if (cell->shown[0])
		return cell->shown;
	if (!cell->known || (column->flags & VIEW_DASH && !cell->n))
		return "-";
	switch (column->kind) {
	case VIEW_COUNT:
	case VIEW_ID:
		return fmt_count(buf, cell->n);
	case VIEW_BYTES:
		return fmt_bytes(buf, cell->n);
	case VIEW_NS:
		return fmt_ns(buf, cell->n);
	case VIEW_SHARE:
		return percent(buf, cell->f);
	case VIEW_NUMBER:
		return number(buf, cell->f);
	case VIEW_FLAG:
		return cell->n ? "yes" : "no";
	case VIEW_TEXT:
		return cell->text;
	default:
		return "";
	}
}

/* Whether C has no width and comes last; at most one does. */
static bool is_free(const struct view_column *c)
{
	return c->kind == VIEW_TEXT && !c->width;
}

/* Whether C is printed: among those with a width, or (FREE) as the last. */
static bool is_in(const struct view_column *c, bool free)
{
	return c->head && !(c->flags & VIEW_NO_TEXT) && is_free(c) == free;
}

/* VIEW_ROW NULL: prints the heads. */
static void row(const struct view *view, const void *of, const struct view_row *view_row, FILE *out)
{
	struct line l = { .out = out };
	struct view_cell cell;
	char buf[FMT_MAX];
	const void *in;

	for (int free = false; free <= true; free++)
		for (const struct view_column *c = NULL; (c = view_column_next(view, c, view_row, &in));) {
			if (!is_in(c, free))
				continue;
			if (view_row)
				view_cell(c, of, in, &cell);
			put(&l, c, view_row ? shown(c, &cell, buf) : c->head);
		}
	fputc('\n', out);
}

void view_text_heads(const struct view *v, FILE *out)
{
	row(v, NULL, NULL, out);
}

void view_fmt_line(const struct view *v, const void *of, const void *r, FILE *out)
{
	row(v, of, &(struct view_row){ .row = r }, out);
}

/* Prints the sum of rows without a line; columns that do not add up are blank. */
static void rest_line(const struct view *view, const void *of, const void *sum, uint64_t n, FILE *out)
{
	struct line l = { .out = out };
	char name[160];

	for (const struct view_column *c = view->columns; c->kind; c++) {
		struct view_cell cell;
		char buf[FMT_MAX];

		if (!is_in(c, false))
			continue;
		if (c->flags & (VIEW_SUM | VIEW_FOOT))
			view_cell(c, of, sum, &cell);
		put(&l, c, c->flags & (VIEW_SUM | VIEW_FOOT) ? shown(c, &cell, buf) : "");
	}
	view->rest->name(of, n, name, sizeof(name));
	fmt_line(out, "  ", name);
}

static void lines(const struct view *view, const void *of, const struct view_rows *rows, FILE *out)
{
	autofree void *sum = view->rest ? calloc(1, view->rest->size) : NULL;
	uint64_t others = 0, all = MAX(rows->total, rows->n);
	size_t n = 0;

	view_text_heads(view, out);
	for (size_t i = 0; i < rows->n; i++) {
		if (view->rest && sum && !view->rest->is_shown(of, rows->v[i].row)) {
			view->rest->add(sum, rows->v[i].row);
			others++;
		} else if (!view->shown || n < view->shown) {
			row(view, of, &rows->v[i], out);
			if (view->below)
				view->below(of, rows->v[i].row, out);
			n++;
		}
	}
	if (others)
		rest_line(view, of, sum, others, out);
	else if (!view->rest && all > n)
		fprintf(out, rows->n > n ? "and %s more: see --csv\n" : "and %s more\n", FMT_COUNT(all - n));
}

void view_title(FILE *out, const char *title)
{
	fprintf(out, "\n%s\n", title);
}

void view_text(const struct view *view, const void *of, FILE *out)
{
	struct view_rows rows = { 0 };

	view_rows_fill(&rows, view, of, NULL);
	if (rows.n || view->bare) {
		if (view->title)
			fprintf(out, view->note ? "\n%s (%s)\n" : "\n%s\n", view->title, view->note);
		lines(view, of, &rows, out);
	}
	if (rows.failed)
		fprintf(out, "not enough memory: this table is incomplete\n");
	view_rows_free(&rows);
}

void view_sections_text(const struct view_section *s, const void *of, bool sum, FILE *out)
{
	for (; s->view || s->text || s->json; s++) {
		if ((sum && !s->sum) || (s->has && !s->has(of)))
			continue;
		if (s->text)
			s->text(of, out);
		else if (s->view && s->view->title)
			view_text(s->view, of, out);
	}
}
