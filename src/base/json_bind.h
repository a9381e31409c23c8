/* SPDX-License-Identifier: BSD-2-Clause */
/* The values of JSON that are members of structs, by tables: for a json_read_fn. Pure; trusts nothing. */
#ifndef BASE_JSON_BIND_H
#define BASE_JSON_BIND_H

#include <stddef.h>

#include "base/json_read.h"

/* How the member has the value. A value that it cannot have leaves it as it was. */
enum json_kind {
	JSON_BOOL, /* bool */
	JSON_INT, /* int; a whole number, also in a string; beyond the range the nearest one of it. So are those below
		   */
	JSON_S64, /* int64_t */
	JSON_U64, /* uint64_t */
	JSON_TEXT, /* char[]; a string, cut to the room */
	JSON_LITERAL, /* char[]; a number as written, where there is room for all of it */
	JSON_OWN, /* and above: the caller's own kinds, which its code sets */
};

struct json_member {
	const char *path; /* NULL: after the last */
	int kind; /* enum json_kind, or the caller's */
	size_t at, size;
};

#define JSON_MEMBER(path, kind, type, m)                                            \
	{                                                                           \
		path, kind, offsetof(struct type, m), sizeof(((struct type *)0)->m) \
	} /* NOLINT(bugprone-macro-parentheses): a member */

/* Members whose paths begin alike, in a struct of their own. */
struct json_place {
	const char *under; /* what the paths begin with: "probes[]."; the last place of all has "" */
	const struct json_member *members;
	void *base; /* NULL: there is no struct for them, and they are left out */
};

/*
 * Sets the member of BASE that TEXT, the value at PATH, is of. Returns the member, also where it is of the caller's
 * kinds and not set; NULL where MEMBERS has none.
 */
const struct json_member *json_bind(const struct json_member *members, void *base, const char *path,
				    enum json_event event, const char *text, size_t len);

/* Returns the first of PLACES that *PATH is under, and sets *PATH to the rest of it. */
const struct json_place *json_place_of(const struct json_place *places, const char **path);

#endif
