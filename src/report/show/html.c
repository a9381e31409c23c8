/* SPDX-License-Identifier: BSD-2-Clause */
/* A struct report as a page: that of page.h, around what report_json() says. */
#include "report/cpu/cpu.h"
#include "report/scan/model.h"
#include "report/show/page.h"
#include "report/show/page_around.h"
#include "report/show/show.h"

static int json_of(const void *r, FILE *out)
{
	return report_json(r, out);
}

static uint32_t bins(const void *r)
{
	return timeline_bins(((const struct report *)r)->timeline);
}

static void fold(void *r)
{
	timeline_fold(((struct report *)r)->timeline);
}

static bool thin(void *what)
{
	return report_thin(what);
}

bool report_thin(struct report *r)
{
	if (r->thin == REPORT_THIN_MAX)
		return false;
	r->thin++;
	if (r->cpu)
		r->cpu->thin = r->thin;
	return true;
}

void report_fit(struct report *r)
{
	const struct page_fit f = { .json = json_of, .what = r, .bins = bins, .fold = fold, .thin = thin };

	if (r->timeline)
		report_page_fit(&f);
}

int report_html(const struct report *r, FILE *out)
{
	return report_page(json_of, r, out);
}
