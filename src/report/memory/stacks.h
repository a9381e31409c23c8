/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stacks of sites.out as text, by the names of their functions where the files that they are in are still there and
 * unchanged. Bounded: only stacks that are wanted are kept.
 */
#ifndef REPORT_MEMORY_STACKS_H
#define REPORT_MEMORY_STACKS_H

#include <stdint.h>

#define STACKS_MODULES_MAX 8192
#define STACKS_SEPARATOR " < " /* a name has no blank: it is escaped */

struct scan_folder;

/* Where the text of the stack SITE (0: none) is put. */
struct stack_place {
	uint64_t site;
	char **text;
};

/*
 * Reads sites.out, and the names, for N places. A text is to be freed; it is the frames, escaped as in the .out files:
 * from the innermost on, joined by STACKS_SEPARATOR, each the name of a function, or the name of a file, + and an
 * address in it; of Python file:line:function. NULL: there is no such stack.
 */
void stacks_read(struct scan_folder *f, const struct stack_place *places, unsigned int n);

/* The same for a few places; where stacks would be alike, their functions have + and the place in them, too. */
void stacks_read_apart(struct scan_folder *f, const struct stack_place *places, unsigned int n);

#endif
