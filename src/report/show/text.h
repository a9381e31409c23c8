/* SPDX-License-Identifier: BSD-2-Clause */
/* What texts for a terminal have in common beside their tables. */
#ifndef REPORT_SHOW_TEXT_H
#define REPORT_SHOW_TEXT_H

#include <stdio.h>

struct report;

void text_title(FILE *out, const char *text);
/* LABEL, WIDTH wide, and VALUE; nothing where that is empty. */
void text_fact(FILE *out, int width, const char *label, const char *value);
/* The part of the calls that R is about, and the end of the line; nothing where it is all of them. */
void text_only(const struct report *r, const char *label, const char *rest, FILE *out);
/* What is missing, under that title. */
void text_notes(FILE *out, char *const *notes, unsigned int n);

#endif
