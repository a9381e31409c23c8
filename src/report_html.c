/* SPDX-License-Identifier: BSD-2-Clause */
/* A struct report as a page: that of page.h, around what report_json() says. */
#include "page.h"
#include "report.h"
#include "report_page.h"

#define BINS_LEAST 64 /* what is too large then is so by something else */

static int json_of(const void *r, FILE *out)
{
	return report_json(r, out);
}

void report_fit(struct report *r)
{
	struct timeline *t = r->timeline;

	while (t && timeline_bins(t) > BINS_LEAST && report_page_bytes(json_of, r) > PAGE_BYTES_MAX)
		timeline_fold(t);
}

int report_html(const struct report *r, FILE *out)
{
	return report_page(json_of, r, out);
}
