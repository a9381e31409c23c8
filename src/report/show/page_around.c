/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/show/page_around.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "report/show/page.h"
#include "report/show/show.h"

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

/* OUT NULL: only counted, in *BYTES. 0 or -errno. */
static int put_page(int (*json)(const void *what, FILE *out), const void *what, FILE *out, size_t *bytes)
{
	size_t len = 0;
	int error;
	autofree char *text = text_of(json, what, &len, &error), *views = report_views();

	if (!text || !views)
		return text ? -ENOMEM : error;
	*bytes = page_write(views, text, len, out);
	return 0;
}

int report_page(int (*json)(const void *what, FILE *out), const void *what, FILE *out)
{
	size_t bytes = 0;
	int res = put_page(json, what, out, &bytes);

	return res < 0 ? res : bytes > PAGE_BYTES_MAX;
}

size_t report_page_bytes(int (*json)(const void *what, FILE *out), const void *what)
{
	size_t bytes = 0;

	return put_page(json, what, NULL, &bytes) < 0 ? 0 : bytes;
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
