/* SPDX-License-Identifier: BSD-2-Clause */
/* A loaded report as text, as JSON and as a page. Errors of writing are left in the stream. */
#ifndef REPORT_SHOW_SHOW_H
#define REPORT_SHOW_SHOW_H

#include <stdio.h>

struct finding;
struct json;
struct report;
struct report_cpu;
struct report_job;

/* The first prints the whole report; the second as much as fits a terminal's screen, in lines of up to WIDTH columns.
 */
void report_text(const struct report *r, FILE *out);
void report_screen(const struct report *report, unsigned int width, FILE *out);
/* Prints the columns of the tables of --json and --csv, as Markdown. */
void report_columns_markdown(FILE *out);
/* Prints a table of all rules by which the answer and the findings are chosen, as Markdown. */
void report_rules_markdown(FILE *out);
/* Returns the columns for the page, as a JSON text to be freed; NULL when memory is out. */
char *report_views(void);
/* Puts the report into J, an object, for json_write() or report_page(). */
void report_json(const struct report *r, struct json *j);
/*
 * Prints one self-contained page with JSON, and frees JSON. Returns 0; 1 when the page is larger than PAGE_BYTES_MAX;
 * or -errno. Errors of writing stay in OUT.
 */
int report_page(struct json *json, FILE *out);
/*
 * As report_json(), but lengthens bins and shortens long lists until a page with J fits into PAGE_BYTES_MAX. It is
 * called for JSON, too, so that JSON and page have the same numbers.
 */
void report_fit(struct report *r, struct json *j);

/* --- several hosts: all together, where they were traced at a time; then each ---------------------------- */

/* Prints each host's report: all of it, or with WIDTH its first screen. */
void report_job_text(const struct report_job *job, unsigned int width, FILE *out);
void report_job_json(const struct report_job *job, struct json *json);
void report_job_fit(struct report_job *job, struct json *json);

/* --- CPU time ---------------------------------------------------------------------------------------------- */

void report_cpu_text(const struct report_cpu *r, FILE *out);
void report_cpu_json(const struct report_cpu *r, struct json *j);
/* Writes one CSV file (RFC 4180) per table into the folder DIR, made if needed. Returns 0 or -errno. */
int report_csv(const struct report *report, const char *dir); /* CPU time, if it is loaded, goes to its folder cpu */
int report_cpu_csv(const struct report_cpu *r, const char *dir);

/* --- why the job waited ---------------------------------------------------------------------------------- */

void why_json(const struct report *r, struct json *j);
void why_json_finding(struct json *json, const char *key, const struct finding *finding);
/* the answer as a sentence, with its share; nothing without an answer */
void why_sentence(const struct report *r, FILE *out);
void why_words(const struct report *r, FILE *out); /* the answer as the rule's code and the share; likewise */
void why_headline(const struct finding *f, FILE *out); /* the first line of FINDING */
void why_finding_text(const struct finding *f, FILE *out);
void why_answer(const struct report *r, FILE *out); /* a few lines */
void why_findings(const struct report *report, FILE *out); /* all rules that fired */

/* missing.c: missing data beside the answer: a line, or one for each reason */
void report_missing_text(const struct report *r, FILE *out);

#endif
