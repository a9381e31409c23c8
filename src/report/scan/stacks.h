/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stacks of sites.out as text, by the names of their functions where the files that they are in are still there and
 * unchanged. Bounded: only stacks that are wanted are kept.
 */
#ifndef REPORT_SCAN_STACKS_H
#define REPORT_SCAN_STACKS_H

#include <stdint.h>

#define STACKS_MODULES_MAX 8192
#define STACKS_MAX 256

struct scan_folder;
struct stacks;

struct stacks *stacks_new(void); /* NULL: no memory */
void stacks_free(struct stacks *s);
/* The stack of SITE will be asked for; one of STACKS_MAX at most. */
void stacks_want(struct stacks *s, uint64_t site);
/* Reads sites.out, once, and the names. */
void stacks_read(struct stacks *s, struct scan_folder *f);
/*
 * Returns the frames of SITE, escaped as in the .out files, to be freed: from the innermost on, joined by " < ", each the name
 * of a function, or the name of a file, + and an address in it; of Python file:line:function. NULL: there is no such stack.
 */
char *stacks_text(const struct stacks *s, uint64_t site);

#endif
