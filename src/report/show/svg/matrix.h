/* SPDX-License-Identifier: BSD-2-Clause */
/* A matrix of runs as text, JSON, CSV files and a picture. Errors of writing are left in the stream. */
#ifndef REPORT_SHOW_SVG_MATRIX_H
#define REPORT_SHOW_SVG_MATRIX_H

#include <stdio.h>

#include "report/show/view/view.h"

struct json;
struct matrix;

void matrix_text(const struct matrix *m, FILE *out);
/* Puts it into J, an object of its own. */
void matrix_json(const struct matrix *m, struct json *j);
/* Writes a file for each table into the folder DIR, made if needed. Returns 0 or -errno. csv.c has it. */
int matrix_csv(const struct matrix *m, const char *dir);
/* Prints an SVG: for each program the wall times of its runs, and these compared with dry runs, a line for each mode.
 */
void matrix_svg(const struct matrix *matrix, FILE *out);

extern const struct view_section matrix_sections[];

#endif
