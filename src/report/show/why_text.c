/* SPDX-License-Identifier: BSD-2-Clause */
/* Why the job waited, for a terminal: the answer first, then what else was found, and a line for each epoch. */
#include <math.h>
#include <stdio.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/scan/model.h"
#include "report/show/show.h"
#include "report/why/rules.h"
#include "report/why/why.h"

#define EPOCH_LINE "%10s %9s %9s %10s %10s %10s %9s %10s %8s  "
#define EPOCH_MORE "%10s %8s %9s %10s %10s %10s %8s  "
#define EPOCHS_SHOWN 20

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

void why_finding_text(const struct finding *f, FILE *out)
{
	fprintf(out, "%s: %s", f->rule->code, f->rule->title);
	measure(out, f);
	fputc('\n', out);
	for (unsigned int i = 0; i < f->n; i++)
		line(out, "  ", f->evidence[i]);
	line(out, "  => ", f->rule->advice);
}

void why_answer(const struct report *r, FILE *out)
{
	if (!r->why || !r->why->rules)
		return;
	why_finding_text(&r->why->rules->bottleneck, out);
	fputc('\n', out);
}

void why_findings(const struct report *r, FILE *out)
{
	const struct rules *rules = r->why ? r->why->rules : NULL;

	if (!rules || (!rules->n && !rules->n_missing && !r->why->n_notes))
		return;
	fputs("\nAlso found\n", out);
	for (unsigned int i = 0; i < rules->n; i++)
		why_finding_text(&rules->found[i], out);
	if (!rules->n)
		fputs("no rule of docs/rules.md besides\n", out);
	for (unsigned int i = 0; i < rules->n_missing; i++)
		line(out, "not looked at: ", rules->missing[i]);
	for (unsigned int i = 0; i < r->why->n_notes; i++)
		line(out, "- ", r->why->notes[i]);
}

/* The power of two in which most reads of E were: how many, of ALL that returned something. */
static unsigned int usual_size(const struct why_epoch *e, uint64_t *all)
{
	unsigned int most = 1;

	*all = 0;
	for (unsigned int i = 1; i < ARRAY_SIZE(e->size); i++) {
		*all += e->size[i];
		most = e->size[i] > e->size[most] ? i : most;
	}
	return most;
}

static void epoch_more(const struct why_epoch *e, FILE *out)
{
	char share[16] = "-";
	uint64_t all;
	unsigned int size = usual_size(e, &all);

	if (all)
		snprintf(share, sizeof(share), "%.1f %%", rules_percent((double)e->size[size], (double)all));
	fmt_text(out, e->name, 18);
	fprintf(out, EPOCH_MORE, all ? FMT_BYTES(1ULL << (size - 1)) : "-", share,
		e->workers ? FMT_COUNT(e->slow_worker) : "-", e->workers ? FMT_NS((uint64_t)e->slow_worker_ns) : "-",
		e->workers ? FMT_NS((uint64_t)e->median_worker_ns) : "-", e->n_slow ? FMT_NS(e->slow[0].time_ns) : "-",
		e->n_slow ? FMT_COUNT(e->slow[0].calls) : "-");
	fmt_text(out, !e->n_slow ? "-" : e->slow[0].path ? e->slow[0].path : "?", 0);
	fputc('\n', out);
}

/* What comes of a file that the trace has not is not known. */
#define KNOWN(known, text) ((known) ? (text) : "-")

void why_epochs_text(const struct report *r, FILE *out)
{
	const bool rw = r->present[REPORT_VFS_RW];
	const struct why *w = r->why;

	if (!w || !w->n_epochs || !(w->by_epoch || w->epoch[0].reads))
		return;
	fputs("\nReads of regular files, by epoch (AGAIN: bytes read a second time in it)\n", out);
	fprintf(out, EPOCH_LINE "EPOCH\n", "LASTED", "WAITED", "SAMPLES", "READ", "FROM DISK", "READS", "IN ORDER",
		"AGAIN", "WORKERS");
	for (uint32_t i = 0; i < MIN(w->n_epochs, EPOCHS_SHOWN); i++) {
		const struct why_epoch *e = &w->epoch[i];
		char waited[16] = "-", order[16] = "-";

		if (e->waitable_ns)
			snprintf(waited, sizeof(waited), "%.1f %%",
				 rules_percent((double)e->waited_ns, (double)e->waitable_ns));
		if (e->placed)
			snprintf(order, sizeof(order), "%.1f %%",
				 rules_percent((double)e->sequential, (double)e->placed));
		fprintf(out, EPOCH_LINE, FMT_NS(e->end_ns - e->begin_ns), waited,
			KNOWN(r->present[REPORT_OPEN], FMT_COUNT(e->samples)), KNOWN(rw, FMT_BYTES(e->read_bytes)),
			KNOWN(rw && why_knows_disk(e), FMT_BYTES(e->disk_bytes)), KNOWN(rw, FMT_COUNT(e->reads)), order,
			KNOWN(rw, FMT_BYTES(e->again_bytes)), KNOWN(r->present[REPORT_PIDS], FMT_COUNT(e->workers)));
		fmt_text(out, e->name, 0);
		fputc('\n', out);
	}
	if (w->n_epochs > EPOCHS_SHOWN)
		fprintf(out, "and %u more\n", w->n_epochs - EPOCHS_SHOWN);
	fputs("\nSizes of reads, workers and slowest files, by epoch (MOST OF: most reads returned so much, to twice as much;"
	      " A SAMPLE: in calls on files)\n", out);
	fmt_text(out, "EPOCH", 18);
	fprintf(out, EPOCH_MORE "SLOWEST FILE\n", "MOST OF", "SHARE", "SLOWEST", "A SAMPLE", "MEDIAN", "FILE TOOK", "READS");
	for (uint32_t i = 0; i < MIN(w->n_epochs, EPOCHS_SHOWN); i++)
		epoch_more(&w->epoch[i], out);
}
