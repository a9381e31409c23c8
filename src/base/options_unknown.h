/* SPDX-License-Identifier: BSD-2-Clause */
/* The option of a command line that no table has, and the one that the user may have meant by it. */
#ifndef BASE_OPTIONS_UNKNOWN_H
#define BASE_OPTIONS_UNKNOWN_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#define OPTIONS_FORMS 68 /* most names, with the end of the list */

/* An option that an earlier version had, and what does its work now. */
struct option_gone {
	const char *name, *use;
};

/* What getopt_long(3) takes: names, of which the last is NULL, and letters, which begin with a '-'. */
struct options_forms {
	struct option names[OPTIONS_FORMS];
	char letters[2 * OPTIONS_FORMS];
	const struct option_gone *gone; /* of earlier versions */
};

/* Returns the entry of NAME, of LEN bytes, in GONE, which ends with one without a name; NULL: there is none. */
const struct option_gone *options_gone(const struct option_gone *gone, const char *name, size_t len);

/*
 * Looks for an option in ARGV that FORMS has not, but one that is similar or has replaced it, up to the first argument
 * that is no option with IN_ORDER. Writes what is wrong into BUF, and returns it; NULL: nothing that this function
 * knows better than argp(3).
 */
const char *options_unknown(const struct options_forms *forms, int argc, char **argv, bool in_order, char *buf,
			    size_t size);

#endif
