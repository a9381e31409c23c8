/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/show/page.h"

#include <stdbool.h>
#include <string.h>

/* Where the JSON text belongs. */
#define PAGE_MARK "@data@"

/* build/page.html; the Makefile makes an object of it. */
extern const char page_html[], page_html_end[];

/*
 * What byte I of JSON is written as, *TAKEN bytes of it: NULL when as it is. No markup begins without '<',
 * and U+2028 and U+2029 end a line for some readers of JavaScript.
 */
static const char *escaped(const char *json, size_t i, size_t len, size_t *taken)
{
	*taken = 1;
	if (json[i] == '<')
		return "\\u003c";
	if (len - i < 3 || memcmp(json + i, "\xe2\x80", 2) != 0)
		return NULL;
	if (json[i + 2] != '\xa8' && json[i + 2] != '\xa9')
		return NULL;
	*taken = 3;
	return json[i + 2] == '\xa8' ? "\\u2028" : "\\u2029";
}

/* Blanks outside of strings are half of what a table of numbers takes. OUT NULL: only counted. */
static size_t write_json(const char *json, size_t len, FILE *out)
{
	size_t bytes = 0, taken;
	bool string = false;

	for (size_t i = 0; i < len; i += taken) {
		const char *instead = escaped(json, i, len, &taken);
		char c = json[i];

		if (!string && (c == ' ' || c == '\n' || c == '\t' || c == '\r'))
			continue;
		if (c == '"')
			string = !string;
		if (string && c == '\\' && i + 1 < len)
			taken = 2; /* what is escaped ends no string */
		bytes += instead ? strlen(instead) : taken;
		if (!out)
			continue;
		if (instead)
			fputs(instead, out);
		else
			fwrite(json + i, 1, taken, out);
	}
	return bytes;
}

size_t page_write(const char *json, size_t len, FILE *out)
{
	/* cppcheck-suppress comparePointers ; the symbols are both ends of one object, which the assembler makes */
	size_t size = (size_t)(page_html_end - page_html), head, bytes;
	const char *mark = memmem(page_html, size, PAGE_MARK, strlen(PAGE_MARK));
	const char *tail;

	/* assemble sees to it that there is one */
	if (!mark)
		/* cppcheck-suppress pointerOutOfBounds ; as above */
		mark = page_html_end - strlen(PAGE_MARK);
	/* cppcheck-suppress comparePointers ; as above */
	head = (size_t)(mark - page_html);
	tail = mark + strlen(PAGE_MARK);
	fwrite(page_html, 1, head, out);
	bytes = write_json(json, len, out);
	fwrite(tail, 1, (size_t)(page_html_end - tail), out);
	return head + bytes + (size_t)(page_html_end - tail);
}

size_t page_bytes(const char *json, size_t len)
{
	/* cppcheck-suppress comparePointers ; as above */
	return (size_t)(page_html_end - page_html) - strlen(PAGE_MARK) + write_json(json, len, NULL);
}
