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
	size_t is = r->timeline ? report_page_bytes(json_of, r) : 0, was;

	while (is > PAGE_BYTES_MAX && timeline_bins(r->timeline) > BINS_LEAST) {
		was = is;
		timeline_fold(r->timeline);
		is = report_page_bytes(json_of, r);
		/* what goes with the bins is twice what is gone: where the rest is too large, fewer bins do not help */
		if (is > was || is - (was - is) > PAGE_BYTES_MAX)
			return;
	}
}

int report_html(const struct report *r, FILE *out)
{
	return report_page(json_of, r, out);
}
