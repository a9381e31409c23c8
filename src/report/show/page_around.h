/* SPDX-License-Identifier: BSD-2-Clause */
/* The page of page.h around what a function prints as JSON. */
#ifndef REPORT_SHOW_PAGE_AROUND_H
#define REPORT_SHOW_PAGE_AROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* 0, 1 when the page is larger than PAGE_BYTES_MAX, or -errno; errors of writing stay in OUT. */
int report_page(int (*json)(const void *what, FILE *out), const void *what, FILE *out);

/* How large it would be; 0 where there is no memory for it. */
size_t report_page_bytes(int (*json)(const void *what, FILE *out), const void *what);

/* What can be made smaller: longer bins, of which there are BINS, and shorter lists. */
struct page_fit {
	int (*json)(const void *what, FILE *out);
	void *what;
	uint32_t (*bins)(const void *what);
	void (*fold)(void *what);
	bool (*thin)(void *what); /* false: lists are as short as they get */
};

/* Until the page has PAGE_BYTES_MAX at most, or nothing is left to make smaller. */
void report_page_fit(const struct page_fit *f);

#endif
