/* SPDX-License-Identifier: BSD-2-Clause */
#include "report_only.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report_scan.h"
#include "text.h"
#include "util.h"

/* Without slashes that are there twice or at the end: so are the kernel's paths. */
static char *tidy(const char *path)
{
	char *tidied = malloc(strlen(path) + 1), *p = tidied;

	for (; p && *path; path++)
		if (*path != '/' || (path[1] != '/' && path[1]))
			*p++ = *path;
	if (p)
		*p = '\0';
	return tidied;
}

int report_only_init(struct report *r, const char *path)
{
	autofree char *tidied = NULL;

	if (!path)
		return 0;
	if (path[0] != '/')
		return -EINVAL;
	tidied = tidy(path);
	r->only.path = tidied ? malloc(TEXT_ESCAPED_MAX(strlen(tidied))) : NULL;
	if (!r->only.path)
		return -ENOMEM;
	/* A path as a whole is never escaped otherwise than its pieces: it begins with a slash. */
	*text_put_piece(r->only.path, tidied, strlen(tidied)) = '\0';
	return 0;
}

bool report_only_has(const struct report *r, struct reader_field f)
{
	size_t len;

	if (!r->only.path)
		return true;
	len = strlen(r->only.path);
	return f.len >= len && f.len && f.p[0] == '/' && memcmp(f.p, r->only.path, len) == 0 &&
	       (f.len == len || f.p[len] == '/');
}

void report_only_note(struct report *r)
{
	if (!r->only.path)
		return;
	report_note(r, "--path: what the job waited for, rules and epochs are of a report on all files");
	if (r->n_sums)
		report_note(r, "--path: rollup.out has sums without paths, which are those of all files");
	if (r->only.rows == r->only.left_out)
		report_note(r, "--path %s: no row is of a file there; paths are those of REALPATH in files.out, links "
			    "resolved", r->only.path[0] ? r->only.path : "/");
}
