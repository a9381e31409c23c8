/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of rules as Markdown, for docs/rules.md. */
#include "report/show/show.h"

#include <stdbool.h>
#include <string.h>

#include "report/rules/rules.h"

/* Puts a cell. A quoted `command' becomes `command`. */
static void put(const char *text, FILE *out)
{
	bool quoted = false;

	for (fputc(' ', out); *text; text++) {
		const bool ends = quoted && *text == '\'';

		quoted = (quoted && !ends) || *text == '`';
		fputc(ends ? '`' : *text, out);
	}
	fputs(" |", out);
}

static void put_rule(const struct rule *rule, FILE *out)
{
	char needs[RULES_NEEDS_BUF], threshold[32] = "-";

	if (rule->threshold > 0)
		snprintf(threshold, sizeof(threshold), "%g", rule->threshold);
	fprintf(out, "| `%s` |", rule->code);
	fprintf(out, " %s | %s | %s |", rule->number, threshold, *rules_needs(rule, needs) ? needs : "-");
	put(rule->advice ? rule->advice : "-", out);
	fputc('\n', out);
}

/* Whether an answer before ANSWER has its code. */
static bool is_listed(const struct rule *const *answer)
{
	for (const struct rule *const *earlier = rules_answers; earlier < answer; earlier++)
		if (strcmp((*earlier)->code, (*answer)->code) == 0)
			return true;
	return false;
}

void report_rules_markdown(FILE *out)
{
	static const char head[] = "| code | number | threshold | needs | advice |\n|---|---|---|---|---|\n";

	fprintf(out, "Answers: what the job waited for, or why that is not known.\n\n%s", head);
	for (const struct rule *const *answer = rules_of_path; *answer; answer++)
		put_rule(*answer, out);
	for (const struct rule *const *answer = rules_answers; *answer; answer++)
		if (!is_listed(answer))
			put_rule(*answer, out);
	fprintf(out, "\nFindings and facts: how the job uses its files, disks and memory.\n\n%s", head);
	for (const struct rule *const *table = rules_tables; *table; table++)
		for (const struct rule *rule = *table; rule->code; rule++)
			put_rule(rule, out);
}
