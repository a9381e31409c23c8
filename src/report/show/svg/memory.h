/* SPDX-License-Identifier: BSD-2-Clause */
/* The map of memory of a loaded report. */
#ifndef REPORT_SHOW_SVG_MEMORY_H
#define REPORT_SHOW_SVG_MEMORY_H

#include <stdbool.h>
#include <stdio.h>

struct report;

bool report_has_memory(const struct report *r);
/* Draws it as an SVG; REPORT has one. */
void report_memory_svg(const struct report *report, FILE *out);

#endif
