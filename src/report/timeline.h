/* SPDX-License-Identifier: BSD-2-Clause */
/* Adds rows of a trace to the report's timeline, if it has one. */
#ifndef REPORT_TIMELINE_H
#define REPORT_TIMELINE_H

#include "report/scan/scan.h"
#include "stats/timeline.h"

/* Adds the current row of SCAN, of bio.out: a request for the lowest disk NAME. */
void report_timeline_request(const struct scan *scan, struct reader_field name, uint64_t bytes, uint64_t queue_ns,
			     uint64_t lat_ns);
/* Reads the values of collectors, and sched.out. */
void report_timeline_files(struct report *r);

/* --- for most rows of a trace: inline for that reason --------------------------------------------------- */

/* Adds a row of a probe without bytes. */
void report_timeline_count(struct timeline *timeline, const struct scan *scan);
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

/* Adds the current row of SCAN, a call that has ended. */
static inline void report_timeline_call(const struct scan *scan, const struct report_call_facts *facts)
{
	struct timeline *timeline = scan->report->timeline;
	const uint64_t lat_ns = facts->again ? 0 : facts->lat_ns; /* another row has counted the time */
	enum timeline_busy busy = TIMELINE_B_OTHER;
	uint32_t bin;

	if (!timeline || !timeline_has(timeline, scan->time_ns))
		return;
	if (!facts->rw) {
		if (scan_is(scan, COL_FUNC, "snapshot"))
			return;
		report_timeline_count(timeline, scan);
	}
	if (!facts->on_file)
		return;
	bin = timeline_bin(timeline, scan->time_ns);
	if ((facts->rw ? facts->write : scan->kind != REPORT_MMAP) && facts->file && !facts->failed &&
	    scan->report->saves) {
		const struct report_call_facts copy = *facts;

		report_timeline_saved(scan, &copy);
	}
	if (facts->file && facts->file->data && !facts->write && (facts->rw || scan->kind == REPORT_MMAP))
		report_timeline_data(timeline, bin, scan->time_ns, facts->rw ? facts->bytes : 0);
	if (facts->rw) {
		busy = facts->write ? TIMELINE_B_WRITE : TIMELINE_B_READ;
		timeline_transfer(timeline, facts->write, bin, facts->bytes, lat_ns);
		timeline_event(timeline, facts->write ? TIMELINE_H_WRITE : TIMELINE_H_READ, bin, scan->time_ns, lat_ns,
			       facts->pid);
	} else if (scan->kind == REPORT_OPEN) {
		busy = TIMELINE_B_OPEN;
		timeline_latency(timeline, TIMELINE_H_OPEN, bin, lat_ns);
		timeline_event(timeline, TIMELINE_H_OPEN, bin, scan->time_ns, lat_ns, facts->pid);
	}
	timeline_lane_busy(timeline, report_timeline_lane(scan, facts), busy, bin, scan->time_ns, lat_ns, lat_ns);
}

#endif
