/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/show/page_around.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "report/show/page.h"

#define BINS_LEAST 64 /* what is too large then is so by something else */

/* What JSON prints of WHAT, in memory: free() it. NULL: *ERROR says why. */
static char *text_of(int (*json)(const void *what, FILE *out), const void *what, size_t *len, int *error)
{
	char *text = NULL;
	FILE *mem = open_memstream(&text, len);

	*error = mem ? json(what, mem) : -errno;
	if (mem && fclose(mem) != 0 && !*error)
		*error = -ENOMEM;
	if (*error == 0)
		return text;
	free(text);
	return NULL;
}

int report_page(int (*json)(const void *what, FILE *out), const void *what, FILE *out)
{
	size_t len = 0;
	int error;
	autofree char *text = text_of(json, what, &len, &error);

	if (!text)
		return error;
	return page_write(text, len, out) > PAGE_BYTES_MAX ? 1 : 0;
}

size_t report_page_bytes(int (*json)(const void *what, FILE *out), const void *what)
{
	size_t len = 0;
	int error;
	autofree char *text = text_of(json, what, &len, &error);

	return text ? page_bytes(text, len) : 0;
}

/*
 * What goes with the bins is twice what a fold takes away: where the rest is too large by itself, fewer bins do not help,
 * and lists get shorter before more of them are folded.
 */
void report_page_fit(const struct page_fit *f)
{
	size_t is = report_page_bytes(f->json, f->what), rest = 0, before;

	while (is > PAGE_BYTES_MAX) {
		before = is;
		if (rest <= PAGE_BYTES_MAX && f->bins(f->what) > BINS_LEAST) {
			f->fold(f->what);
			is = report_page_bytes(f->json, f->what);
			rest = is - MIN(is, before - MIN(is, before));
		} else if (f->thin(f->what)) {
			is = report_page_bytes(f->json, f->what);
			rest -= MIN(rest, before - MIN(is, before));
		} else {
			return;
		}
	}
}
