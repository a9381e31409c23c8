/* SPDX-License-Identifier: BSD-2-Clause */
/* workload.out: rows made by src/drain/logtail.c; nothing in the kernel. */
#include "dlt/workload.h"

#include "trace/probe.h"

static const struct field fields[] = {
	FIELDS_TIME("CLOCK_MONOTONIC when the line was complete, ns", offsetof(struct dlt_workload, hdr.ts_ns)),
	{ "TEXT", "a line of the output; the next row continues one of over 4096 bytes", FIELD_USTR,
	  offsetof(struct dlt_workload, segs) },
};

const struct probe workload_probe = {
	.name = "workload",
	.help = "the workload's output line by line, under --log",
	PROBE_FIELDS(fields),
	.rec_size = sizeof(struct dlt_workload),
	.when = WHEN_LOG,
};
