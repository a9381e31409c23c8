/* SPDX-License-Identifier: BSD-2-Clause */
/* The processes of a timeline: when each was busy, with what, and its longest calls. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/util.h"
#include "report/scan/model.h"
#include "report/show/timeline/timeline_json.h"
#include "report/why/why.h"
#include "stats/timeline.h"

#define LANE_LEAST 0.0005 /* of a bin: less is not visible */

static int busier(const void *a, const void *b)
{
	const struct timeline_lane *x = *(void *const *)a, *y = *(void *const *)b;

	if (x->total_ns < y->total_ns)
		return 1;
	if (x->total_ns > y->total_ns)
		return -1;
	return x->pid < y->pid ? -1 : 1;
}

static int earlier(const void *a, const void *b)
{
	const struct timeline_span *x = a, *y = b;

	return x->from_ns != y->from_ns ? (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns) :
					  (x->ns > y->ns) - (x->ns < y->ns);
}

/* Puts the longest calls, each from begin to end. */
static void longest(struct json *json, const struct timeline_lane *lane, const char *const names[TIMELINE_BUSY],
		    uint32_t most)
{
	struct timeline_span spans[TIMELINE_LONGEST];
	uint32_t n = MIN(lane->n_longest, most);

	memcpy(spans, lane->longest, n * sizeof(spans[0]));
	qsort(spans, n, sizeof(spans[0]), earlier);
	json_object(json, "longest");
	for (enum timeline_busy b = 0; b < TIMELINE_B_CPU; b++) {
		json_row(json, names[b]);
		for (uint32_t i = 0; i < n; i++) {
			if (spans[i].what != b)
				continue;
			json_array(json, NULL);
			json_u64(json, NULL, spans[i].from_ns);
			json_u64(json, NULL, spans[i].ns);
			json_end(json);
		}
		json_end(json);
	}
	json_end(json);
}

/*
 * Returns when the process of LANE ended, whose first thread may end before the others. One without an end in the trace
 * has the trace's.
 */
static uint64_t end_of(const struct timeline *timeline, const struct timeline_lane *lane,
		       const struct report_proc *proc)
{
	if (proc && proc->end_ns)
		return MAX(proc->end_ns, lane->end_ns);
	if (!proc || !proc->begin_ns)
		return lane->end_ns;
	return timeline->host ? timeline->host_end_ns : timeline->end_ns;
}

static void lane(const struct report *report, struct json *json, const struct timeline_lane *timeline_lane)
{
	static const char *const names[TIMELINE_BUSY] = {
		[TIMELINE_B_READ] = "read",   [TIMELINE_B_WRITE] = "write", [TIMELINE_B_OPEN] = "open",
		[TIMELINE_B_FAULT] = "fault", [TIMELINE_B_OTHER] = "other", [TIMELINE_B_CPU] = "cpu",
	};
	const struct report_proc *proc = table_find(&report->procs, timeline_lane->pid);
	const struct timeline *timeline = report->timeline;
	double bin_ns = (double)(timeline->bin_ns * TIMELINE_LANE_FOLD);

	json_object(json, NULL);
	report_timeline_host(json, timeline);
	json_u64(json, "pid", timeline_lane->pid);
	json_u64(json, "ppid", proc ? proc->ppid : 0);
	json_str(json, "comm", proc ? proc->comm : "");
	json_str(json, "rank", proc && proc->rank[0] ? proc->rank : NULL);
	json_str(json, "group", why_role_name(report, proc));
	json_u64(json, "begin_ns",
		 report_timeline_ns(timeline, MAX(proc && proc->begin_ns ? proc->begin_ns : timeline_lane->begin_ns,
						  timeline->begin_ns)));
	json_u64(json, "end_ns", report_timeline_ns(timeline, end_of(timeline, timeline_lane, proc)));
	json_object(json, "busy");
	for (unsigned int b = 0; b < TIMELINE_BUSY; b++) {
		json_row(json, names[b]);
		for (uint32_t i = 0; i < TIMELINE_LANE_BINS; i++) {
			double share = (double)timeline_lane->busy_ns[b][i] / bin_ns;

			if (share < LANE_LEAST)
				continue;
			json_array(json, NULL);
			json_u64(json, NULL, i);
			json_f64(json, NULL, (double)(uint64_t)(share * 10000 + 0.5) / 10000);
			json_end(json);
		}
		json_end(json);
	}
	json_end(json);
	longest(json, timeline_lane, names, report_at_most(report, TIMELINE_LONGEST, 1));
	json_end(json);
}

uint64_t report_lanes_json(const struct report *report, struct json *json, uint32_t most)
{
	const struct timeline *timeline = report->timeline;
	struct timeline_lane **by_time = calloc(timeline->lanes.n + 1, sizeof(void *));
	uint32_t n = 0, all;

	for (uint32_t i = 0; by_time && i < timeline->lanes.n; i++) {
		by_time[n] = *(void **)table_at(&timeline->lanes, i);
		n += by_time[n] != NULL;
	}
	if (n)
		qsort(by_time, n, sizeof(void *), busier);
	for (uint32_t i = 0; i < MIN(n, most); i++)
		lane(report, json, by_time[i]);
	free(by_time);
	/* of processes beyond the table, those with calls are counted */
	if (timeline->lanes_left_out)
		all = MAX(n, report->n_procs);
	else
		all = n;
	return all - MIN(n, most);
}
