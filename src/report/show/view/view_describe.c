/* SPDX-License-Identifier: BSD-2-Clause */
/* Describes a view: as JSON, for the page that shows it, and as Markdown, for docs/report-json.md. */
#include "report/show/view/view.h"

#include <string.h>

#include "base/json.h"

/* The names of kinds of numbers, for the page and the docs. */
static const char *const kind_names[] = {
	[VIEW_COUNT] = "count", [VIEW_ID] = "id", [VIEW_BYTES] = "bytes", [VIEW_NS] = "ns", [VIEW_SIGNED_NS] = "ns",
	[VIEW_SHARE] = "share", [VIEW_NUMBER] = "number", [VIEW_TEXT] = "text", [VIEW_FLAG] = "flag",
};

/* --- for the page ------------------------------------------------------------------------------------------- */

/* Puts the columns with a full name (NAMES), or the others. */
static void columns_json(const struct view_column *columns, unsigned int flags, bool names, struct json *j)
{
	for (const struct view_column *c = columns; c->kind; c++) {
		if (!c->key || !c->head || (c->flags & flags) != flags || (c->kind == VIEW_TEXT && !c->width) != names)
			continue;
		json_object(j, NULL);
		json_str(j, "key", c->key);
		json_str(j, "head", c->head);
		json_str(j, "kind", kind_names[c->kind]);
		json_str(j, "what", c->what);
		json_end(j);
	}
}

static void describe(const struct view *v, struct json *j)
{
	if (!v->title || !v->key)
		return;
	json_object(j, NULL);
	json_str(j, "key", v->parent ? v->parent->key : v->key);
	if (v->parent)
		json_str(j, "list", v->key);
	if (v->inside)
		json_str(j, "inside", v->inside);
	if (v->total)
		json_str(j, "total", v->total);
	if (v->left_out)
		json_str(j, "left_out", v->left_out);
	if (v->part)
		json_bool(j, "parts", true);
	json_str(j, "title", v->title);
	json_array(j, "columns");
	for (int names = 1; v->parent && names >= 0; names--)
		columns_json(v->parent->columns, VIEW_KEY, names, j);
	for (int names = 1; names >= 0; names--)
		columns_json(v->columns, 0, names, j);
	json_end(j);
	json_end(j);
}

/* --- for the docs -------------------------------------------------------------------------------------------- */

/* Both may be NULL. */
static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_alike(const struct view_column *a, const struct view_column *b)
{
	return is_same(a->key, b->key) && is_same(a->what, b->what) && (a->flags & VIEW_NO_JSON) == (b->flags & VIEW_NO_JSON);
}

/* Returns whether column C of V has the meaning that a column of its name had last, in the views of SECTIONS before V. */
static bool is_explained(const struct view_section *sections, const struct view *v, const struct view_column *c)
{
	const char *last = NULL;
	const void *row;

	for (; sections->view != v; sections++)
		for (const struct view_column *e = NULL; sections->view && (e = view_column_next(sections->view, e, NULL, &row));)
			if (e->what && is_same(e->key, c->key))
				last = e->what;
	return is_same(last, c->what);
}

static bool have_same_columns(const struct view *v, const struct view *w)
{
	const struct view_column *a = NULL, *b = NULL;
	const void *row;

	do {
		a = view_column_next(v, a, NULL, &row);
		b = view_column_next(w, b, NULL, &row);
	} while (a && b && is_alike(a, b));
	return !a && !b;
}

/* Returns a view of SECTIONS before V that has its columns, or NULL. */
static const struct view *same_columns(const struct view_section *sections, const struct view *v)
{
	for (; sections->view != v; sections++)
		if (sections->view && sections->view->key && v->key && have_same_columns(sections->view, v))
			return sections->view;
	return NULL;
}

static void columns_markdown(const struct view_section *sections, const struct view *v, FILE *out)
{
	const struct view *same = same_columns(sections, v);
	const char *comma = "", *what = NULL;
	const void *row;

	if (same) {
		fprintf(out, "columns of `%s`", same->key);
		return;
	}
	for (const struct view_column *c = NULL; (c = view_column_next(v, c, NULL, &row));) {
		const bool json = v->key && !(c->flags & VIEW_NO_JSON);

		if (!c->key)
			continue;
		fputs(comma, out);
		fprintf(out, json ? "`%s`" : "%s", json ? c->key : view_csv_key(c, (char[64]){ 0 }));
		if (c->what && !is_same(c->what, what) && !is_explained(sections, v, c))
			fprintf(out, " (%s)", c->what);
		what = c->what;
		comma = ", ";
	}
}

static const char *what_is(const struct view *v)
{
	return v->what ? v->what : v->title;
}

static void name_markdown(const struct view *v, FILE *out)
{
	const char *csv = view_csv_name(v, (char[96]){ 0 });

	if (v->key && v->parent)
		fprintf(out, "**`%s[].%s`**", v->parent->key, v->key);
	else if (v->key)
		fprintf(out, "**`%s%s%s`**", v->key, v->inside ? "." : "", v->inside ? v->inside : "");
	if (v->total)
		fprintf(out, ", `%s%s%s`", v->inside ? v->key : "", v->inside ? "." : "", v->total);
	if (v->left_out)
		fprintf(out, ", `%s`", v->left_out);
	if (csv && !v->key)
		fprintf(out, "**%s.csv**", csv);
	else if (!csv)
		fputs(" (JSON alone)", out);
}

/* Returns whether the entry of V names W, too. */
static bool names_too(const struct view *v, const struct view *w)
{
	return v && w && v->key && w->key && is_same(what_is(v), what_is(w)) && have_same_columns(v, w);
}

/* A member, or several that are alike, and its columns. A meaning that a column or the one before it has already is left out. */
static void markdown(const struct view_section *sections, const struct view_section *s, FILE *out)
{
	const char *what = what_is(s->view);

	fputs("- ", out);
	name_markdown(s->view, out);
	for (const struct view_section *next = s + 1; names_too(s->view, next->view); next++) {
		fputs(", ", out);
		name_markdown(next->view, out);
	}
	fprintf(out, "%s%s  \n  ", what ? ": " : "", what ? what : "");
	columns_markdown(sections, s->view, out);
	fputs("\n", out);
}

void view_sections_describe(const struct view_section *s, struct json *j)
{
	for (; s->view || s->text || s->json; s++)
		if (s->view)
			describe(s->view, j);
}

void view_sections_markdown(const struct view_section *sections, FILE *out)
{
	for (const struct view_section *s = sections; s->view || s->text || s->json; s++)
		if (s->view && !(s > sections && names_too(s[-1].view, s->view)))
			markdown(sections, s, out);
}
