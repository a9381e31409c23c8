/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "dlt/alloc.h"

struct config config;

/* Returns what follows NAME= in TEXT, which are words between blanks, or "". */
static const char *value_of(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (; text && *text; text = strchr(text, ' '), text += text != NULL)
		if (!strncmp(text, name, len) && text[len] == '=')
			return text + len + 1;
	return "";
}

static bool is(const char *value, const char *word)
{
	size_t len = strlen(word);

	return !strncmp(value, word, len) && (!value[len] || value[len] == ' ');
}

void config_read(void)
{
	static const char *const names[] = {
		[SITES_NONE] = "none",     [SITES_CALLER] = "caller", [SITES_NATIVE] = "native",
		[SITES_PYTHON] = "python", [SITES_AUTO] = "auto",
	};
	const char *text = getenv(DLT_ALLOC_VARIABLE), *sites;

	if (!text)
		return;
	sites = value_of(text, "sites");
	config.min = strtoul(value_of(text, "min"), NULL, 10);
	config.tsc = is(value_of(text, "clock"), "tsc");
	config.check = is(value_of(text, "check"), "1");
	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is(sites, names[i]))
			config.sites = i;
	config.on = true;
}
