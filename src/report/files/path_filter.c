/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/files/path_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "report/phases/phases.h"
#include "report/scan/scan.h"

/* Removes `//', `.' and `..', which no path of the kernel has. A link before `..' is not followed. */
static char *tidy(const char *path)
{
	char *tidied = malloc(strlen(path) + 1), *p = tidied;
	size_t len;

	for (; tidied && *path; path += len) {
		path += strspn(path, "/");
		len = strcspn(path, "/");
		if (len == 2 && memcmp(path, "..", 2) == 0) {
			while (p > tidied && *--p != '/')
				;
		} else if (len && (len > 1 || *path != '.')) {
			*p++ = '/';
			p = mempcpy(p, path, len);
		}
	}
	if (p)
		*p = '\0';
	return tidied;
}

/* Escaping a whole path gives the same text as escaping its parts, since it begins with a slash. */
static char *escape(const char *path, size_t len)
{
	char *escaped = malloc(TEXT_ESCAPED_MAX(len));

	if (escaped)
		*text_put_piece(escaped, path, len) = '\0';
	return escaped;
}

/*
 * A path with an escape is taken as a report prints it, so that it can be copied from there. A name that itself has a
 * backslash and three digits must be given escaped, too.
 */
static bool is_escaped(const char *path)
{
	autofree char *plain = strdup(path), *again = NULL;

	if (plain)
		again = escape(plain, text_unescape(plain, path, strlen(path)));
	return again && strcmp(again, path) == 0;
}

int path_filter_init(struct report *report, const char *path)
{
	autofree char *tidied = NULL;

	if (!path)
		return 0;
	if (path[0] != '/')
		return -EINVAL;
	tidied = tidy(path);
	if (tidied)
		report->only.path = is_escaped(tidied) ? TAKE_PTR(tidied) : escape(tidied, strlen(tidied));
	return report->only.path ? 0 : -ENOMEM;
}

bool path_filter_has(const struct report *r, struct reader_field f)
{
	size_t len;

	if (!r->only.path)
		return true;
	len = strlen(r->only.path);
	return f.len >= len && f.len && f.p[0] == '/' && memcmp(f.p, r->only.path, len) == 0 &&
	       (f.len == len || f.p[len] == '/');
}

bool path_filter_unlists(const struct report *r, struct reader_field f)
{
	return r->phases && !r->only.path && !data_dirs_have(&r->phases->data_dirs, f.p, f.len);
}

void path_filter_note(struct report *r)
{
	if (!r->only.path)
		return;
	report_note(r, "--path: answers, rules and epochs need a report on all files");
	if (r->n_sums)
		report_note(r, "--path: rollup.out has sums without paths; they are of all files");
	if (r->only.rows == r->only.left_out)
		report_note(r,
			    "--path %s: no row is of a file there; paths are those of REALPATH in files.out, links "
			    "resolved",
			    r->only.path[0] ? r->only.path : "/");
}
