/* SPDX-License-Identifier: BSD-2-Clause */
/* Spreads of the latencies and sizes of each process's calls on files. Bounded, see below. */
#ifndef REPORT_FILES_SPREADS_H
#define REPORT_FILES_SPREADS_H

#include "report/scan/scan.h"
#include "stats/spread.h"

struct report_part;

#define REPORT_SPREADS_MAX 4096 /* the first processes; 48 MiB when each has all six spreads */

/* "read", "write", "open", "other". */
extern const char *const report_spread_names[REPORT_SPREADS];

/* A pair of columns, latencies and sizes of all calls of a probe; NULL where the trace has none. */
struct report_column {
	const char *probe, *of; /* OF: R or W, a side of the probe, or NULL */
	const struct hist *lat, *size;
};
#define REPORT_COLUMNS_MAX 16
/* Fills COLUMNS; returns how many there are. */
unsigned int report_columns(const struct report *report, struct report_column columns[REPORT_COLUMNS_MAX]);

/* --- what is done for most rows of a trace: here, to be compiled into where they are taken ------------- */

/* Makes an empty spread as *S. Returns it; NULL: no memory. */
struct spread *report_spreads_make(struct spread **s);
/* Whether P, which has no spreads yet, may have them; else the call is counted as left out. */
bool report_spreads_admit(struct report *r, struct report_proc *p);

static inline void report_spreads_add(struct report_proc *p, enum report_spread what, uint64_t value)
{
	struct spread *s = p->spread[what] ? p->spread[what] : report_spreads_make(&p->spread[what]);

	if (s)
		spread_add(s, value);
}

static inline enum report_spread report_spread_of(const struct scan *scan, const struct report_call_facts *facts)
{
	if (facts->rw)
		return facts->write ? REPORT_WRITE_NS : REPORT_READ_NS;
	return scan->kind == REPORT_OPEN ? REPORT_OPEN_NS : REPORT_OTHER_NS;
}

static inline void report_spreads_call(const struct scan *scan, const struct report_call_facts *facts)
{
	if (facts->running || !facts->on_file || (!facts->rw && scan_is(scan, COL_FUNC, "snapshot")))
		return;
	if (!facts->proc->has_spreads && !report_spreads_admit(scan->report, facts->proc))
		return;
	if (!facts->again_side)
		report_spreads_add(facts->proc, report_spread_of(scan, facts), facts->lat_ns);
	if (facts->done)
		report_spreads_add(facts->proc, facts->write ? REPORT_WRITE_BYTES : REPORT_READ_BYTES, facts->bytes);
}

extern const struct report_part report_spreads_part;

#endif
