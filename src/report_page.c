/* SPDX-License-Identifier: BSD-2-Clause */
#include "report_page.h"

#include <errno.h>
#include <stdlib.h>

#include "page.h"
#include "util.h"

int report_page(int (*json)(const void *what, FILE *out), const void *what, FILE *out)
{
	autofree char *text = NULL;
	size_t len = 0;
	FILE *mem = open_memstream(&text, &len);
	int res;

	if (!mem)
		return -errno;
	res = json(what, mem);
	if (fclose(mem) != 0 && !res)
		res = -ENOMEM;
	if (res < 0)
		return res;
	return page_write(text, len, out) > PAGE_BYTES_MAX ? 1 : 0;
}
