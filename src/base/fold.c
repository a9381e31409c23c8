/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/fold.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"

#define INDENT 4U

struct fold {
	FILE *out;
	unsigned int width;
	char *line; /* what came of a line that has not ended */
	size_t len, size;
};

/* Returns how many bytes of S go into a line of WIDTH columns: up to its last blank, or as many as fit. */
static size_t part_of(const char *s, unsigned int width)
{
	size_t fits = (size_t)fmt_fits(s, width), n = fits;

	if (!s[fits] || s[fits] == ' ')
		return fits;
	while (n && s[n - 1] != ' ')
		n--;
	return strspn(s, " ") < n ? n : MAX(fits, (size_t)1); /* blanks at the beginning are no place for a break */
}

/* Puts the N bytes of S, without the blanks at their end if there is MORE. */
static void put_part(struct fold *f, const char *s, size_t n, bool more)
{
	while (more && n && s[n - 1] == ' ')
		n--;
	fwrite(s, 1, n, f->out);
}

static void put_line(struct fold *fold, const char *s)
{
	size_t n = part_of(s, fold->width);

	put_part(fold, s, n, s[n]);
	for (s += n; *(s += strspn(s, " ")); s += n) {
		n = part_of(s, fold->width - INDENT);
		fprintf(fold->out, "\n%*s", (int)INDENT, "");
		put_part(fold, s, n, s[n]);
	}
	fputc('\n', fold->out);
}

static ssize_t fold_write(void *cookie, const char *data, size_t len)
{
	struct fold *fold = cookie;
	char *end;

	if (fold->size - fold->len <= len) {
		char *more = realloc(fold->line, 2 * (fold->len + len) + 1);

		if (!more)
			return 0;
		fold->line = more;
		fold->size = 2 * (fold->len + len) + 1;
	}
	memcpy(fold->line + fold->len, data, len);
	fold->len += len;
	fold->line[fold->len] = '\0';
	while ((end = memchr(fold->line, '\n', fold->len))) {
		*end = '\0';
		put_line(fold, fold->line);
		fold->len -= (size_t)(end + 1 - fold->line);
		memmove(fold->line, end + 1, fold->len + 1);
	}
	fflush(fold->out); /* so that who flushes this stream sees the text before what follows elsewhere */
	return (ssize_t)len;
}

static int fold_close(void *cookie)
{
	struct fold *f = cookie;

	if (f->len)
		put_line(f, f->line);
	free(f->line);
	free(f);
	return 0;
}

FILE *fold_open(FILE *out, unsigned int width)
{
	struct fold *f = calloc(1, sizeof(*f));
	FILE *stream =
		f ? fopencookie(f, "w", (cookie_io_functions_t){ .write = fold_write, .close = fold_close }) : NULL;

	if (!stream) {
		free(f);
		return NULL;
	}
	f->out = out;
	f->width = MAX(width, 2 * INDENT);
	return stream;
}
