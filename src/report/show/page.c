/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/show/page.h"

#include <stdbool.h>
#include <string.h>

/* The places of the JSON texts, in the order in which they are in the page. */
#define VIEWS_MARK "@views@"
#define DATA_MARK "@data@"

/* The text of build/page.html, which the Makefile turns into an object file. */
extern const char page_html[], page_html_end[];

/*
 * Returns the escape for byte I of JSON, and in *TAKEN how many bytes it replaces; NULL: none is needed. Markup needs a
 * '<', and U+2028 and U+2029 end a line for some parsers of JavaScript.
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

/* Writes JSON without blanks outside of strings, which are half of a table of numbers. OUT NULL: only counts. */
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
			taken = 2; /* an escaped quote does not end the string */
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

/* Writes the page from *AT to MARK, and JSON in place of MARK; *AT is then after it. */
static size_t write_part(const char **at, const char *mark, const char *json, size_t len, FILE *out)
{
	/* cppcheck-suppress comparePointers ; the symbols are both ends of one object, which the assembler makes */
	const char *end = memmem(*at, (size_t)(page_html_end - *at), mark, strlen(mark));
	size_t before;

	/* page/assemble makes sure that there is one */
	if (!end)
		return 0;
	before = (size_t)(end - *at);
	if (out)
		fwrite(*at, 1, before, out);
	*at = end + strlen(mark);
	return before + write_json(json, len, out);
}

size_t page_write(const char *views, const char *json, size_t len, FILE *out)
{
	const char *at = page_html;
	size_t bytes = write_part(&at, VIEWS_MARK, views, strlen(views), out), rest;

	bytes += write_part(&at, DATA_MARK, json, len, out);
	/* cppcheck-suppress comparePointers ; as above */
	rest = (size_t)(page_html_end - at);
	if (out)
		fwrite(at, 1, rest, out);
	return bytes + rest;
}
