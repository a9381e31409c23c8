/* SPDX-License-Identifier: BSD-2-Clause */
/* page: the page of dltraced report --html around the JSON text on stdin, on stdout. */
#include <stdio.h>
#include <stdlib.h>

#include "base/util.h"
#include "report/show/page.h"
#include "report/show/show.h"

int main(void)
{
	autofree char *json = NULL, *views = report_views();
	size_t len;

	if (!views || util_read_fd(STDIN_FILENO, 256U << 20, &json, &len) < 0)
		return 1;
	page_write(views, json, len, stdout);
	return fflush(stdout) != 0 || ferror(stdout);
}
