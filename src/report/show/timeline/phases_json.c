/* SPDX-License-Identifier: BSD-2-Clause */
/* The job's phases and the trace's gaps, as JSON. */
#include <errno.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/util.h"
#include "report/phases/phases.h"
#include "report/scan/model.h"
#include "report/show/timeline/timeline_json.h"

#define PHASES_SHOWN 4096 /* in JSON: a page must hold them */
#define GAPS_SHOWN 512

static void phase_json(const struct report *report, struct json *json, const struct phase_seen *seen)
{
	const struct phase *phase = &seen->phase;
	const struct phase_name *name = &report->phases->names[phase->name];
	char label[PHASE_LABEL_MAX];

	json_object(json, NULL);
	report_timeline_host(json, report->timeline);
	json_str(json, "name",
		 seen->by_kind ? phase_kind_names[name->kind] : phases_label(report->phases, phase, label));
	json_str(json, "kind", phase_kind_names[name->kind]);
	json_u64(json, "begin_ns", report_timeline_ns(report->timeline, phase->begin_ns));
	json_u64(json, "end_ns", report_timeline_ns(report->timeline, phase->end_ns));
	json_str(json, "source", phase_source_names[name->source]);
	json_bool(json, "inferred", phase->inferred);
	json_bool(json, "unfinished", phase->unfinished);
	json_u64_known(json, "number", phase->number >= 0, (uint64_t)phase->number);
	json_u64_known(json, "rank", phase->rank >= 0, (uint64_t)phase->rank);
	json_u64(json, "ranks", phase->ranks);
	if (seen->times > 1)
		json_u64(json, "merged", seen->times);
	json_end(json);
}

static void gap_json(const struct report *r, struct json *j, const struct gap *gap, uint32_t times)
{
	json_object(j, NULL);
	report_timeline_host(j, r->timeline);
	json_u64(j, "begin_ns", report_timeline_ns(r->timeline, gap->begin_ns));
	json_u64(j, "end_ns", report_timeline_ns(r->timeline, gap->end_ns));
	json_str(j, "what", gap->what);
	if (times > 1)
		json_u64(j, "merged", times);
	json_end(j);
}

/* Puts at most MOST of REPORT's phases. Returns how many of them were joined with others. */
static uint64_t phases_json(const struct report *report, struct json *json, uint32_t most)
{
	autofree struct phase_seen *seen = NULL;
	uint64_t merged = 0;
	uint32_t n = 0;

	if (!report->phases)
		return 0;
	seen = phases_visible(report->phases, most, &n);
	if (!seen)
		json->error = -ENOMEM;
	for (uint32_t i = 0; seen && i < n; i++) {
		phase_json(report, json, &seen[i]);
		merged += seen[i].times > 1 ? seen[i].times : 0;
	}
	return merged;
}

/* Puts gaps, those that begin within CELL_NS as one, of the first one's kind. Returns how many that makes. */
static uint32_t put_gaps(const struct report *report, struct json *json, uint64_t cell_ns)
{
	uint32_t listed = 0;

	for (uint32_t i = 0, next; i < report->gaps.n; i = next, listed++) {
		struct gap gap = report->gaps.v[i];

		for (next = i + 1; next < report->gaps.n && report->gaps.v[next].begin_ns - gap.begin_ns < cell_ns;
		     next++)
			gap.end_ns = MAX(gap.end_ns, report->gaps.v[next].end_ns);
		if (json)
			gap_json(report, json, &gap, next - i);
	}
	return listed;
}

static uint64_t gaps_json(const struct report *r, struct json *j, uint32_t most)
{
	uint64_t cell_ns = 0;

	while (put_gaps(r, NULL, cell_ns) > most)
		cell_ns = cell_ns ? 2 * cell_ns : NSEC_PER_MSEC;
	return r->gaps.n - put_gaps(r, j, cell_ns) + r->gaps.more;
}

static void score_json(const struct report *report, struct json *json)
{
	const struct epoch_score *score = &report->phases->score;

	json_object(json, NULL);
	report_timeline_host(json, report->timeline);
	json_str(json, "side", epoch_side_names[score->side]);
	json_bool(json, "assumed", score->assumed);
	json_u64(json, "lines", score->lines);
	json_u64(json, "epochs", score->epochs);
	json_f64(json, "words", score->words);
	json_f64(json, "workers", score->workers);
	json_f64(json, "reading", score->reading);
	json_f64(json, "life", score->life);
	json_end(json);
}

/* Puts how many lines matched each rule, and how many were about epochs without naming a side. */
static void lines_json(const struct report *const *r, unsigned int n, struct json *json)
{
	json_array(json, "phase_rules");
	for (unsigned int host = 0; host < n; host++) {
		const struct phases *p = r[host]->phases;

		for (unsigned int i = 0; p && i < p->n_rules; i++) {
			json_object(json, NULL);
			report_timeline_host(json, r[host]->timeline);
			json_str(json, "rule", p->rules[i].text);
			json_u64(json, "lines", p->rules[i].lines);
			json_end(json);
		}
	}
	json_end(json);
	json_array(json, "epoch_lines");
	for (unsigned int host = 0; host < n; host++)
		if (r[host]->phases && r[host]->phases->has_score)
			score_json(r[host], json);
	json_end(json);
}

void report_phases_json(const struct report *const *r, unsigned int n, struct json *json)
{
	uint64_t merged = 0;

	json_array(json, "phases");
	for (unsigned int host = 0; host < n; host++)
		merged += phases_json(r[host], json, report_at_most(r[host], PHASES_SHOWN, 1) / n);
	json_end(json);
	json_u64(json, "phases_merged", merged);
	json_u64(json, "phases_left_out", 0); /* always 0: the name is from when only the first phases were listed */
	lines_json(r, n, json);
	merged = 0;
	json_array(json, "gaps");
	for (unsigned int host = 0; host < n; host++)
		merged += gaps_json(r[host], json, MAX(report_at_most(r[host], GAPS_SHOWN, 4) / n, 1));
	json_end(json);
	json_u64(json, "gaps_merged", merged);
}
