/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The times that --from, --to and --phase select: for each host a sorted list of intervals of its CLOCK_MONOTONIC,
 * which do not touch. An interval includes its begin, but not its end. The options count from when the first host began
 * to trace.
 */
#ifndef EXPORT_TIMES_H
#define EXPORT_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/moment.h"

struct times_options {
	const char *phase; /* a phase of the job, or all phases of a name or kind; NULL: all times */
	struct moment from, to; /* since the first host began; not given: all from the begin, all to the end */
};

struct time_span {
	uint64_t begin_ns, end_ns;
};

struct host_times {
	struct time_span *v;
	unsigned int n;
};

struct export_times {
	struct host_times *host; /* NULL: all times */
	unsigned int n_hosts;
};

/*
 * Sets T from OPTIONS for the N folders DIRS. Returns 0, or -errno after a message: -ENODATA if no folder has such a
 * phase, or it is not known when a folder's trace began; -ERANGE if no folder has such a time.
 */
int times_init(struct export_times *times, const struct times_options *options, char *const *dirs, unsigned int n);
void times_free(struct export_times *t);
/* Logs that the N folders DIRS have no such time. */
void times_log_none(char *const *dirs, unsigned int n);

/* Whether rows of the file NAME are selected by time. Of files to which others refer (PROBE_WHOLE) all stay. */
bool times_cut(const struct export_times *t, const char *name);
/* Whether NS is in the selected times of host I. */
bool times_have(const struct export_times *t, unsigned int i, uint64_t ns);
/* Whether a moment from BEGIN_NS to END_NS, both included, is in the selected times of host I. */
bool times_overlap(const struct export_times *t, unsigned int i, uint64_t begin_ns, uint64_t end_ns);

/* Sorts the N intervals SPAN, joins those that touch, and removes empty ones. Returns how many are left. */
unsigned int times_join(struct time_span *span, unsigned int n);

#endif
