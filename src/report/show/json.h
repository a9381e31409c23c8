/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of a report as members of the object that is open in J, docs/report-json.md has the names; and pages around such. */
#ifndef REPORT_SHOW_JSON_H
#define REPORT_SHOW_JSON_H

#include "report/scan/model.h"

struct json;

/* Sections of report_sections[]: OF is a struct report. */
void report_facts_json(const void *of, struct json *j);
void report_more_facts_json(const void *of, struct json *j);
void report_why_json(const void *of, struct json *j);
void report_maps_json(const void *of, struct json *j);
void report_rest_json(const void *of, struct json *j);

/* Of CPU time. */
void report_cpu_json_members(const struct report_cpu *r, struct json *j);
/* Text that is NULL or empty is not known, which is null. */
void report_known_json(struct json *j, const char *key, const char *s);
/* What calls R is about, where that is a part of them. */
void report_only_json(const struct report *r, struct json *j);

/* --- pages: html.c --- */

/* A page that BUILD makes the object of, and the N reports that make it large. */
struct page_fit {
	void (*build)(const void *what, struct json *j);
	const void *what;
	struct report *const *reports;
	unsigned int n;
};

/*
 * Longer bins and shorter lists, until the page has PAGE_BYTES_MAX at most, or nothing is left to make smaller; J, which is
 * empty, becomes its object.
 */
void report_page_fit(const struct page_fit *f, struct json *j);

#endif
