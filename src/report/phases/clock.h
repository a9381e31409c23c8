/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When a line of a job's log was written, in the trace's time: by the time in the line, the zone of who wrote it, and
 * what the wall clock was set to. Knows neither logs nor phases.
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
	struct zone zone; /* of lines that tell local time, where HAS_ZONE */
	bool has_zone;
	uint64_t begin_ns, end_ns; /* of the trace; 0: not known */
};

/* Both clocks, read together; in order of MONO_NS. */
void phase_clock_reading(struct phase_clock *c, uint64_t mono_ns, uint64_t real_ns);
/* Begin, end and zone of the host as the manifest M has them. */
void phase_clock_host(struct phase_clock *c, const struct manifest_facts *m);
/* The zone is NAME. Whether this machine knows it; if not, there is none. */
bool phase_clock_zone(struct phase_clock *c, const char *name);
/* No row has told of the wall clock: it is what M says that it was at the start. */
void phase_clock_guess(struct phase_clock *c, const struct manifest_facts *m);

/*
 * Of a line that a row of ROW_NS tells of: the job's own time, since its output may come late out of a buffer. It
 * counts for nothing when it is later than the row or before the trace.
 */
uint64_t phase_clock_in_row(struct phase_clock *c, const struct applog_time *t, uint64_t row_ns);
/* Of a line of a file, behind one of LAST_NS: of several instants that in the trace which goes on. 0: not known. */
uint64_t phase_clock_in_file(struct phase_clock *c, const struct applog_time *t, uint64_t last_ns);
/* By how far AT_NS is outside of the trace; 0: it is not. *BEFORE: before it. */
uint64_t phase_clock_outside(const struct phase_clock *c, uint64_t at_ns, bool *before);

#endif
