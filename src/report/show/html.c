/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes pages: puts the JSON of a report into the page of page.h, and shortens what is too large. */
#include <errno.h>

#include "base/json.h"
#include "base/util.h"
#include "report/cpu/cpu.h"
#include "report/scan/model.h"
#include "report/show/json.h"
#include "report/show/page.h"
#include "report/show/show.h"

#define BINS_LEAST 64 /* a page that is too large with so few bins is so for another reason */

int report_page(struct json *json, FILE *out)
{
	autofree char *views = report_views();
	int res = json_finish(json);
	size_t bytes = 0;

	if (res == 0 && !views)
		res = -ENOMEM;
	if (res == 0)
		bytes = page_write(views, json->buf, json->len, out);
	json_free(json);
	return res < 0 ? res : bytes > PAGE_BYTES_MAX;
}

/* --- fitting --------------------------------------------------------------------------------------------- */

/* Builds J's object. Returns the page's size; 0 when memory is out. */
static size_t page_bytes(const struct page_fit *f, struct json *j)
{
	autofree char *views = report_views();

	json_free(j);
	f->build(f->what, j);
	return views && !j->error ? page_write(views, j->buf, j->len, NULL) : 0;
}

static bool thin_one(struct report *r)
{
	if (r->thin == REPORT_THIN_MAX)
		return false;
	r->thin++;
	if (r->cpu)
		r->cpu->thin = r->thin;
	return true;
}

static bool thin(const struct page_fit *f)
{
	bool any = false;

	for (unsigned int i = 0; i < f->n; i++)
		any |= thin_one(f->reports[i]);
	return any;
}

/*
 * Each fold of the bins halves the part of the page that depends on them. Where the rest alone exceeds the limit, folds
 * do not help: then lists are shortened before the next fold.
 */
void report_page_fit(const struct page_fit *fit, struct json *json)
{
	size_t is = page_bytes(fit, json), rest = 0, before;

	while (is > PAGE_BYTES_MAX) {
		before = is;
		if (rest <= PAGE_BYTES_MAX && timeline_bins(fit->reports[0]->timeline) > BINS_LEAST) {
			for (unsigned int i = 0; i < fit->n; i++)
				timeline_fold(fit->reports[i]->timeline);
			is = page_bytes(fit, json);
			rest = is - MIN(is, before - MIN(is, before));
		} else if (thin(fit)) {
			is = page_bytes(fit, json);
			rest -= MIN(rest, before - MIN(is, before));
		} else {
			return;
		}
	}
}

/* --- one report ------------------------------------------------------------------------------------------- */

static void build(const void *r, struct json *j)
{
	report_json(r, j);
}

void report_fit(struct report *r, struct json *j)
{
	const struct page_fit f = { .build = build, .what = r, .reports = &r, .n = 1 };

	if (r->timeline)
		report_page_fit(&f, j);
	else
		report_json(r, j);
}
