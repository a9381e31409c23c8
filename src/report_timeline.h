/* SPDX-License-Identifier: BSD-2-Clause */
/* What the rows of a trace add to the report's timeline. Nothing where the report has none. */
#ifndef REPORT_TIMELINE_H
#define REPORT_TIMELINE_H

#include "report_scan.h"
#include "timeline.h"

/* The present row of S, of a call that has ended. */
void report_timeline_call(const struct scan *s, const struct report_call_facts *c);
/* The present row of S, of bio.out: a request for the lowest disk NAME. */
void report_timeline_request(const struct scan *s, struct reader_field name, uint64_t bytes, uint64_t queue_ns,
			     uint64_t lat_ns);
/* What the collectors measured, and sched.out: read here, from the folder DIRFD. */
void report_timeline_files(struct report *r, int dirfd);

struct json;
void report_timeline_json(const struct report *r, struct json *j);
/* The N hosts' as one: their bins are the same. */
void report_timelines_json(const struct report *const *r, unsigned int n, const char *begin_utc, struct json *j);
/* NS of CLOCK_MONOTONIC as it is told; the host, where there are several. */
uint64_t report_timeline_ns(const struct timeline *t, uint64_t ns);
void report_timeline_host(struct json *j, const struct timeline *t);
/* report_phases.c: the phases and gaps of the N hosts, as members of the timeline; a section of the text. */
void report_phases_json(const struct report *const *r, unsigned int n, struct json *j);
void report_phases_text(const struct report *r, FILE *out);

#endif
