/* SPDX-License-Identifier: BSD-2-Clause */
/* Environments, see env.h. Any thread; does not know whose environment it handles. */
#include "os/env.h"

#include <stdbool.h>
#include <string.h>

#include "base/util.h"

static bool same_name(const char *a, const char *b)
{
	size_t n = strcspn(a, "=");

	return !strncmp(a, b, n) && (b[n] == '=' || !b[n]);
}

const char *env_find(char *const *env, const char *entry)
{
	for (; *env; env++)
		if (same_name(*env, entry))
			return *env;
	return NULL;
}

char **env_merge(char *const *base, char *const *over)
{
	char *const *const parts[] = { base, over };
	size_t n = 1, size = 0;
	char **env, *text;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		for (char *const *e = parts[i]; *e; e++, n++)
			size += strlen(*e) + 1;
	env = malloc(n * sizeof(*env) + size);
	if (!env)
		return NULL;
	text = (char *)(env + n);
	n = 0;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		for (char *const *e = parts[i]; *e; e++) {
			if (parts[i] == base && env_find(over, *e))
				continue;
			env[n++] = text;
			text = stpcpy(text, *e) + 1;
		}
	env[n] = NULL;
	return env;
}

char **env_strings(const char *text, size_t len)
{
	size_t n = 2; /* NULL, and a last one without its NUL */
	char **v, *copy;

	for (size_t i = 0; i < len; i++)
		n += !text[i];
	v = malloc(n * sizeof(*v) + len + 1);
	if (!v)
		return NULL;
	copy = memcpy(v + n, text, len);
	copy[len] = '\0';
	n = 0;
	for (char *s = copy; s < copy + len; s += strlen(s) + 1)
		v[n++] = s;
	v[n] = NULL;
	return v;
}
