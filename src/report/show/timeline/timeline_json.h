/* SPDX-License-Identifier: BSD-2-Clause */
/* The timeline of a report, of one host or several, as JSON: docs/report-json.md has the names. */
#ifndef REPORT_SHOW_TIMELINE_TIMELINE_JSON_H
#define REPORT_SHOW_TIMELINE_TIMELINE_JSON_H

#include <stdint.h>

struct json;
struct report;
struct timeline;

/* Puts the timeline of REPORT as a member, where it has one. */
void report_timeline_json(const struct report *report, struct json *json);
/* Puts the N hosts' timelines as one: their bins are the same. */
void report_timelines_json(const struct report *const *r, unsigned int n, const char *begin_utc, struct json *json);

/* --- members: a file each -------------------------------------------------------------------------------- */

/*
 * The first returns NS, CLOCK_MONOTONIC; if there are several hosts, the time since the timeline began. The second puts
 * the host's name then.
 */
uint64_t report_timeline_ns(const struct timeline *t, uint64_t ns);
void report_timeline_host(struct json *j, const struct timeline *t);
/* Puts the MOST busiest processes as values of an array. Returns how many there are beyond these. */
uint64_t report_lanes_json(const struct report *report, struct json *json, uint32_t most);
/* Puts the map of memory as a value of an array, where REPORT has one. */
void report_memory_json(const struct report *report, struct json *json);
/* Puts the phases and gaps of the N hosts, as members of the timeline. */
void report_phases_json(const struct report *const *r, unsigned int n, struct json *json);
/* Puts a member of an array for each process that takes steps: the times of its regions. */
void report_regions_json(const struct report *r, struct json *j);

#endif
