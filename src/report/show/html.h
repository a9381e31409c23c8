/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages around JSON objects of reports. */
#ifndef REPORT_SHOW_HTML_H
#define REPORT_SHOW_HTML_H

#include <stdio.h>

struct json;
struct report;

/* The page around J, which is freed. 0, 1 when it is larger than PAGE_BYTES_MAX, or -errno; errors of writing stay in OUT. */
int report_page(struct json *j, FILE *out);

/* A page that BUILD makes the object of, and the N reports that make it large. */
struct page_fit {
	void (*build)(const void *what, struct json *j);
	const void *what;
	struct report *const *reports;
	unsigned int n;
};

/* Longer bins and shorter lists, until the page has PAGE_BYTES_MAX at most, or nothing is left to make smaller. */
void report_page_fit(const struct page_fit *f);

#endif
