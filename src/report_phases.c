/* SPDX-License-Identifier: BSD-2-Clause */
/* The job's phases and the trace's gaps, as JSON and as text. */
#include <stdio.h>
#include <stdlib.h>

#include "json.h"
#include "report_fmt.h"
#include "report_timeline.h"
#include "util.h"

#define PHASES_TOLD 4096 /* in JSON: a page has to hold them */
#define NAMES_TOLD 24
#define LINE "%-8s %7s %10s %7s %10s %10s %10s  "

/* --- JSON ---------------------------------------------------------------------------------------- */

static void phase_json(const struct report *r, struct json *j, const struct phase *phase)
{
	const struct phase_name *name = &r->phases->names[phase->name];
	char label[PHASE_LABEL_MAX];

	json_object(j, NULL);
	report_timeline_host(j, r->timeline);
	json_str(j, "name", phases_label(r->phases, phase, label));
	json_str(j, "kind", phase_kind_names[name->kind]);
	json_u64(j, "begin_ns", report_timeline_ns(r->timeline, phase->begin_ns));
	json_u64(j, "end_ns", report_timeline_ns(r->timeline, phase->end_ns));
	json_str(j, "source", phase_source_names[name->source]);
	json_bool(j, "inferred", phase->inferred);
	json_bool(j, "unfinished", phase->unfinished);
	if (phase->number >= 0)
		json_s64(j, "number", phase->number);
	else
		json_null(j, "number");
	if (phase->rank >= 0)
		json_s64(j, "rank", phase->rank);
	else
		json_null(j, "rank");
	json_u64(j, "ranks", phase->ranks);
	json_end(j);
}

static void gap_json(const struct report *r, struct json *j, const struct gap *gap)
{
	json_object(j, NULL);
	report_timeline_host(j, r->timeline);
	json_u64(j, "begin_ns", report_timeline_ns(r->timeline, gap->begin_ns));
	json_u64(j, "end_ns", report_timeline_ns(r->timeline, gap->end_ns));
	json_str(j, "what", gap->what);
	json_end(j);
}

void report_phases_json(const struct report *const *r, unsigned int n, struct json *j)
{
	uint32_t left_out = 0, most = PHASES_TOLD / n;

	json_array(j, "phases");
	for (unsigned int host = 0; host < n; host++) {
		const struct phases *p = r[host]->phases;

		for (uint32_t i = 0; p && i < MIN(p->all.n, most); i++)
			phase_json(r[host], j, &p->all.v[i]);
		left_out += p ? p->all.n - MIN(p->all.n, most) : 0;
	}
	json_end(j);
	json_u64(j, "phases_left_out", left_out);
	json_array(j, "gaps");
	for (unsigned int host = 0; host < n; host++)
		for (uint32_t i = 0; i < r[host]->gaps.n; i++)
			gap_json(r[host], j, &r[host]->gaps.v[i]);
	json_end(j);
}

/* --- text ---------------------------------------------------------------------------------------- */

/* All phases of a name. */
struct sum {
	uint32_t times, unfinished;
	uint64_t ns, min_ns, max_ns;
	bool inferred;
};

static void sum_up(const struct phases *p, struct sum *sums)
{
	for (uint32_t i = 0; i < p->all.n; i++) {
		const struct phase *phase = &p->all.v[i];
		uint64_t ns = phase->end_ns - phase->begin_ns;
		struct sum *s = &sums[phase->name];

		s->min_ns = s->times++ ? MIN(s->min_ns, ns) : ns;
		s->max_ns = MAX(s->max_ns, ns);
		s->ns += ns;
		s->unfinished += phase->unfinished;
		s->inferred |= phase->inferred;
	}
}

static void line(const struct phase_name *name, const struct sum *s, uint64_t span_ns, FILE *out)
{
	char share[16];

	snprintf(share, sizeof(share), "%.1f %%", span_ns ? 100.0 * (double)s->ns / (double)span_ns : 0);
	fprintf(out, LINE, phase_source_names[name->source], FMT_COUNT(s->times), FMT_NS(s->ns), share,
		FMT_NS(s->ns / s->times), FMT_NS(s->min_ns), FMT_NS(s->max_ns));
	fmt_text(out, name->name, 0);
	fputs(s->inferred ? " (inferred)" : "", out);
	fputs(s->unfinished ? " (has no end: to the trace's)\n" : "\n", out);
}

void report_phases_text(const struct report *r, FILE *out)
{
	const struct phases *p = r->phases;
	autofree struct sum *sums = p ? calloc(p->n_names + 1, sizeof(*sums)) : NULL;
	uint32_t told = 0;

	if (!sums || !p->all.n)
		return;
	sum_up(p, sums);
	fputs("\nPhases of the job (TRACE: share of the trace's time; one may lie in another)\n", out);
	fprintf(out, LINE "PHASE\n", "FROM", "TIMES", "TOTAL", "TRACE", "MEAN", "SHORTEST", "LONGEST");
	for (uint32_t i = 0; i < p->n_names; i++) {
		told += sums[i].times != 0;
		if (sums[i].times && told <= NAMES_TOLD)
			line(&p->names[i], &sums[i], report_duration_ns(r), out);
	}
	if (told > NAMES_TOLD)
		fprintf(out, "and %u more: see --json\n", told - NAMES_TOLD);
	if (p->all.v[0].inferred && p->names[p->all.v[0].name].source == PHASE_INFERRED)
		fputs("No log and no mark tells of phases: these are inferred from what was read and written when.\n", out);
}
