/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time zones: from the wall clock of a log, which names none, to UTC. By the C library and its data base
 * of zones, which is asked by the environment variable TZ: not for processes with several threads.
 */
#ifndef REPORT_PHASES_ZONE_H
#define REPORT_PHASES_ZONE_H

#include <stdbool.h>
#include <stdint.h>

#define ZONE_NAME_MAX 64

struct zone {
	char name[ZONE_NAME_MAX]; /* empty: it is OFFSET_S always */
	int32_t offset_s;	  /* east of UTC */
	int64_t cached; /* 1 + the quarter of an hour whose offset is OFFSET_S; 0: none yet */
};

/*
 * TEXT as UTC, Z, +02:00, -0530, a name such as Europe/Berlin, which this machine must know, or a rule such as
 * CET-1CEST,M3.5.0,M10.5.0/3. False: it is none of these.
 */
bool zone_parse(struct zone *z, const char *text);

/* Seconds east of UTC at UTC_S. */
int32_t zone_offset_s(struct zone *z, int64_t utc_s);

/*
 * When it was LOCAL_S by the wall clock, both counted from 1970-01-01 00:00: how many instants, 1 or 2 when
 * the clock was set back meanwhile. One that was left out is as if the clock had not been set yet.
 */
unsigned int zone_utc(struct zone *z, int64_t local_s, int64_t ret[2]);

#endif
