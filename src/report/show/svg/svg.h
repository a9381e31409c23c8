/* SPDX-License-Identifier: BSD-2-Clause */
/* What pictures share: text that is not ours, and the steps of an axis. */
#ifndef REPORT_SHOW_SVG_SVG_H
#define REPORT_SHOW_SVG_SVG_H

#include <stdio.h>

/* Puts TEXT as the content of an element: svg_plain() a text without escapes, svg_text() one as the .out files have it.
 */
void svg_plain(FILE *out, const char *text);
void svg_text(FILE *out, const char *text);
/* Returns a round number, 1, 2 or 5 times a power of ten, such that about TICKS of them make SPAN. */
double svg_step(double span, unsigned int ticks);

#endif
