/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/mapping.h"

#include <stdlib.h>
#include <string.h>

/* Reads a number of BASE at *P, which must have digits only, and END behind it. */
static bool number(const char **p, int base, char end, uint64_t *ret)
{
	char *after;

	if (**p == '-' || **p == '+' || **p == ' ')
		return false;
	*ret = strtoull(*p, &after, base);
	if (after == *p || *after != end)
		return false;
	*p = after + 1;
	return true;
}

bool mapping_parse(const char *line, struct mapping *ret)
{
	uint64_t major, minor;
	const char *rights;

	if (!number(&line, 16, '-', &ret->begin) || !number(&line, 16, ' ', &ret->end))
		return false;
	rights = line;
	if (strnlen(rights, 5) < 5 || rights[4] != ' ')
		return false;
	line = rights + 5;
	if (!number(&line, 16, ' ', &ret->offset) || !number(&line, 16, ':', &major) ||
	    !number(&line, 16, ' ', &minor) || !number(&line, 10, ' ', &ret->ino))
		return false;
	ret->code = rights[2] == 'x';
	ret->major = (uint32_t)major;
	ret->minor = (uint32_t)minor;
	ret->path = line + strspn(line, " ");
	return true;
}

const char *mapping_name(const struct mapping *m)
{
	const char *slash = strrchr(m->path, '/');

	return slash ? slash + 1 : m->path;
}
