/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds when a line of a job's log was written, in the trace's time: from the time in the line, the writer's zone, and
 * the readings of the wall clock. Knows neither logs nor phases.
 */
#ifndef REPORT_PHASES_CLOCK_H
#define REPORT_PHASES_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "applog/applog.h"
#include "report/phases/wallclock.h"
#include "report/phases/zone.h"
#include "trace/manifest_read.h"

struct phase_clock {
	struct wallclock wall;
	struct zone zone; /* of lines with local time, where HAS_ZONE */
	bool has_zone;
	uint64_t begin_ns, end_ns; /* of the trace; 0: not known */
};

/* Adds a reading of both clocks; readings come in order of MONO_NS. */
void phase_clock_reading(struct phase_clock *c, uint64_t mono_ns, uint64_t real_ns);
/* Takes the host's begin, end and zone from the manifest FACTS. */
void phase_clock_host(struct phase_clock *clock, const struct manifest_facts *facts);
/* Makes NAME the zone. Returns whether this machine knows it; if not, there is none. */
bool phase_clock_zone(struct phase_clock *c, const char *name);
/* To be called when no row has a reading of the wall clock: takes the manifest's reading at the start. */
void phase_clock_guess(struct phase_clock *c, const struct manifest_facts *m);

/*
 * Returns the instant of a line that is in a row of ROW_NS. That is the line's own time, as output may leave a buffer
 * late; but ROW_NS where the line's time is later than the row, or before the trace.
 */
uint64_t phase_clock_in_row(struct phase_clock *c, const struct applog_time *t, uint64_t row_ns);
/*
 * Returns the instant of a line in a file, after a line of LAST_NS; 0: not known. Of several possible instants, it is
 * one within the trace and in order.
 */
uint64_t phase_clock_in_file(struct phase_clock *clock, const struct applog_time *time, uint64_t last_ns);
/* Returns how far AT_NS is outside of the trace, 0 within it. *BEFORE: it is before the trace. */
uint64_t phase_clock_outside(const struct phase_clock *c, uint64_t at_ns, bool *before);

#endif
