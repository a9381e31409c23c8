/* SPDX-License-Identifier: BSD-2-Clause */
/* A comparison as text, as JSON (docs/report-json.md has the names) and as a page. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fmt.h"
#include "base/json.h"
#include "report/compare.h"
#include "report/rules/rules.h"
#include "report/show/json.h"
#include "report/show/text.h"
#include "report/show/timeline/timeline_json.h"

#define NAME_WIDTH 32

/* --- text ---------------------------------------------------------------------------------------- */

/* Returns V, which may have been rounded up to 2^64: a count of a damaged file can be the largest there is. */
static uint64_t whole(double v)
{
	if (v >= 0x1p64)
		return UINT64_MAX;
	return v > 0 ? (uint64_t)v : 0;
}

static const char *value(char buf[FMT_MAX], const char *unit, double v)
{
	if (isnan(v))
		return "-";
	if (strcmp(unit, "ns") == 0)
		return fmt_ns(buf, whole(v));
	if (strcmp(unit, "B") == 0)
		return fmt_bytes(buf, whole(v));
	if (strcmp(unit, "%") == 0) {
		snprintf(buf, FMT_MAX, "%.1f %%", v);
		return buf;
	}
	return fmt_count(buf, whole(v));
}

static void line(FILE *out, const struct compare *compare, const struct compare_measure *measure)
{
	fmt_text(out, measure->name, NAME_WIDTH);
	for (unsigned int i = 0; i < compare->n; i++) {
		double ratio = compare_ratio(measure, i);
		char buf[FMT_MAX], times[FMT_MAX] = "-";

		fprintf(out, " %12s", value(buf, measure->unit, measure->value[i]));
		if (ratio > 0 && ratio < 0.005)
			snprintf(times, sizeof(times), "<0.01");
		else if (!isnan(ratio))
			snprintf(times, sizeof(times), ratio >= 999.5 ? "%.3g" : "%.2f", ratio);
		if (i)
			fprintf(out, " %8s", times);
	}
	fputc('\n', out);
}

static void heads(FILE *out, const struct compare *compare, const char *section)
{
	fprintf(out, "\n%-*s", NAME_WIDTH, section);
	for (unsigned int i = 0; i < compare->n; i++) {
		char nr[24];

		snprintf(nr, sizeof(nr), "(%u)", i + 1);
		fprintf(out, " %12s", nr);
		if (i)
			fprintf(out, " %8s", "to (1)");
	}
	fputc('\n', out);
}

/* Prints the codes of docs/rules.md that were found. */
static void found(FILE *out, const struct report *r)
{
	const struct rules *rules = compare_rules(r);

	if (!rules)
		return;
	fprintf(out, "    bottleneck: %s", rules->bottleneck.rule->code);
	for (unsigned int i = 0; i < rules->n; i++)
		fprintf(out, "%s%s", i ? ", " : "; also found: ", rules->found[i].rule->code);
	fputc('\n', out);
}

static void trace(FILE *out, const struct report *report, unsigned int nr)
{
	fprintf(out, "(%u) ", nr);
	fmt_plain(out, report->dir, 0);
	fputs(": ", out);
	fmt_plain(out, report_command(report), 0);
	if (report->manifest.host[0])
		fputs(", on ", out);
	fmt_plain(out, report->manifest.host, 0);
	fputs(", ", out);
	fmt_plain(out, report_started(report), 0);
	fputs(report->missing.complete ? "\n" : ", NOT complete\n", out);
	text_only(report, "    only ", "", out);
	found(out, report);
}

void compare_text(const struct compare *compare, FILE *out)
{
	const char *section = "";

	for (unsigned int i = 0; i < compare->n; i++)
		trace(out, compare->trace[i], i + 1);
	for (size_t i = 0; i < compare->n_measures; i++) {
		const struct compare_measure *m = &compare->measure[i];

		if (strcmp(m->section, section) != 0)
			heads(out, compare, m->section);
		section = m->section;
		line(out, compare, m);
	}
	fputs("\nWhat is missing\n", out);
	for (unsigned int i = 0; i < compare->n; i++)
		for (unsigned int k = 0; k < compare->trace[i]->n_notes; k++) {
			fprintf(out, "(%u)", i + 1);
			fmt_line(out, " ", compare->trace[i]->notes[k]);
		}
}

/* --- JSON ---------------------------------------------------------------------------------------- */

static void found_json(struct json *json, const struct report *report)
{
	const struct rules *rules = compare_rules(report);

	if (!rules)
		return;
	json_str(json, "bottleneck", rules->bottleneck.rule->code);
	json_row(json, "rules");
	for (unsigned int i = 0; i < rules->n; i++)
		json_str(json, NULL, rules->found[i].rule->code);
	json_end(json);
}

static void trace_json(struct json *json, const struct report *report)
{
	json_object(json, NULL);
	json_str(json, "dir", report->dir);
	report_known_json(json, "command", report_command(report));
	report_known_json(json, "host", report->manifest.host);
	report_known_json(json, "started", report_started(report));
	json_bool(json, "complete", report->missing.complete);
	report_only_json(report, json);
	found_json(json, report);
	json_strs(json, "missing", report->notes, report->n_notes);
	json_end(json);
}

/* Puts V; counts, which have no unit, as whole numbers. */
static void number(struct json *j, const char *unit, double v)
{
	if (strcmp(unit, "%") != 0 && v >= 0 && v < (double)(1ULL << 53))
		json_u64(j, NULL, (uint64_t)v);
	else
		json_f64(j, NULL, v);
}

void compare_json(const struct compare *compare, struct json *json)
{
	json_object(json, NULL);
	json_object(json, "compare");
	json_array(json, "traces");
	for (unsigned int i = 0; i < compare->n; i++)
		trace_json(json, compare->trace[i]);
	json_end(json);
	json_array(json, "measures");
	for (size_t i = 0; i < compare->n_measures; i++) {
		const struct compare_measure *measure = &compare->measure[i];

		json_object(json, NULL);
		json_str(json, "section", measure->section);
		json_str(json, "name", measure->name);
		json_str(json, "unit", measure->unit);
		json_row(json, "values");
		for (unsigned int k = 0; k < compare->n; k++)
			number(json, measure->unit, measure->value[k]);
		json_end(json);
		json_row(json, "ratios");
		for (unsigned int k = 0; k < compare->n; k++)
			json_f64(json, NULL, compare_ratio(measure, k));
		json_end(json);
		json_end(json);
	}
	json_end(json);
	json_end(json);
	if (compare->trace[0]->timeline && compare->trace[0]->timeline->host)
		report_timelines_json((const struct report *const *)compare->trace, compare->n, NULL, json);
	json_end(json);
}

static void build(const void *compare, struct json *json)
{
	compare_json(compare, json);
}

/* The traces are called (1), (2) and so on, and begin at one time. */
void compare_fit(const struct compare *compare, struct json *json)
{
	const struct page_fit f = { .build = build, .what = compare, .reports = compare->trace, .n = compare->n };
	struct timeline *all[COMPARE_MAX];
	char name[COMPARE_MAX][16];

	for (unsigned int i = 0; i < compare->n; i++) {
		struct timeline *t = all[i] = compare->trace[i]->timeline;

		snprintf(name[i], sizeof(name[i]), "(%u)", i + 1);
		t->host = name[i];
		t->host_begin_ns = t->begin_ns;
		t->host_end_ns = t->end_ns;
	}
	timeline_align(all, compare->n);
	report_page_fit(&f, json);
	for (unsigned int i = 0; i < compare->n; i++)
		all[i]->host = NULL;
}
