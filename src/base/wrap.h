/* SPDX-License-Identifier: BSD-2-Clause */
/* Text from outside in lines that a terminal has room for. Pure. */
#ifndef BASE_WRAP_H
#define BASE_WRAP_H

#include <stdio.h>

/*
 * TEXT as fmt_text() has it, broken at blanks, and within a word that fits no line, so that no line is longer than WIDTH.
 * The cursor is at column INDENT, where the next lines begin, too; behind the last is a newline. Nothing, but the newline,
 * without memory.
 */
void wrap_text(FILE *out, const char *text, unsigned int indent, unsigned int width);
/* The same from the begin of a line on. */
void wrap_from(FILE *out, unsigned int indent, const char *text, unsigned int width);

#endif
