/* SPDX-License-Identifier: BSD-2-Clause */
/* The regions and steps of processes that take steps, for the timeline: one lane each. */
#include "base/json.h"
#include "base/util.h"
#include "report/phases/phases.h"
#include "report/scan/model.h"
#include "report/show/timeline/timeline_json.h"

#define SPANS_SHOWN 8192 /* of all processes and parts together */
#define SPANS_LEAST 32 /* of each part of each process, in any case */
#define TIMES_SHOWN 8192 /* of the steps of all processes together */
#define TIMES_LEAST 64 /* of each process, in any case */

static const char *const names[STEP_OTHER] = {
	[STEP_FETCH] = "fetch",
	[STEP_COMPUTE] = "compute",
	[STEP_CHECKPOINT] = "checkpoint",
	[STEP_COMM] = "comm",
};

/* Whether a gap of up to CLOSED_NS lies before stretch I. */
static bool is_joined(const struct spans *s, size_t i, uint64_t closed_ns)
{
	return i && s->v[i].begin_ns - s->v[i - 1].end_ns <= closed_ns;
}

/* Returns the shortest gap, 0 or a power of two, that has to be closed for S to have at most MOST stretches. */
static uint64_t gaps_to_close(const struct spans *s, size_t most)
{
	for (uint64_t closed_ns = 0;; closed_ns = closed_ns ? 2 * closed_ns : 1024) {
		size_t n = 0;

		for (size_t i = 0; i < s->n; i++)
			n += !is_joined(s, i, closed_ns);
		if (n <= most || closed_ns > UINT64_MAX / 2)
			return closed_ns;
	}
}

static void part(struct json *json, const struct timeline *timeline, const char *name, const struct spans *spans,
		 uint64_t closed_ns)
{
	json_row(json, name);
	for (size_t i = 0, next; i < spans->n; i = next) {
		const uint64_t begin_ns = MAX(spans->v[i].begin_ns, timeline->begin_ns);

		for (next = i + 1; next < spans->n && is_joined(spans, next, closed_ns); next++)
			;
		if (spans->v[next - 1].end_ns <= begin_ns)
			continue;
		json_array(json, NULL);
		json_u64(json, NULL, begin_ns - timeline->begin_ns);
		json_u64(json, NULL, spans->v[next - 1].end_ns - begin_ns);
		json_end(json);
	}
	json_end(json);
}

/* Puts at most MOST groups of consecutive steps, each with the longest of their times. */
static void times(struct json *json, const struct timeline *timeline, const struct step_times *of, uint32_t most)
{
	uint32_t joined = 1;

	while ((of->n + joined - 1) / joined > most)
		joined *= 2;
	json_row(json, "steps");
	for (uint32_t i = 0; i < of->n; i += joined) {
		const uint32_t next = MIN(i + joined, of->n);
		const uint64_t begin_ns = MAX(of->v[i].begin_ns, timeline->begin_ns), end_ns = of->v[next - 1].end_ns;
		uint64_t longest_ns = 0;

		for (uint32_t k = i; k < next; k++)
			longest_ns = MAX(longest_ns, of->v[k].longest_ns);
		if (end_ns <= begin_ns)
			continue;
		json_array(json, NULL);
		json_u64(json, NULL, begin_ns - timeline->begin_ns);
		json_u64(json, NULL, end_ns - begin_ns);
		json_u64(json, NULL, longest_ns);
		json_end(json);
	}
	json_end(json);
	json_u64(json, "steps_joined", of->each * joined);
}

static void trainer(const struct report *report, struct json *json, const struct step_trainer *of, size_t most,
		    uint32_t most_times)
{
	const struct report_proc *proc = table_find(&report->procs, of->pid);
	const struct timeline *timeline = report->timeline;
	uint64_t closed_ns = 0;

	json_object(json, NULL);
	report_timeline_host(json, timeline);
	json_u64(json, "pid", of->pid);
	json_str(json, "comm", proc ? proc->comm : "");
	json_str(json, "rank", proc && proc->rank[0] ? proc->rank : NULL);
	json_u64(json, "begin_ns", report_timeline_ns(timeline, MAX(of->begin_ns, timeline->begin_ns)));
	json_u64(json, "end_ns", report_timeline_ns(timeline, MAX(of->end_ns, timeline->begin_ns)));
	json_object(json, "spans");
	for (unsigned int i = 0; i < STEP_OTHER; i++) {
		uint64_t these_ns = gaps_to_close(&of->spans[i], most);

		part(json, timeline, names[i], &of->spans[i], these_ns);
		closed_ns = MAX(closed_ns, these_ns);
	}
	json_end(json);
	json_u64(json, "closed_ns", closed_ns);
	times(json, timeline, &of->times, most_times);
	json_end(json);
}

void report_regions_json(const struct report *r, struct json *j)
{
	const struct phase_steps *s = r->phases ? &r->phases->steps : NULL;

	for (uint32_t i = 0; s && i < s->n_trainers; i++)
		trainer(r, j, &s->trainers[i],
			MAX(report_at_most(r, SPANS_SHOWN, 1) / (s->n_trainers * STEP_OTHER), SPANS_LEAST),
			MAX(report_at_most(r, TIMES_SHOWN, 1) / s->n_trainers, TIMES_LEAST));
}
