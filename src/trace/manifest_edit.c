/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/manifest_edit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct edit {
	FILE *out;
	const char *from; /* the rest of the text, which is not copied yet; values before it are replaced */
	const char *end;
	const char *first; /* NULL once it is written */
	manifest_edit_fn *fn;
	void *ctx;
};

/* Returns the end of the object or array whose members begin at P. */
static const char *end_of(const char *p, const char *end)
{
	unsigned int depth = 1;

	for (; p < end && depth; p++) {
		depth += *p == '{' || *p == '[';
		depth -= *p == '}' || *p == ']';
		if (*p == '"')
			for (p++; p < end && *p != '"'; p++)
				p += *p == '\\';
	}
	return p;
}

static void edit_value(void *ctx, const char *path, enum json_event event, const char *text, size_t len)
{
	struct edit *edit = ctx;
	const char *begin = event == JSON_WORD ? text : text - 1;
	char *value;

	if (begin < edit->from)
		return;
	if (edit->first && event == JSON_OPEN) {
		fwrite(edit->from, 1, (size_t)(text - edit->from), edit->out);
		fputs(edit->first, edit->out);
		edit->from = text;
		edit->first = NULL;
		return;
	}
	value = edit->fn(edit->ctx, path, event, text, len);
	if (!value)
		return;
	fwrite(edit->from, 1, (size_t)(begin - edit->from), edit->out);
	fputs(value, edit->out);
	free(value);
	edit->from = event == JSON_OPEN ? end_of(text, edit->end) : text + len + (event == JSON_STRING);
}

int manifest_edit(const char *text, size_t len, const char *first, manifest_edit_fn *fn, void *ctx, char **ret)
{
	struct edit e = { .from = text, .end = text + len, .first = first, .fn = fn, .ctx = ctx };
	char *edited = NULL;
	size_t edited_len;
	int res;

	e.out = open_memstream(&edited, &edited_len);
	if (!e.out)
		return -ENOMEM;
	res = json_read(text, len, edit_value, &e);
	fwrite(e.from, 1, (size_t)(e.end - e.from), e.out);
	if (fclose(e.out) != 0 && res == 0)
		res = -ENOMEM;
	if (res < 0) {
		free(edited);
		return res;
	}
	*ret = edited;
	return 0;
}
