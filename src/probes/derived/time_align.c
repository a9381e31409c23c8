/* SPDX-License-Identifier: BSD-2-Clause */
/* time_align.out: rows made by the drain (src/drain/drain.c) from src/trace/clock.c's readings; nothing in the kernel.
 */
#include "dlt/time_align.h"

#include "trace/probe.h"

static const struct field_name event_names[] = {
	{ DLT_TIME_START, "start" },   { DLT_TIME_TICK, "tick" }, { DLT_TIME_STEP, "step" },
	{ DLT_TIME_ADJUST, "adjust" }, { DLT_TIME_END, "end" },   { 0, NULL },
};

static const struct field fields[] = {
	{ "TIMESTAMP", "CLOCK_MONOTONIC, ns", FIELD_TS, offsetof(struct dlt_time_align, hdr.ts_ns) },
	{ "TIME", "the same instant in UTC, by the clock map in force", FIELD_UTC,
	  offsetof(struct dlt_time_align, hdr.ts_ns) },
	{ "REALTIME_NS", "CLOCK_REALTIME at that instant, ns since the epoch", FIELD_U64,
	  offsetof(struct dlt_time_align, realtime_ns) },
	{ "BOOTTIME_NS", "CLOCK_BOOTTIME at that instant, ns", FIELD_U64,
	  offsetof(struct dlt_time_align, boottime_ns) },
	{ "ERROR_NS", "uncertainty of the reading, ns", FIELD_U64, offsetof(struct dlt_time_align, error_ns) },
	{ "EVENT", "start, tick (each second), adjust (the offset in force changed), step (the clock was set), end",
	  FIELD_NAME, offsetof(struct dlt_time_align, event), 0, 0, event_names },
};

const struct probe time_align_probe = {
	.name = "time_align",
	.help = "monotonic, real-time and boot-time clocks read together, each second and at every step",
	PROBE_FIELDS(fields),
	.rec_size = sizeof(struct dlt_time_align),
	.flags = PROBE_SELECTABLE | PROBE_REFERENCE | PROBE_WHOLE,
};
