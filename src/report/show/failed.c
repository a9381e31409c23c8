/* SPDX-License-Identifier: BSD-2-Clause */
/* What failed, for a terminal: a line for each failure, and what is to be done. */
#include <stdio.h>
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "base/wrap.h"
#include "report/failed/failures.h"
#include "report/failed/sentence.h"
#include "report/rules/rules.h"
#include "report/scan/model.h"
#include "report/show/text.h"
#include "report/why/why.h"

#define SHOWN_ON_SCREEN 2U
#define SHOWN 40U

/* Whether the answer, right above on the screen, has FAILURE. */
static bool is_in_answer(const struct report *report, const struct failure *failure)
{
	const struct finding *answer = report->why && report->why->rules ? &report->why->rules->bottleneck : NULL;

	for (unsigned int i = 0; answer && i < MIN(answer->n, TEXT_EVIDENCE_SHOWN); i++)
		if (strcmp(answer->evidence[i], failure->text) == 0)
			return true;
	return false;
}

/* Returns how many failures the answer has. */
static uint32_t in_answer(const struct report *report)
{
	uint32_t n = 0;

	for (uint32_t i = 0; report->failed && i < report->failed->n; i++)
		n += report->failed->v[i].text && is_in_answer(report, &report->failed->v[i]);
	return n;
}

static void put(const struct failure *failure, unsigned int width, FILE *out)
{
	if (!width) {
		fmt_line(out, "", failure->text);
		fmt_line(out, "  => ", failure_advice(failure));
		return;
	}
	wrap_text(out, failure->text, 0, width);
	fputs("  => ", out);
	wrap_text(out, failure_advice(failure), strlen("  => "), width);
}

/* Prints the heading: ANY of what failed is in the answer. */
static void put_heading(bool any, unsigned int width, FILE *out)
{
	fprintf(out, "%sWhat failed%s\n", width ? "\n" : "", any ? " beside that" : "");
}

void failed_text(const struct report *report, unsigned int width, FILE *out)
{
	const struct report_failed *failed = report->failed;
	const uint32_t n = failed ? failed->n : 0, most = width ? SHOWN_ON_SCREEN : SHOWN;
	const uint32_t above = width ? in_answer(report) : 0;
	uint32_t shown = 0;

	if (n > above)
		put_heading(above > 0, width, out);
	for (uint32_t i = 0; i < n && shown < most; i++) {
		if (!failed->v[i].text || (width && is_in_answer(report, &failed->v[i])))
			continue;
		put(&failed->v[i], width, out);
		shown++;
	}
	if (above + shown < n)
		fprintf(out, "and %u more\n", n - above - shown);
	if (n && !width)
		fputc('\n', out);
}
