/* SPDX-License-Identifier: BSD-2-Clause */
/* The map of memory of a loaded report. */
#ifndef REPORT_SHOW_SVG_MEMORY_H
#define REPORT_SHOW_SVG_MEMORY_H

#include <stdbool.h>
#include <stdio.h>

struct json;
struct report;

bool report_has_memory(const struct report *r);
/* Draws it as an SVG; REPORT has one. */
void report_memory_svg(const struct report *report, FILE *out);
/* Puts it as a value of an array, where REPORT has one: docs/report-json.md has the names. */
void report_memory_json(const struct report *report, struct json *json);

#endif
