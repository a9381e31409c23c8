/* SPDX-License-Identifier: BSD-2-Clause */
/* Why the job waited, for a terminal: the answer first, then what else was found, and a line for each epoch. */
#include <math.h>
#include <stdio.h>

#include "report.h"
#include "report_fmt.h"
#include "rules.h"
#include "util.h"
#include "why.h"

#define EPOCH_LINE "%10s %9s %9s %10s %10s %10s %9s %10s %8s  "
#define EPOCHS_TOLD 20

static void line(FILE *out, const char *before, const char *text)
{
	fputs(before, out);
	fmt_text(out, text, 0);
	fputc('\n', out);
}

static void measure(FILE *out, const struct finding *f)
{
	if (!isnan(f->share))
		fprintf(out, " (%.1f %%)", 100 * f->share);
	else if (!isnan(f->measure))
		fprintf(out, " (%.4g)", f->measure);
}

void why_answer(const struct report *r, FILE *out)
{
	const struct finding *b;

	if (!r->why || !r->why->rules)
		return;
	b = &r->why->rules->bottleneck;
	fprintf(out, "%s: %s", b->rule->code, b->rule->title);
	measure(out, b);
	fputc('\n', out);
	for (unsigned int i = 0; i < b->n; i++)
		line(out, "  ", b->evidence[i]);
	line(out, "  => ", b->rule->advice);
	fputc('\n', out);
}

void why_findings(const struct report *r, FILE *out)
{
	const struct rules *rules = r->why ? r->why->rules : NULL;

	if (!rules || (!rules->n && !rules->n_missing && !r->why->n_notes))
		return;
	fputs("\nAlso found\n", out);
	for (unsigned int i = 0; i < rules->n; i++) {
		const struct finding *f = &rules->found[i];

		fprintf(out, "%s: %s", f->rule->code, f->rule->title);
		measure(out, f);
		fputc('\n', out);
		for (unsigned int k = 0; k < f->n; k++)
			line(out, "  ", f->evidence[k]);
		line(out, "  => ", f->rule->advice);
	}
	if (!rules->n)
		fputs("no rule of docs/rules.md besides\n", out);
	for (unsigned int i = 0; i < rules->n_missing; i++)
		line(out, "not looked at: ", rules->missing[i]);
	for (unsigned int i = 0; i < r->why->n_notes; i++)
		line(out, "- ", r->why->notes[i]);
}

void why_epochs_text(const struct report *r, FILE *out)
{
	const struct why *w = r->why;

	if (!w || !w->n_epochs || !(w->by_epoch || w->epoch[0].reads))
		return;
	fputs("\nReads of regular files, by epoch (AGAIN: bytes read a second time in it)\n", out);
	fprintf(out, EPOCH_LINE "EPOCH\n", "LASTED", "WAITED", "SAMPLES", "READ", "FROM DISK", "READS", "IN ORDER",
		"AGAIN", "WORKERS");
	for (uint32_t i = 0; i < MIN(w->n_epochs, EPOCHS_TOLD); i++) {
		const struct why_epoch *e = &w->epoch[i];
		char waited[16] = "-", order[16] = "-";

		if (e->waitable_ns && w->basis < WHY_BY_CPU_TIME)
			snprintf(waited, sizeof(waited), "%.1f %%",
				 rules_percent((double)e->waited_ns, (double)e->waitable_ns));
		if (e->placed)
			snprintf(order, sizeof(order), "%.1f %%",
				 rules_percent((double)e->sequential, (double)e->placed));
		fprintf(out, EPOCH_LINE, FMT_NS(e->end_ns - e->begin_ns), waited, FMT_COUNT(e->samples),
			FMT_BYTES(e->read_bytes), FMT_BYTES(e->disk_bytes), FMT_COUNT(e->reads), order,
			FMT_BYTES(e->again_bytes), FMT_COUNT(e->workers));
		fmt_text(out, e->name, 0);
		fputc('\n', out);
	}
	if (w->n_epochs > EPOCHS_TOLD)
		fprintf(out, "and %u more\n", w->n_epochs - EPOCHS_TOLD);
}
