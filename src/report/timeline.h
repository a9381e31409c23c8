/* SPDX-License-Identifier: BSD-2-Clause */
/* Adds rows of a trace to the report's timeline, if it has one. */
#ifndef REPORT_TIMELINE_H
#define REPORT_TIMELINE_H

#include "report/scan/scan.h"
#include "stats/timeline.h"

/* Adds the current row of S, of bio.out: a request for the lowest disk NAME. */
void report_timeline_request(const struct scan *s, struct reader_field name, uint64_t bytes, uint64_t queue_ns,
			     uint64_t lat_ns);
/* Reads the values of collectors, and sched.out. */
void report_timeline_files(struct report *r);

struct json;
void report_timeline_json(const struct report *r, struct json *j);
/* Puts the N hosts' timelines as one: their bins are the same. */
void report_timelines_json(const struct report *const *r, unsigned int n, const char *begin_utc, struct json *j);
/*
 * The first returns NS, CLOCK_MONOTONIC; if there are several hosts, the time since the timeline began. The second puts the
 * host's name then.
 */
uint64_t report_timeline_ns(const struct timeline *t, uint64_t ns);
void report_timeline_host(struct json *j, const struct timeline *t);
/* phase_rows.c: puts the phases and gaps of the N hosts, as members of the timeline. */
/* Puts a member of an array for each process that takes steps: the times of its regions. */
void report_regions_json(const struct report *r, struct json *j);
void report_phases_json(const struct report *const *r, unsigned int n, struct json *j);

/* --- for most rows of a trace: inline for that reason --------------------------------------------------- */

/* Adds a row of a probe without bytes. */
void report_timeline_count(struct timeline *t, const struct scan *s);
/* Takes a call on a file other than a read: it may be part of a checkpoint. */
void report_timeline_saved(const struct scan *s, const struct report_call_facts *c);

/* Programs map their libraries and read their sources before they read data. */
static inline void report_timeline_data(struct timeline *t, uint32_t bin, uint64_t at_ns, uint64_t bytes)
{
	t->data[bin] += bytes;
	t->data_ns = t->data_ns && t->data_ns < at_ns ? t->data_ns : at_ns;
}

static inline struct timeline_lane *report_timeline_lane(const struct scan *s, const struct report_call_facts *c)
{
	struct report *r = s->report;

	if (c->proc == &r->other_proc)
		return timeline_lane(r->timeline, c->pid);
	if (!c->proc->lane)
		c->proc->lane = timeline_lane(r->timeline, c->pid);
	return c->proc->lane;
}

/* Adds the current row of S, a call that has ended. */
static inline void report_timeline_call(const struct scan *s, const struct report_call_facts *c)
{
	struct timeline *t = s->report->timeline;
	const uint64_t lat_ns = c->again ? 0 : c->lat_ns; /* another row has counted the time */
	enum timeline_busy busy = TIMELINE_B_OTHER;
	uint32_t bin;

	if (!t || !timeline_has(t, s->time_ns))
		return;
	if (!c->rw) {
		if (scan_is(s, COL_FUNC, "snapshot"))
			return;
		report_timeline_count(t, s);
	}
	if (!c->on_file)
		return;
	bin = timeline_bin(t, s->time_ns);
	if ((c->rw ? c->write : s->kind != REPORT_MMAP) && c->file && !c->failed && s->report->saves) {
		const struct report_call_facts copy = *c;

		report_timeline_saved(s, &copy);
	}
	if (c->file && c->file->data && !c->write && (c->rw || s->kind == REPORT_MMAP))
		report_timeline_data(t, bin, s->time_ns, c->rw ? c->bytes : 0);
	if (c->rw) {
		busy = c->write ? TIMELINE_B_WRITE : TIMELINE_B_READ;
		timeline_transfer(t, c->write, bin, c->bytes, lat_ns);
	} else if (s->kind == REPORT_OPEN) {
		busy = TIMELINE_B_OPEN;
		timeline_latency(t, TIMELINE_H_OPEN, bin, lat_ns);
	}
	timeline_lane_busy(t, report_timeline_lane(s, c), busy, bin, s->time_ns, lat_ns, lat_ns);
}

#endif
