/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * argp(3) reads a command line by getopt(3), which ends it at an unknown option with a message of its own. So this
 * looks at the command line before argp does, by the same getopt.
 */
#include "base/options_unknown.h"

#include <stdio.h>
#include <string.h>

#include "base/similar.h"
#include "base/util.h"

#define NO_OPTION 1 /* what getopt returns for an argument, as its letters begin with a '-' */

/* Returns whether the LEN bytes of NAME are an option, or the begin of one, which getopt takes for it or calls
 * ambiguous. */
static bool is_begin(const struct options_forms *f, const char *name, size_t len)
{
	for (const struct option *o = f->names; o->name; o++)
		if (!strncmp(o->name, name, len))
			return true;
	return false;
}

const struct option_gone *options_gone(const struct option_gone *gone, const char *name, size_t len)
{
	for (; gone && gone->name; gone++)
		if (strlen(gone->name) == len && !strncmp(gone->name, name, len))
			return gone;
	return NULL;
}

static const char *nearest(const struct options_forms *f, const char *name, size_t len, char *buf, size_t size)
{
	struct similar s = similar_to(name, len);

	for (const struct option *o = f->names; o->name; o++)
		similar_offer(&s, o->name);
	return similar_text(&s, "--", buf, size);
}

/* ARG is what getopt does not know: a name after two dashes, or letters, which may be a name after one. */
static const char *complain(const struct options_forms *forms, const char *arg, char *buf, size_t size)
{
	const size_t dashes = strncmp(arg, "--", 2) ? 1 : 2;
	const char *name = arg + dashes;
	const size_t len = strcspn(name, "=");
	const struct option_gone *gone = options_gone(forms->gone, name, len);
	char hint[128];

	if (gone) {
		snprintf(buf, size, "--%s is gone: use %s", gone->name, gone->use);
		return buf;
	}
	if (dashes == 2 ? is_begin(forms, name, len) : len < 3)
		return NULL;
	if (!*nearest(forms, name, len, hint, sizeof(hint)))
		return NULL;
	snprintf(buf, size, "unrecognized option '%.*s'%s", (int)(dashes + len), arg, hint);
	return buf;
}

const char *options_unknown(const struct options_forms *forms, int argc, char **argv, bool in_order, char *buf,
			    size_t size)
{
	const char *why = NULL;
	int c = 0;

	opterr = 0;
	optind = 0; /* begin anew: 0 makes glibc forget the last command line */
	while (!why && c >= 0 && !(in_order && c == NO_OPTION)) {
		const char *arg = argv[MIN(MAX(optind, 1), argc)];

		c = getopt_long(argc, argv, forms->letters, forms->names, NULL);
		if (c == '?' && arg)
			why = complain(forms, arg, buf, size);
	}
	return why;
}
