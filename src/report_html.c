/* SPDX-License-Identifier: BSD-2-Clause */
/* A struct report as a page: that of page.h, around what report_json() says. */
#include <errno.h>
#include <stdlib.h>

#include "page.h"
#include "report.h"
#include "util.h"

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
