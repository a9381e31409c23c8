/* SPDX-License-Identifier: BSD-2-Clause */
/* Why the job waited, for a terminal: the answer first, then other findings. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/rules/rules.h"
#include "report/scan/model.h"
#include "report/show/show.h"
#include "report/why/why.h"

/* Whether F has a share to be printed. Not that of `unknown': it is not time that the job waited for one thing. */
static bool has_share(const struct finding *f)
{
	return !isnan(f->share) && strcmp(f->rule->code, rule_unknown.code) != 0;
}

static void measure(FILE *out, const struct finding *finding)
{
	const bool has_number = has_share(finding) || (isnan(finding->share) && !isnan(finding->measure));

	if (!has_number && !finding->caveat)
		return;
	fputs(" (", out);
	if (has_share(finding))
		fprintf(out, "%.1f %%", 100 * finding->share);
	else if (has_number)
		fprintf(out, "%.4g", finding->measure);
	if (has_number && finding->caveat)
		fputs("; ", out);
	if (finding->caveat)
		fmt_text(out, finding->caveat, 0);
	fputc(')', out);
}

static void size(FILE *out, const struct finding *f)
{
	if (isnan(f->size.share))
		return;
	fprintf(out, " (%s, ", FMT_NS((uint64_t)f->size.ns));
	fprintf(out, "%.1f %% of the job's time)", 100 * f->size.share);
}

void why_sentence(const struct report *r, FILE *out)
{
	const struct finding *f = r->why && r->why->rules ? &r->why->rules->bottleneck : NULL;

	if (!f)
		return;
	fputs(f->rule->title, out);
	if (has_share(f))
		fprintf(out, " (%.1f %% of the time)", 100 * f->share);
}

void why_words(const struct report *r, FILE *out)
{
	const struct finding *f = r->why && r->why->rules ? &r->why->rules->bottleneck : NULL;

	if (!f)
		return;
	fputs(f->rule->code, out);
	if (has_share(f))
		fprintf(out, " %.1f %%", 100 * f->share);
}

static void evidence(const struct finding *f, FILE *out)
{
	for (unsigned int i = 0; i < f->n; i++)
		fmt_line(out, "  ", f->evidence[i]);
	if (finding_advice(f))
		fmt_line(out, "  => ", finding_advice(f));
}

void why_headline(const struct finding *f, FILE *out)
{
	fprintf(out, "%s: %s", f->rule->code, f->rule->title);
	if (f->is_bottleneck)
		measure(out, f);
	else
		size(out, f);
	fputc('\n', out);
}

void why_finding_text(const struct finding *f, FILE *out)
{
	fprintf(out, "%s: %s", f->rule->code, f->rule->title);
	measure(out, f);
	fputc('\n', out);
	evidence(f, out);
}

static void one_of_several(const struct finding *f, FILE *out)
{
	why_headline(f, out);
	evidence(f, out);
}

/* Prints facts about the job, without evidence and advice, as they need no action. */
static void facts(const struct rules *rules, FILE *out)
{
	if (rules->n_facts)
		fprintf(out, "\nFacts: they describe the job, or take less than %.0f %% of its time\n",
			100 * RULES_PROBLEM);
	for (unsigned int i = 0; i < rules->n_facts; i++) {
		const struct finding *f = &rules->found[rules->n + i];

		fprintf(out, "%s: %s", f->rule->code, f->rule->title);
		measure(out, f);
		fputc('\n', out);
	}
}

void why_answer(const struct report *r, FILE *out)
{
	if (!r->why || !r->why->rules)
		return;
	why_finding_text(&r->why->rules->bottleneck, out);
	fputc('\n', out);
}

/* Prints the rules that were not tried by their codes, those that need the same files in one line. */
static void not_looked_at(const struct rules *rules, FILE *out)
{
	static const char needs[] = ": needs ";
	const char *before = "not checked: ";

	for (unsigned int i = 0; i < rules->n_missing; i++) {
		const char *this = strstr(rules->missing[i], needs),
			   *next = i + 1 < rules->n_missing ? strstr(rules->missing[i + 1], needs) : NULL;
		autofree char *code = this ? strndup(rules->missing[i], (size_t)(this - rules->missing[i])) : NULL;

		fputs(before, out);
		fmt_text(out, code ? code : rules->missing[i], 0);
		before = ", ";
		if (!this || (next && !strcmp(this, next)))
			continue;
		fputs(" (needs ", out);
		fmt_text(out, this + strlen(needs), 0);
		fputs(")", out);
		before = "; ";
	}
	if (rules->n_missing)
		fputc('\n', out);
}

void why_findings(const struct report *report, FILE *out)
{
	const struct rules *rules = report->why ? report->why->rules : NULL;

	if (!rules || (!rules->n && !rules->n_facts && !rules->n_missing && !report->why->n_notes))
		return;
	fputs("\nAlso found\n", out);
	for (unsigned int i = 0; i < rules->n; i++)
		one_of_several(&rules->found[i], out);
	if (!rules->n)
		fputs("no other rule of docs/rules.md\n", out);
	not_looked_at(rules, out);
	for (unsigned int i = 0; i < report->why->n_notes; i++)
		fmt_line(out, "- ", report->why->notes[i]);
	facts(rules, out);
}
