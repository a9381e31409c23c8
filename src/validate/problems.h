/* SPDX-License-Identifier: BSD-2-Clause */
/* The kinds of problems, how many of each a trace has, and where the first one is. Fixed memory. */
#ifndef VALIDATE_PROBLEMS_H
#define VALIDATE_PROBLEMS_H

#include <limits.h>
#include <stdint.h>
#include <stdio.h>

enum problem {
	PROBLEM_MANIFEST,
	PROBLEM_INCOMPLETE,
	PROBLEM_READ,
	PROBLEM_FOREIGN,
	PROBLEM_SEGMENTS,
	PROBLEM_HEADER,
	PROBLEM_COLUMNS,
	PROBLEM_FIELDS,
	PROBLEM_CUT,
	PROBLEM_NUMBER,
	PROBLEM_TEXT,
	PROBLEM_ORDER,
	PROBLEM_SPAN,
	PROBLEM_CLOCK,
	PROBLEM_FID,
	PROBLEM_PID,
	PROBLEM_SITE,
	PROBLEM_WORD,
	PROBLEM_ROWS,
	PROBLEM_BYTES,
	PROBLEM_CALLS,
	PROBLEM_LOST,
	PROBLEMS,
};

struct problems {
	struct {
		uint64_t n, line; /* LINE: of the first problem; 0: it is not in a line */
		char file[NAME_MAX + 1]; /* of the first problem */
	} of[PROBLEMS];
};

/* Counts N problems of KIND; the first is in LINE of FILE. */
void problems_add(struct problems *p, enum problem kind, const char *file, uint64_t line, uint64_t n);
/* Prints to OUT a line for each kind that has occurred; file names are below DIR. Returns how many problems there are.
 */
uint64_t problems_print(const struct problems *problems, const char *dir, FILE *out);

#endif
