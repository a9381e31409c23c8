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
	struct edit *e = ctx;
	const char *begin = event == JSON_WORD ? text : text - 1;
	char *value;

	if (begin < e->from)
		return;
	if (e->first && event == JSON_OPEN) {
		fwrite(e->from, 1, (size_t)(text - e->from), e->out);
		fputs(e->first, e->out);
		e->from = text;
		e->first = NULL;
		return;
	}
	value = e->fn(e->ctx, path, event, text, len);
	if (!value)
		return;
	fwrite(e->from, 1, (size_t)(begin - e->from), e->out);
	fputs(value, e->out);
	free(value);
	e->from = event == JSON_OPEN ? end_of(text, e->end) : text + len + (event == JSON_STRING);
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
