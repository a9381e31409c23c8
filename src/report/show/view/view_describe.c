/* SPDX-License-Identifier: BSD-2-Clause */
/* Describes a view: as JSON, for the page that shows it, and as Markdown, for `dltraced report --columns'. */
#include "report/show/view/view.h"

#include <string.h>

#include "base/json.h"

/* The names of kinds of numbers, for the page. */
static const char *const kind_names[] = {
	[VIEW_COUNT] = "count",   [VIEW_ID] = "id",        [VIEW_BYTES] = "bytes",
	[VIEW_NS] = "ns",         [VIEW_SIGNED_NS] = "ns", [VIEW_SHARE] = "share",
	[VIEW_NUMBER] = "number", [VIEW_TEXT] = "text",    [VIEW_FLAG] = "flag",
};

/* --- for the page ------------------------------------------------------------------------------------------- */

/* Puts the columns with a full name (NAMES), or the others. */
static void columns_json(const struct view_column *columns, unsigned int flags, bool names, struct json *json)
{
	for (const struct view_column *c = columns; c->kind; c++) {
		if (!c->key || !c->head || (c->flags & flags) != flags || (c->kind == VIEW_TEXT && !c->width) != names)
			continue;
		json_object(json, NULL);
		json_str(json, "key", c->key);
		json_str(json, "head", c->head);
		json_str(json, "kind", kind_names[c->kind]);
		json_str(json, "what", c->what);
		json_end(json);
	}
}

static void describe(const struct view *view, struct json *json)
{
	if (!view->title || !view->key)
		return;
	json_object(json, NULL);
	json_str(json, "key", view->parent ? view->parent->key : view->key);
	if (view->parent)
		json_str(json, "list", view->key);
	if (view->inside)
		json_str(json, "inside", view->inside);
	if (view->total)
		json_str(json, "total", view->total);
	if (view->left_out)
		json_str(json, "left_out", view->left_out);
	if (view->part)
		json_bool(json, "parts", true);
	json_str(json, "title", view->title);
	json_array(json, "columns");
	for (int names = 1; view->parent && names >= 0; names--)
		columns_json(view->parent->columns, VIEW_KEY, names, json);
	for (int names = 1; names >= 0; names--)
		columns_json(view->columns, 0, names, json);
	json_end(json);
	json_end(json);
}

/* --- for people ---------------------------------------------------------------------------------------------- */

/* Both may be NULL. */
static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_alike(const struct view_column *a, const struct view_column *b)
{
	return is_same(a->key, b->key) && is_same(a->what, b->what) &&
	       (a->flags & VIEW_NO_JSON) == (b->flags & VIEW_NO_JSON);
}

/* Returns whether column C of V has the meaning that a column of its name had last, in the views of SECTIONS before V.
 */
static bool is_explained(const struct view_section *sections, const struct view *v, const struct view_column *c)
{
	const char *last = NULL;
	const void *row;

	for (; sections->view != v; sections++)
		for (const struct view_column *e = NULL;
		     sections->view && (e = view_column_next(sections->view, e, NULL, &row));)
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

static void columns_markdown(const struct view_section *sections, const struct view *view, FILE *out)
{
	const struct view *same = same_columns(sections, view);
	const char *comma = "", *what = NULL;
	const void *row;

	if (same) {
		fprintf(out, "columns of `%s`", same->key);
		return;
	}
	for (const struct view_column *column = NULL; (column = view_column_next(view, column, NULL, &row));) {
		const bool json = view->key && !(column->flags & VIEW_NO_JSON);

		if (!column->key)
			continue;
		fputs(comma, out);
		fprintf(out, json ? "`%s`" : "%s", json ? column->key : view_csv_key(column, (char[64]){ 0 }));
		if (column->what && !is_same(column->what, what) && !is_explained(sections, view, column))
			fprintf(out, " (%s)", column->what);
		what = column->what;
		comma = ", ";
	}
}

static const char *what_is(const struct view *v)
{
	return v->what ? v->what : v->title;
}

static void name_markdown(const struct view *view, FILE *out)
{
	const char *csv = view_csv_name(view, (char[96]){ 0 });

	if (view->key && view->parent)
		fprintf(out, "**`%s[].%s`**", view->parent->key, view->key);
	else if (view->key)
		fprintf(out, "**`%s%s%s`**", view->key, view->inside ? "." : "", view->inside ? view->inside : "");
	if (view->total)
		fprintf(out, ", `%s%s%s`", view->inside ? view->key : "", view->inside ? "." : "", view->total);
	if (view->left_out)
		fprintf(out, ", `%s`", view->left_out);
	if (csv && !view->key)
		fprintf(out, "**%s.csv**", csv);
	else if (!csv)
		fputs(" (JSON alone)", out);
}

/* Returns whether the entry of V names W, too. */
static bool names_too(const struct view *v, const struct view *w)
{
	return v && w && v->key && w->key && is_same(what_is(v), what_is(w)) && have_same_columns(v, w);
}

/* A member, or several that are alike, and its columns. A meaning that a column or the one before it has already is
 * left out. */
static void markdown(const struct view_section *sections, const struct view_section *section, FILE *out)
{
	const char *what = what_is(section->view);

	fputs("- ", out);
	name_markdown(section->view, out);
	for (const struct view_section *next = section + 1; names_too(section->view, next->view); next++) {
		fputs(", ", out);
		name_markdown(next->view, out);
	}
	fprintf(out, "%s%s  \n  ", what ? ": " : "", what ? what : "");
	columns_markdown(sections, section->view, out);
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
