/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page that shows a report in a browser: the files of src/report/show/page/, joined by the build and held in the
 * program. Knows nothing about reports.
 */
#ifndef REPORT_SHOW_PAGE_H
#define REPORT_SHOW_PAGE_H

#include <stddef.h>
#include <stdio.h>

/* A browser opens this size without delay; mail and bug trackers take it. */
#define PAGE_BYTES_MAX (5U << 20)

/*
 * Writes the page with JSON, a text of LEN bytes, and VIEWS, the description of its tables. Both are written without
 * blanks and line ends, and escaped so that they cannot end their HTML element. OUT NULL: only counts. Returns the
 * bytes written; errors stay in OUT.
 */
size_t page_write(const char *views, const char *json, size_t len, FILE *out);

#endif
