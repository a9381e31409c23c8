/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time zones: converts the local time of a log, which names no zone, to UTC. Uses the C library and its database of
 * zones, through the environment variable TZ: so it is not for processes with several threads.
 */
#ifndef REPORT_PHASES_ZONE_H
#define REPORT_PHASES_ZONE_H

#include <stdbool.h>
#include <stdint.h>

#define ZONE_NAME_MAX 64

struct zone {
	char name[ZONE_NAME_MAX]; /* "": the offset is always OFFSET_S */
	int32_t offset_s; /* east of UTC */
	int64_t cached; /* 1 + the quarter of an hour whose offset is OFFSET_S; 0: none yet */
};

/*
 * Parses UTC, Z, +02:00, -0530, a name such as Europe/Berlin, which this machine must know, or a rule such as
 * CET-1CEST,M3.5.0,M10.5.0/3. False: TEXT is none of these.
 */
bool zone_parse(struct zone *z, const char *text);

/* Returns the seconds east of UTC at UTC_S. */
int32_t zone_offset_s(struct zone *z, int64_t utc_s);

/*
 * Puts the instants of LOCAL_S by the wall clock into RET, in s since 1970-01-01 00:00 UTC. Returns how many: 2 in an
 * hour that is repeated when the clock is set back. A skipped time counts as if the clock had not been set yet.
 */
unsigned int zone_utc(struct zone *zone, int64_t local_s, int64_t ret[2]);

#endif
