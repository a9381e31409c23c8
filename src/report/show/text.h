/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of texts for a terminal other than tables. */
#ifndef REPORT_SHOW_TEXT_H
#define REPORT_SHOW_TEXT_H

#include <stdio.h>

#define TEXT_EVIDENCE_SHOWN 2U /* lines of the answer on the first screen */

struct report;

/* Prints LABEL, WIDTH wide, and VALUE; nothing when that is empty. */
void text_fact(FILE *out, int width, const char *label, const char *value);
/* Prints the selection of calls that R is limited to, and REST; nothing when R has all calls. */
void text_only(const struct report *r, const char *label, const char *rest, FILE *out);
/* Prints what the workload used, as facts with labels WIDTH wide; nothing when the manifest lacks it. */
void text_usage(const struct report *report, int width, FILE *out);
/*
 * Prints what the longest epoch would take with changes: the first all of it, with a title; nothing without a
 * DataLoader. The second what --what-if names alone.
 */
void what_if_text(const void *of, FILE *out);
void what_if_table(const struct report *r, FILE *out);
/*
 * Return a sentence, to be freed: what the longest epoch would take with data always ready; what would remove its
 * waits. NULL where neither is known.
 */
char *what_if_headspace(const struct report *r);
char *what_if_workers(const struct report *r);
/* Returns how to name the epochs of a job none of whose lines names one; NULL: they are named, or the job printed
 * nothing. */
const char *text_unnamed(const struct report *r);
/*
 * Prints where the time went, in eight lines, and nothing where that is not known. With WIDTH lines are broken there,
 * and an empty one comes first; with 0 it comes last.
 */
void path_text(const struct report *report, unsigned int width, FILE *out);
/* Whether it prints anything: most of the path is known. */
bool path_is_known(const struct report *report);
/* Prints what failed; nothing where nothing did. WIDTH as above, without what the answer above has then. */
void failed_text(const struct report *report, unsigned int width, FILE *out);
/* Prints that the trace is a dry run. */
void text_dry(FILE *out);
/* Prints NOTES under the title "Missing". */
void text_notes(FILE *out, char *const *notes, unsigned int n);

#endif
