/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of a report as members of the object that is open in J: docs/report-json.md has the names. */
#ifndef REPORT_SHOW_JSON_H
#define REPORT_SHOW_JSON_H

#include "report/scan/model.h"

struct json;

/* What can be summed up over several traces. */
/* Sections of report_sections[]: OF is a struct report. */
void report_facts_json(const void *of, struct json *j);
void report_why_json(const void *of, struct json *j);
void report_maps_json(const void *of, struct json *j);
void report_rest_json(const void *of, struct json *j);

void report_json_totals(const struct report *r, struct json *j);
/* All of it, TIMELINE: with the timeline. */
void report_json_members(const struct report *r, struct json *j, bool timeline);

#endif
