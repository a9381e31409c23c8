/* SPDX-License-Identifier: BSD-2-Clause */
/* How report/scan/uses.h, report/scan/streams.h and report/scan/spreads.h look as text and as JSON. */
#ifndef REPORT_SHOW_SUMMARIES_H
#define REPORT_SHOW_SUMMARIES_H

#include "report/scan/model.h"

/* What --path has restricted, as a line of facts; nothing without it. */
void report_only_text(const struct report *r, FILE *out);
/* Latencies and sizes by power of two; the medians of processes. */
void report_spreads_text(const struct report *r, FILE *out);
void report_medians_text(const struct report *r, FILE *out);
void report_uses_text(const struct report *r, FILE *out);
void report_streams_text(const struct report *r, FILE *out);

struct json;
/* Members of the object that is open in J. */
void report_summaries_json(const struct report *r, struct json *j);

#endif
