/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts of a report as members of the object that is open in J (docs/report-json.md has the names), and pages around
 * such an object.
 */
#ifndef REPORT_SHOW_JSON_H
#define REPORT_SHOW_JSON_H

#include "report/scan/model.h"

struct json;

/* For report_sections[]; OF is a struct report. */
void report_facts_json(const void *of, struct json *json);
void report_more_facts_json(const void *of, struct json *json);
void report_why_json(const void *of, struct json *j);
void report_path_json(const void *of, struct json *json);
void report_what_if_json(const void *of, struct json *json);
void report_maps_json(const void *of, struct json *j);
void report_rest_json(const void *of, struct json *json);

/* For CPU time. */
void report_cpu_json_members(const struct report_cpu *cpu, struct json *json);
/* Puts S; null, for not known, when S is NULL or empty. */
void report_known_json(struct json *j, const char *key, const char *s);
/* Puts whether REPORT is a dry run, and what the workload used. */
void report_usage_json(const struct report *report, struct json *json);
/* Puts the selection of calls that R is limited to, if it is. */
void report_only_json(const struct report *r, struct json *j);

/* --- pages: html.c --- */

/* What a page is made of: BUILD makes its object from WHAT; the N reports are shortened until it fits. */
struct page_fit {
	void (*build)(const void *what, struct json *j);
	const void *what;
	struct report *const *reports;
	unsigned int n;
};

/*
 * Lengthens bins and shortens lists until the page fits into PAGE_BYTES_MAX, or nothing can be shortened further.
 * Leaves the page's object in JSON, which must be empty.
 */
void report_page_fit(const struct page_fit *fit, struct json *json);

#endif
