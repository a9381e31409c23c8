/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page that shows a report in a browser: src/report/show/page/ in one piece, put together by the build and held in
 * the program. Knows nothing of what a report says.
 */
#ifndef REPORT_SHOW_PAGE_H
#define REPORT_SHOW_PAGE_H

#include <stddef.h>
#include <stdio.h>

/* What a browser opens without delay; also what mail and trackers take. */
#define PAGE_BYTES_MAX (5U << 20)

/*
 * Write the page with the JSON text of LEN bytes in it, and with VIEWS, which says what its tables hold, without blanks
 * and line ends, and so that nothing in them can end the element that it stands in. OUT NULL: only counted. Returns the
 * bytes written; errors stay in OUT.
 */
size_t page_write(const char *views, const char *json, size_t len, FILE *out);

#endif
