/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/sums/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

void path_names_init(struct path_names *names)
{
	table_init(&names->all, sizeof(char *), PATH_NAMES_MAX);
}

void path_names_free(struct path_names *names)
{
	for (uint32_t i = 0; i < names->all.n; i++)
		free(*(char **)table_at(&names->all, i));
	table_free(&names->all);
}

static uint32_t number_of(const struct path_names *names, char *const *entry)
{
	return (uint32_t)(entry - (char *const *)names->all.values) + 1;
}

/* Returns the number of the LEN bytes at TEXT, which are not `-'. The last place is for all that find no other. */
static uint32_t keep(struct path_names *names, const char *text, size_t len)
{
	char **entry = table_get(&names->all, table_key(text, len));

	if (!entry)
		return names->all.n;
	if (!*entry)
		*entry = names->all.n == names->all.max ? strdup("(more)") : strndup(text, len);
	return *entry ? number_of(names, entry) : 0;
}

uint32_t path_name(struct path_names *names, struct reader_field f)
{
	return reader_is(f, "-") || !f.len ? 0 : keep(names, f.p, MIN(f.len, PATH_NAME_BYTES));
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Returns how many bytes at the begin of F are one byte of the name: 4 where it is escaped. */
static size_t escaped(struct reader_field f)
{
	return f.p[0] == '\\' && f.len >= 4 && is_digit(f.p[1]) && is_digit(f.p[2]) && is_digit(f.p[3]) ? 4 : 1;
}

uint32_t path_name_pattern(struct path_names *names, struct reader_field f)
{
	char text[PATH_NAME_BYTES];
	size_t n = 0;

	if (reader_is(f, "-"))
		return 0;
	while (f.len) {
		const size_t len = escaped(f);
		const bool digit = is_digit(f.p[0]), again = digit && n && text[n - 1] == '#';

		if (n + len > sizeof(text))
			break;
		if (digit && !again)
			text[n++] = '#';
		for (size_t i = 0; !digit && i < len; i++)
			text[n++] = f.p[i];
		f.p += len;
		f.len -= len;
	}
	return n ? keep(names, text, n) : 0;
}

void path_names_rename(struct path_names *names, const char *from, size_t len, const char *to)
{
	char **entry = table_find(&names->all, table_key(from, len));
	char *text = entry && *entry ? strdup(to) : NULL;

	if (!text)
		return;
	free(*entry);
	*entry = text;
}

const char *path_name_text(const struct path_names *names, uint32_t name)
{
	return name && name <= names->all.n ? *(char *const *)table_at(&names->all, name - 1) : NULL;
}
