/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The name that a user may have meant by one that does not exist: the nearest of some names, by the number of letters
 * to insert, remove, replace or exchange with their neighbors.
 */
#ifndef BASE_SIMILAR_H
#define BASE_SIMILAR_H

#include <stddef.h>

#define SIMILAR_MAX 32 /* letters; a longer name is similar to none */

struct similar {
	const char *name;
	size_t len;
	const char *best; /* NULL: no name is similar */
	unsigned int distance; /* of BEST */
};

/* Begins a search for the names that are similar to the LEN first bytes of NAME, which stays the caller's. */
struct similar similar_to(const char *name, size_t len);

/* Makes CANDIDATE the best one if it is similar, and nearer than the best one so far. */
void similar_offer(struct similar *similar, const char *candidate);

/*
 * Writes ": did you mean PREFIXNAME?" into BUF, an empty text if no name is similar. Returns BUF, to be used as the end
 * of a message.
 */
const char *similar_text(const struct similar *s, const char *prefix, char *buf, size_t size);

#endif
