/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where lines of text end, and the fields in them, which tabs are between: found for many lines at once, 64 bytes after 64,
 * without a look at which line they are of. Pure.
 */
#ifndef BASE_LINES_H
#define BASE_LINES_H

#include <stdint.h>

#define LINES_BYTES 64 /* that may be looked at behind the text, and must be there */
#define LINES_MAX 32 /* as many as reader_next_rows() is mostly asked for: they are still near when they are taken */
#define LINES_STOPS 4096

struct lines {
	unsigned int n, at; /* lines that were found; the next to be taken, the user's */
	/* Line I goes from behind stop[end[I]] to stop[end[I + 1]], a newline; the stops between are the tabs in it. */
	uint32_t end[LINES_MAX + LINES_BYTES + 1];
	uint32_t stop[LINES_STOPS + 3 * LINES_BYTES]; /* offsets; [0]: before the first line */
};

/*
 * The whole lines of TEXT from BEGIN and before END, LINES_MAX of them or some more; returns how many. None, too, where one
 * has more than LINES_STOPS fields.
 */
typedef unsigned int (*lines_find_fn)(struct lines *l, const char *text, uint32_t begin, uint32_t end);
/* The ways to find them that this machine has, the fastest first; they give the same. NULL: there are not so many. */
lines_find_fn lines_way(unsigned int i);
static inline unsigned int lines_find(struct lines *l, const char *text, uint32_t begin, uint32_t end)
{
	return lines_way(0)(l, text, begin, end);
}
/* The line of LEN bytes at BEGIN, which has its newline; of its fields the first LINES_STOPS. */
void lines_one(struct lines *l, const char *text, uint32_t begin, uint32_t len);

#endif
