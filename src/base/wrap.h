/* SPDX-License-Identifier: BSD-2-Clause */
/* Text from outside, wrapped to the width of a terminal. Pure. */
#ifndef BASE_WRAP_H
#define BASE_WRAP_H

#include <stdio.h>

/*
 * Prints TEXT as fmt_text() has it, broken at blanks, or within a word that fits on no line, so that no
 * line is longer than WIDTH. The cursor is at column INDENT, where the next lines begin as well; a newline
 * follows the last. Without memory it prints only the newline.
 */
void wrap_text(FILE *out, const char *text, unsigned int indent, unsigned int width);
/* wrap_text() with fmt_plain(). */
void wrap_plain(FILE *out, const char *text, unsigned int indent, unsigned int width);
/* wrap_text() from the beginning of a line. */
void wrap_from(FILE *out, unsigned int indent, const char *text, unsigned int width);

#endif
