/* SPDX-License-Identifier: BSD-2-Clause */
/* A comparison as text, as JSON (docs/report-json.md has the names) and as a page. */
#include <math.h>
#include <string.h>

#include "base/fmt.h"
#include "base/json.h"
#include "report/compare.h"
#include "report/rules/rules.h"
#include "report/show/json.h"
#include "report/show/text.h"

#define NAME_WIDTH 32

/* --- text ---------------------------------------------------------------------------------------- */

static const char *value(char buf[FMT_MAX], const char *unit, double v)
{
	if (isnan(v))
		return "-";
	if (strcmp(unit, "ns") == 0)
		return fmt_ns(buf, (uint64_t)v);
	if (strcmp(unit, "B") == 0)
		return fmt_bytes(buf, (uint64_t)v);
	if (strcmp(unit, "%") == 0) {
		snprintf(buf, FMT_MAX, "%.1f %%", v);
		return buf;
	}
	return fmt_count(buf, (uint64_t)v);
}

static void line(FILE *out, const struct compare *c, const struct compare_measure *m)
{
	fmt_text(out, m->name, NAME_WIDTH);
	for (unsigned int i = 0; i < c->n; i++) {
		double ratio = compare_ratio(m, i);
		char buf[FMT_MAX], times[FMT_MAX] = "-";

		fprintf(out, " %12s", value(buf, m->unit, m->value[i]));
		if (!isnan(ratio))
			snprintf(times, sizeof(times), ratio > 0 && ratio < 0.005 ? "<0.01" :
						       ratio >= 999.5 ? "%.3g" : "%.2f", ratio);
		if (i)
			fprintf(out, " %8s", times);
	}
	fputc('\n', out);
}

static void heads(FILE *out, const struct compare *c, const char *section)
{
	fprintf(out, "\n%-*s", NAME_WIDTH, section);
	for (unsigned int i = 0; i < c->n; i++) {
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

static void trace(FILE *out, const struct report *r, unsigned int nr)
{
	fprintf(out, "(%u) ", nr);
	fmt_plain(out, r->dir, 0);
	fputs(": ", out);
	fmt_plain(out, report_command(r), 0);
	if (r->manifest.host[0])
		fputs(", on ", out);
	fmt_plain(out, r->manifest.host, 0);
	fputs(", ", out);
	fmt_plain(out, report_started(r), 0);
	fputs(r->missing.complete ? "\n" : ", NOT complete\n", out);
	text_only(r, "    only ", "", out);
	found(out, r);
}

void compare_text(const struct compare *c, FILE *out)
{
	const char *section = "";

	for (unsigned int i = 0; i < c->n; i++)
		trace(out, c->trace[i], i + 1);
	for (size_t i = 0; i < c->n_measures; i++) {
		const struct compare_measure *m = &c->measure[i];

		if (strcmp(m->section, section) != 0)
			heads(out, c, m->section);
		section = m->section;
		line(out, c, m);
	}
	fputs("\nWhat is missing\n", out);
	for (unsigned int i = 0; i < c->n; i++)
		for (unsigned int k = 0; k < c->trace[i]->n_notes; k++) {
			fprintf(out, "(%u)", i + 1);
			fmt_line(out, " ", c->trace[i]->notes[k]);
		}
}

/* --- JSON ---------------------------------------------------------------------------------------- */

static void found_json(struct json *j, const struct report *r)
{
	const struct rules *rules = compare_rules(r);

	if (!rules)
		return;
	json_str(j, "bottleneck", rules->bottleneck.rule->code);
	json_row(j, "rules");
	for (unsigned int i = 0; i < rules->n; i++)
		json_str(j, NULL, rules->found[i].rule->code);
	json_end(j);
}

static void trace_json(struct json *j, const struct report *r)
{
	json_object(j, NULL);
	json_str(j, "dir", r->dir);
	report_known_json(j, "command", report_command(r));
	report_known_json(j, "host", r->manifest.host);
	report_known_json(j, "started", report_started(r));
	json_bool(j, "complete", r->missing.complete);
	report_only_json(r, j);
	found_json(j, r);
	json_strs(j, "missing", r->notes, r->n_notes);
	json_end(j);
}

/* Puts V; counts, which have no unit, as whole numbers. */
static void number(struct json *j, const char *unit, double v)
{
	if (strcmp(unit, "%") != 0 && v >= 0 && v < (double)(1ULL << 53))
		json_u64(j, NULL, (uint64_t)v);
	else
		json_f64(j, NULL, v);
}

void compare_json(const struct compare *c, struct json *j)
{
	json_object(j, NULL);
	json_object(j, "compare");
	json_array(j, "traces");
	for (unsigned int i = 0; i < c->n; i++)
		trace_json(j, c->trace[i]);
	json_end(j);
	json_array(j, "measures");
	for (size_t i = 0; i < c->n_measures; i++) {
		const struct compare_measure *m = &c->measure[i];

		json_object(j, NULL);
		json_str(j, "section", m->section);
		json_str(j, "name", m->name);
		json_str(j, "unit", m->unit);
		json_row(j, "values");
		for (unsigned int k = 0; k < c->n; k++)
			number(j, m->unit, m->value[k]);
		json_end(j);
		json_row(j, "ratios");
		for (unsigned int k = 0; k < c->n; k++)
			json_f64(j, NULL, compare_ratio(m, k));
		json_end(j);
		json_end(j);
	}
	json_end(j);
	json_end(j);
	json_end(j);
}
