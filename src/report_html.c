/* SPDX-License-Identifier: BSD-2-Clause */
/* A struct report as a page: that of page.h, around what report_json() says. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "page.h"
#include "report.h"
#include "util.h"

#define BINS_LEAST 64 /* what is too large then is so by something else */

static size_t bytes_of(const struct report *r)
{
	autofree char *json = NULL;
	size_t len = 0;
	FILE *mem = open_memstream(&json, &len);
	bool ok = mem && report_json(r, mem) == 0;

	if (mem && fclose(mem) != 0)
		ok = false;
	return ok ? page_bytes(json, len) : 0;
}

void report_fit(struct report *r)
{
	struct timeline *t = r->timeline;

	while (t && timeline_bins(t) > BINS_LEAST && bytes_of(r) > PAGE_BYTES_MAX)
		timeline_fold(t);
}

int report_html(const struct report *r, FILE *out)
{
	autofree char *json = NULL;
	size_t len = 0;
	FILE *mem = open_memstream(&json, &len);
	int res;

	if (!mem)
		return -errno;
	res = report_json(r, mem);
	if (fclose(mem) != 0 && !res)
		res = -ENOMEM;
	if (res < 0)
		return res;
	return page_write(json, len, out) > PAGE_BYTES_MAX ? 1 : 0;
}
