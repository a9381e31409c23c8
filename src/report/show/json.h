/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of a report as members of the object that is open in J: docs/report-json.md has the names. */
#ifndef REPORT_SHOW_JSON_H
#define REPORT_SHOW_JSON_H

#include "report/scan/model.h"

struct json;

/* What can be summed up over several traces. */
void report_json_totals(const struct report *r, struct json *j);
/* All of it, TIMELINE: with the timeline. */
void report_json_members(const struct report *r, struct json *j, bool timeline);

#endif
