/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/notes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void notes_vadd(const struct notes *to, const char *fmt, va_list ap)
{
	char *note;

	if (*to->n == to->max || vasprintf(&note, fmt, ap) < 0)
		return;
	for (unsigned int i = 0; i < *to->n; i++)
		if (strcmp(to->v[i], note) == 0) {
			free(note);
			return;
		}
	to->v[(*to->n)++] = note;
}

void notes_add(const struct notes *to, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	notes_vadd(to, fmt, ap);
	va_end(ap);
}
