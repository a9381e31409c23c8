/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where lines of text and the tab-separated fields in them end: found for many lines at once, 64 bytes at a
 * time, before it is known which line they belong to. Pure.
 */
#ifndef BASE_LINES_H
#define BASE_LINES_H

#include <stdint.h>

#define LINES_BYTES 64 /* bytes after the text that may be read, and must exist */
#define LINES_MAX 32 /* what reader_next_rows() is mostly called for: still cached when used */
#define LINES_STOPS 4096

struct lines {
	unsigned int n, at; /* lines that were found; the next to be used, kept by the caller */
	/*
	 * Line I goes from after stop[end[I]] to stop[end[I + 1]], a newline; the stops between are its
	 * tabs.
	 */
	uint32_t end[LINES_MAX + LINES_BYTES + 1];
	uint32_t stop[LINES_STOPS + 3 * LINES_BYTES]; /* offsets; [0]: before the first line */
};

/*
 * Finds the whole lines of TEXT from BEGIN to END, about LINES_MAX of them; returns how many. Also returns
 * 0 where a line has more than LINES_STOPS fields.
 */
typedef unsigned int (*lines_find_fn)(struct lines *l, const char *text, uint32_t begin, uint32_t end);
/*
 * The implementations that this machine can run, the fastest first; their results are identical. NULL past
 * the last.
 */
lines_find_fn lines_way(unsigned int i);
static inline unsigned int lines_find(struct lines *l, const char *text, uint32_t begin, uint32_t end)
{
	return lines_way(0)(l, text, begin, end);
}
/* Finds the fields of the line of LEN bytes at BEGIN, newline included: the first LINES_STOPS of them. */
void lines_one(struct lines *lines, const char *text, uint32_t begin, uint32_t len);

#endif
