/* SPDX-License-Identifier: BSD-2-Clause */
/* The page of page.h around what a function prints as JSON. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include <stddef.h>
#include <stdio.h>

/* 0, 1 when the page is larger than PAGE_BYTES_MAX, or -errno; errors of writing stay in OUT. */
int report_page(int (*json)(const void *what, FILE *out), const void *what, FILE *out);

/* How large it would be; 0 where there is no memory for it. */
size_t report_page_bytes(int (*json)(const void *what, FILE *out), const void *what);

#endif
