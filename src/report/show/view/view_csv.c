/* SPDX-License-Identifier: BSD-2-Clause */
/* A view as a CSV file: all rows, in columns that have a key. */
#include "report/show/view/view.h"

#include <errno.h>
#include <inttypes.h>

#include "base/csv.h"

static bool is_column(const struct view_column *c)
{
	return c->key && c->kind != VIEW_ROWS && c->kind != VIEW_JSON && !(c->flags & VIEW_NO_CSV);
}

static void cell(const struct view_column *column, const void *of, const void *row, struct csv *csv)
{
	struct view_cell v;

	view_cell(column, of, row, &v);
	if (!v.known) {
		csv_number(csv, "%s", "");
		return;
	}
	switch (column->kind) {
	case VIEW_NS:
		csv_seconds(csv, false, v.n);
		break;
	case VIEW_SIGNED_NS:
		csv_seconds(csv, v.s < 0, v.s < 0 ? -(uint64_t)v.s : (uint64_t)v.s);
		break;
	case VIEW_SHARE:
	case VIEW_NUMBER:
		csv_number(csv, "%.6f", v.f);
		break;
	case VIEW_TEXT:
		csv_text(csv, v.text);
		break;
	default:
		csv_number(csv, "%" PRIu64, v.n);
	}
}

/* ROW NULL: prints the heads. */
static void line(const struct view *v, const void *of, const struct view_row *row, struct csv *csv)
{
	const void *in;

	for (const struct view_column *c = NULL; (c = view_column_next(v, c, row, &in));)
		if (is_column(c) && row)
			cell(c, of, in, csv);
		else if (is_column(c))
			csv_text(csv, view_csv_key(c, (char[64]){ 0 }));
	csv_end(csv);
}

int view_csv(const struct view *view, const void *of, int dirfd)
{
	struct view_rows rows = { 0 };
	char buf[96], name[128];
	struct csv csv;
	bool failed;
	int res;

	if (!view_csv_name(view, buf))
		return 0;
	snprintf(name, sizeof(name), "%s.csv", view_csv_name(view, buf));
	res = csv_open(&csv, dirfd, name);
	if (res < 0)
		return res;
	line(view, of, NULL, &csv);
	view_rows_fill(&rows, view, of, NULL);
	for (size_t i = 0; i < rows.n; i++)
		line(view, of, &rows.v[i], &csv);
	failed = rows.failed;
	view_rows_free(&rows);
	res = csv_close(&csv);
	return failed ? -ENOMEM : res;
}

int view_sections_csv(const struct view_section *s, const void *of, int dirfd)
{
	int res = 0;

	for (; res == 0 && (s->view || s->text || s->json); s++)
		if (s->view)
			res = view_csv(s->view, of, dirfd);
	return res;
}
