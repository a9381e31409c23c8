/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of a check for humans and as JSON. What they hold comes from the machine and may be
 * hostile: nothing of it reaches the terminal unescaped.
 */
#include "check/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/json.h"
#include "base/text.h"
#include "base/util.h"

#define STATE_WIDTH 8 /* "missing" and a blank */
#define ARROW "-> "

static const struct {
	const char *name, *colour;
} states[] = {
	[CHECK_OK] = { "ok", "\033[32m" },
	[CHECK_NOTE] = { "note", "\033[33m" },
	[CHECK_MISSING] = { "missing", "\033[35m" },
	[CHECK_FAIL] = { "fail", "\033[1;31m" },
};

/* TEXT with what could steer a terminal escaped; the caller's to free, NULL when memory is out. */
static char *printable(const char *text)
{
	char *buf = NULL;
	size_t len;
	FILE *f = open_memstream(&buf, &len);

	if (!f)
		return NULL;
	fmt_text(f, text, 0);
	return fclose(f) == 0 ? buf : NULL;
}

/* Bytes of the first COLUMNS characters of S, and in *USED how many characters these are. */
static size_t clip(const char *s, size_t bytes, unsigned int columns, unsigned int *used)
{
	size_t at = 0;

	for (*used = 0; at < bytes && *used < columns; ++*used)
		at += MAX(text_utf8_len(s + at, bytes - at), 1U);
	return at;
}

/*
 * TEXT from column INDENT on, broken at blanks, and within a word that fits no line, so that no
 * line is longer than WIDTH. The cursor is at INDENT already.
 */
static void put_wrapped(FILE *out, const char *text, unsigned int indent, unsigned int width)
{
	unsigned int column = indent;
	bool blank = false;

	while (*text) {
		size_t word = strcspn(text, " "), part;
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
	putc('\n', out);
}

static void put_row(FILE *out, const struct check_row *row, unsigned int need_width,
		    unsigned int width, bool colour)
{
	autofree char *found = printable(row->found), *remedy = printable(row->remedy);
	unsigned int indent = need_width + STATE_WIDTH;

	fmt_text(out, row->need, (int)need_width);
	fprintf(out, "%s%-*s%s", colour ? states[row->state].colour : "", STATE_WIDTH,
		states[row->state].name, colour ? "\033[0m" : "");
	put_wrapped(out, found ? found : "", indent, width);
	if (!remedy || !*remedy)
		return;
	fprintf(out, "%*s" ARROW, (int)indent, "");
	put_wrapped(out, remedy, indent + (unsigned int)strlen(ARROW), width);
}

void check_print(const struct check *c, FILE *out, unsigned int width, bool colour)
{
	unsigned int need_width = (unsigned int)strlen("NEED");

	for (unsigned int i = 0; i < c->n; i++)
		need_width = MAX(need_width, (unsigned int)strlen(c->rows[i].need));
	need_width += 2;
	fprintf(out, "%-*s%-*s%s\n", (int)need_width, "NEED", STATE_WIDTH, "STATE",
		"FOUND " ARROW "WHAT TO DO");
	for (unsigned int i = 0; i < c->n; i++)
		put_row(out, &c->rows[i], need_width, width, colour);
}

int check_print_json(const struct check *c, FILE *out)
{
	struct json j = { 0 };

	json_array(&j, NULL);
	for (unsigned int i = 0; i < c->n; i++) {
		const struct check_row *row = &c->rows[i];

		json_object(&j, NULL);
		json_str(&j, "need", row->need);
		json_str(&j, "state", states[row->state].name);
		json_str(&j, "found", row->found);
		json_str(&j, "remedy", *row->remedy ? row->remedy : NULL);
		json_end(&j);
	}
	json_end(&j);
	return json_write(&j, out);
}
