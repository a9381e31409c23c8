/* SPDX-License-Identifier: BSD-2-Clause */
/* Describes a view: as JSON, for the page that shows it, and as Markdown, for docs/report-json.md. */
#include "report/show/view/view.h"

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

static void columns_markdown(const struct view *v, FILE *out)
{
	const char *comma = "";
	const void *row;

	for (const struct view_column *c = NULL; (c = view_column_next(v, c, NULL, &row));) {
		const bool json = v->key && !(c->flags & VIEW_NO_JSON);

		if (!c->key)
			continue;
		fputs(comma, out);
		fprintf(out, json ? "`%s`" : "%s", json ? c->key : view_csv_key(c, (char[64]){ 0 }));
		if (c->what)
			fprintf(out, " (%s)", c->what);
		comma = ", ";
	}
}

static void markdown(const struct view *v, FILE *out)
{
	const char *csv = view_csv_name(v, (char[96]){ 0 });

	fputs("|", out);
	if (v->key && v->parent)
		fprintf(out, " `%s[].%s`", v->parent->key, v->key);
	else if (v->key)
		fprintf(out, " `%s%s%s`", v->key, v->inside ? "." : "", v->inside ? v->inside : "");
	if (v->total)
		fprintf(out, ", `%s%s%s`", v->inside ? v->key : "", v->inside ? "." : "", v->total);
	if (v->left_out)
		fprintf(out, ", `%s`", v->left_out);
	fprintf(out, " | %s%s | ", csv ? csv : "", csv ? ".csv" : "");
	columns_markdown(v, out);
	fprintf(out, " | %s |\n", v->what ? v->what : v->title ? v->title : "");
}

void view_sections_describe(const struct view_section *s, struct json *j)
{
	for (; s->view || s->text || s->json; s++)
		if (s->view)
			describe(s->view, j);
}

void view_sections_markdown(const struct view_section *s, FILE *out)
{
	fputs("| key | CSV file | columns | what |\n|---|---|---|---|\n", out);
	for (; s->view || s->text || s->json; s++)
		if (s->view)
			markdown(s->view, out);
}
