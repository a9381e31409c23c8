/* SPDX-License-Identifier: BSD-2-Clause */
/* Text for a terminal whose lines are longer than it is wide. */
#ifndef BASE_FOLD_H
#define BASE_FOLD_H

#include <stdio.h>

/*
 * Returns a stream into OUT that breaks lines of more than WIDTH columns at blanks, or within a word that is longer;
 * what follows a break is indented. Closing it leaves OUT open. NULL when there is no memory.
 */
FILE *fold_open(FILE *out, unsigned int width);

#endif
