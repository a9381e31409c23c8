/* SPDX-License-Identifier: BSD-2-Clause */
/* The part of a trace that is looked at: rows of some time, of all files but those to which others refer (PROBE_WHOLE).
 */
#ifndef TRACE_WINDOW_H
#define TRACE_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

struct reader;

/* CLOCK_MONOTONIC, from BEGIN_NS on and before END_NS. All zero: the whole trace. */
struct window {
	uint64_t begin_ns, end_ns;
};

/*
 * Whether rows of other files refer to any row of NAME.out: those that are PROBE_WHOLE, which the report, without the
 * probes, cannot ask.
 */
bool window_keeps_whole(const char *name);
/* Has R, which has just been opened, deliver the rows of W alone. */
void window_read(const struct window *w, struct reader *r);

#endif
