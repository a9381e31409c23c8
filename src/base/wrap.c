/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/wrap.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/fmt.h"
#include "base/text.h"
#include "base/util.h"

#define LEAST 4U /* columns of text in a line, however far it is indented */

/* Returns TEXT as SHOW, fmt_text() or fmt_plain(), has it; free() it, NULL when memory is out. */
static char *printable(const char *text, void (*show)(FILE *out, const char *s, int width))
{
	char *buf = NULL;
	size_t len;
	FILE *f = open_memstream(&buf, &len);

	if (!f)
		return NULL;
	show(f, text, 0);
	return fclose(f) == 0 ? buf : NULL;
}

/* Returns the bytes of the first COLUMNS characters of S, and in *USED how many characters these are. */
static size_t clip(const char *s, size_t bytes, unsigned int columns, unsigned int *used)
{
	size_t at = 0;

	for (*used = 0; at < bytes && *used < columns; ++*used)
		at += MAX(text_utf8_len(s + at, bytes - at), 1U);
	return at;
}

/* Whether S, LEN bytes long, is a unit behind a number, with any punctuation at its end. */
static bool is_unit(const char *s, size_t len)
{
	static const char *const units[] = { "%", "ns", "us", "ms", "s", "B", "KiB", "MiB", "GiB", "TiB" };

	while (len && strchr("),;:.", s[len - 1]))
		len--;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (strlen(units[i]) == len && memcmp(units[i], s, len) == 0)
			return true;
	return false;
}

/* Returns the length of the word that TEXT begins with: a number keeps its unit, where a line of MOST has room. */
static size_t word_of(const char *text, size_t most)
{
	const size_t len = strcspn(text, " "), next = text[len] ? strcspn(text + len + 1, " ") : 0;

	if (len && next && len + 1 + next <= most && text[len - 1] >= '0' && text[len - 1] <= '9' &&
	    is_unit(text + len + 1, next))
		return len + 1 + next;
	return len;
}

static void put_words(FILE *out, const char *text, unsigned int indent, unsigned int width)
{
	unsigned int column = indent;
	bool blank = false;

	width = MAX(width, indent + LEAST);
	while (*text) {
		size_t word = word_of(text, width - indent), part;
		unsigned int used;

		clip(text, word, UINT32_MAX, &used);
		if (column > indent && column + blank + used > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
			blank = false;
		}
		if (blank) {
			putc(' ', out);
			column++;
		}
		part = clip(text, word, width - column, &used);
		fwrite(text, 1, part, out);
		column += used;
		text += part;
		/* in the middle of a word the line is full, and the next round breaks it */
		blank = *text == ' ';
		text += strspn(text, " ");
	}
}

void wrap_text(FILE *out, const char *text, unsigned int indent, unsigned int width)
{
	autofree char *shown = printable(text, fmt_text);

	put_words(out, shown ? shown : "", indent, width);
	putc('\n', out);
}

void wrap_plain(FILE *out, const char *text, unsigned int indent, unsigned int width)
{
	autofree char *shown = printable(text, fmt_plain);

	put_words(out, shown ? shown : "", indent, width);
	putc('\n', out);
}

void wrap_from(FILE *out, unsigned int indent, const char *text, unsigned int width)
{
	fprintf(out, "%*s", (int)indent, "");
	wrap_text(out, text, indent, width);
}
