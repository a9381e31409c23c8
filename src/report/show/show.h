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

/* All of it; and what of it a terminal's screen has room for, in lines no longer than WIDTH. */
void report_text(const struct report *r, FILE *out);
void report_screen(const struct report *r, unsigned int width, FILE *out);
/* What the tables of --json and --csv hold, as Markdown. */
void report_columns_markdown(FILE *out);
/* Likewise for the page, as a JSON text: free() it. NULL: memory is out. */
char *report_views(void);
/* As the object that J is: for json_write(), or for report_page(). */
void report_json(const struct report *r, struct json *j);
/*
 * One page for a browser with all that it needs, around J, which is freed. 0, 1 when it is larger than PAGE_BYTES_MAX, or
 * -errno; errors of writing stay in OUT.
 */
int report_page(struct json *j, FILE *out);
/*
 * report_json() where the page is to have PAGE_BYTES_MAX at most: until it has, the timeline's bins get longer, and lists
 * shorter where these are what is large. So JSON and page stay the same.
 */
void report_fit(struct report *r, struct json *j);

/* --- several hosts: what there is to say of all, where they were traced at a time; then each ------------- */

/* Each host's report is whole, or with WIDTH a screen. */
void report_job_text(const struct report_job *job, unsigned int width, FILE *out);
void report_job_json(const struct report_job *job, struct json *j);
void report_job_fit(struct report_job *job, struct json *j);

/* --- CPU time ---------------------------------------------------------------------------------------------- */

void report_cpu_text(const struct report_cpu *r, FILE *out);
void report_cpu_json(const struct report_cpu *r, struct json *j);
/* One CSV file (RFC 4180) per table into the folder DIR, which is made if need be. 0 or -errno. */
int report_csv(const struct report *r, const char *dir); /* CPU time, where it is loaded, in its folder cpu */
int report_cpu_csv(const struct report_cpu *r, const char *dir);

/* --- why the job waited ---------------------------------------------------------------------------------- */

void why_json(const struct report *r, struct json *j);
void why_json_finding(struct json *j, const char *key, const struct finding *f);
void why_sentence(const struct report *r, FILE *out); /* the answer in plain words, with its share; nothing where there is none */
void why_words(const struct report *r, FILE *out);    /* likewise: the rule's code and the share */
void why_headline(const struct finding *f, FILE *out); /* the line that FINDING begins with */
void why_finding_text(const struct finding *f, FILE *out);
void why_answer(const struct report *r, FILE *out);   /* a few lines */
void why_findings(const struct report *r, FILE *out); /* all rules that fired */

/* missing.c: what is missing of the trace, beside the answer: a line, or one for each reason */
void report_missing_text(const struct report *r, FILE *out);
void account_text(const struct report *r, FILE *out); /* where the time went: a line a process */
void account_brief(const struct report *r, unsigned int width, FILE *out); /* of one process and the loaders, what is most */

#endif
